#include "kube/pool.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xmalloc.h"

struct pool_limiter {
	const struct clock *clock;
	double qps, burst;
	pthread_mutex_t lock; /* guards tokens and filled_at */
	double tokens;
	int64_t filled_at;
};

struct pool_limiter *pool_limiter_create(double qps, unsigned burst, const struct clock *clock)
{
	struct pool_limiter *l = xmalloc_zero(1, sizeof(*l));

	l->clock = clock;
	l->qps = qps;
	/* With room for no token nothing could ever be sent. */
	l->burst = burst == 0 ? 1 : burst;
	l->tokens = l->burst;
	l->filled_at = clock_mono(clock);
	pthread_mutex_init(&l->lock, NULL);
	return l;
}

void pool_limiter_destroy(struct pool_limiter *l)
{
	if (l != NULL) {
		pthread_mutex_destroy(&l->lock);
		free(l);
	}
}

/* Tokens are computed when they are asked for, so that no timer has to add them. They are
 * fractions: a caller that asks often loses none to rounding. */
static void fill(struct pool_limiter *l, int64_t now)
{
	double earned = (double)(now - l->filled_at) / (double)CLOCK_NS_PER_S * l->qps;

	l->tokens = fmin(l->burst, l->tokens + earned);
	l->filled_at = now;
}

int64_t pool_limiter_take(struct pool_limiter *l)
{
	int64_t wait = 0;

	if (l == NULL || l->qps <= 0) {
		return 0;
	}
	pthread_mutex_lock(&l->lock);
	fill(l, clock_mono(l->clock));
	/* Waits are rounded to nanoseconds, so a token may be short by a rounding error. */
	if (l->tokens >= 1 - 1e-6) {
		l->tokens -= 1;
	} else {
		wait = (int64_t)ceil((1 - l->tokens) / l->qps * (double)CLOCK_NS_PER_S);
	}
	pthread_mutex_unlock(&l->lock);
	return wait;
}

void pool_limiter_give_back(struct pool_limiter *l)
{
	if (l == NULL || l->qps <= 0) {
		return;
	}
	pthread_mutex_lock(&l->lock);
	l->tokens = fmin(l->burst, l->tokens + 1);
	pthread_mutex_unlock(&l->lock);
}
