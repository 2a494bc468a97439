#include "process/backoff.h"

#include <assert.h>

#include "base/rng.h"

void backoff_init(struct backoff *b, int64_t min_ns, int64_t max_ns, double jitter)
{
	assert(min_ns >= 0 && max_ns >= min_ns && jitter >= 0 && jitter <= 1);
	*b = (struct backoff){ .min_ns = min_ns, .max_ns = max_ns, .jitter = jitter };
}

int64_t backoff_next(struct backoff *b, struct rng *rng)
{
	int64_t delay = b->min_ns;
	double spread;

	/* Ends at max_ns, so that the number of failures does not matter, nor does an overflow
	 * threaten. */
	for (unsigned i = 0; i < b->failures && delay > 0 && delay < b->max_ns; i++) {
		delay = delay > b->max_ns / 2 ? b->max_ns : delay * 2;
	}
	b->failures += b->failures < UINT32_MAX ? 1 : 0;
	if (b->jitter <= 0) {
		return delay;
	}
	/* After the cap: at the cap, too, what has failed together does not come back together. */
	spread = (double)delay * b->jitter * (2 * rng_unit(rng) - 1);
	if (spread >= (double)(INT64_MAX - delay)) {
		return INT64_MAX;
	}
	return delay + (int64_t)spread;
}

void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}
