/* common/collections/bitset.h: fixed-size bit set over caller's memory (uint64_t words). Any
 * thread. */
#ifndef COMMON_COLLECTIONS_BITSET_H
#define COMMON_COLLECTIONS_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITSET_WORDS(bits) (((bits) + 63) / 64)

static inline bool bitset_has(const uint64_t *w, size_t i)
{
	return (w[i >> 6] >> (i & 63)) & 1;
}

static inline void bitset_set(uint64_t *w, size_t i)
{
	w[i >> 6] |= (uint64_t)1 << (i & 63);
}

static inline void bitset_clear(uint64_t *w, size_t i)
{
	w[i >> 6] &= ~((uint64_t)1 << (i & 63));
}

#endif
