/* common/base/rng.h: deterministic random numbers (xoshiro256**) from a seed. Owner: one thread. */
#ifndef COMMON_BASE_RNG_H
#define COMMON_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound); /* uniform in [0, bound); bound > 0 */
double rng_unit(struct rng *r);                    /* [0, 1) */
uint64_t rng_entropy(void);                        /* a seed from the kernel */
void rng_uuid(struct rng *r, char out[37]);        /* version 4 text form */

#endif
