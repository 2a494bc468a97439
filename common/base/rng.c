#include "base/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/* splitmix64 spreads the seed, as the authors of xoshiro recommend. */
void rng_init(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		r->s[i] = z ^ (z >> 31);
	}
}

/* xoshiro256**. */
uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	/* Rejects the lowest 2^64 mod bound values; the remaining range is a multiple of bound. */
	uint64_t reject = (0 - bound) % bound;
	uint64_t n;

	do {
		n = rng_next(r);
	} while (n < reject);
	return n % bound;
}

double rng_unit(struct rng *r)
{
	/* 53 bits, as many as a double holds, so that the result stays below 1. */
	return (double)(rng_next(r) >> 11) * 0x1.0p-53;
}

uint64_t rng_entropy(void)
{
	uint64_t seed;
	ssize_t n;

	do {
		n = getrandom(&seed, sizeof(seed), 0);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(seed)) {
		abort();
	}
	return seed;
}

/* Version 4, variant 1 (RFC 9562). */
void rng_uuid(struct rng *r, char out[37])
{
	uint64_t a = rng_next(r);
	uint64_t b = rng_next(r);

	snprintf(out, 37, "%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32),
		 (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff,
		 ((unsigned)(b >> 48) & 0x3fff) | 0x8000,
		 (unsigned long long)(b & UINT64_C(0xffffffffffff)));
}
