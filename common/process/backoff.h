/* common/process/backoff.h: exponential delay with jitter. Owner: one thread. Nanoseconds.
 * Delay n (from 0) is min(max, min * 2^n), then spread by +-jitter (0..1) with the caller's rng. */
#ifndef COMMON_PROCESS_BACKOFF_H
#define COMMON_PROCESS_BACKOFF_H

#include <stdint.h>

struct rng;
struct backoff {
	int64_t min_ns, max_ns;
	double jitter;
	unsigned failures;
};

void backoff_init(struct backoff *b, int64_t min_ns, int64_t max_ns, double jitter);
int64_t backoff_next(struct backoff *b,
		     struct rng *rng); /* counts one failure, returns the delay */
void backoff_reset(struct backoff *b);

#endif
