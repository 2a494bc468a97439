/* common/base/mix.h: one step of a fingerprint of 64-bit words. Equal words in equal order give
 * equal fingerprints, in every process. Collisions can be constructed; for keys from outside use
 * collections/hash.h. Any thread. */
#ifndef COMMON_BASE_MIX_H
#define COMMON_BASE_MIX_H

#include <stdint.h>

/* The fingerprint h, continued with value. Start with any constant. */
static inline uint64_t mix(uint64_t h, uint64_t value)
{
	h ^= value + UINT64_C(0x9e3779b97f4a7c15) + (h << 6) + (h >> 2);
	h *= UINT64_C(0xff51afd7ed558ccd);
	return h ^ (h >> 33);
}

#endif
