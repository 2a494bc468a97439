/* scheduler/workloads/forest/amount.h: arithmetic of quota amounts. Saturates; QUOTA_UNLIMITED
 * absorbs: UNLIMITED + x = UNLIMITED, UNLIMITED - bounded = UNLIMITED, UNLIMITED - UNLIMITED = 0,
 * bounded - UNLIMITED = INT64_MIN. Source: Kueue, resources.Amount. Any thread. */
#ifndef SCHEDULER_WORKLOADS_FOREST_AMOUNT_H
#define SCHEDULER_WORKLOADS_FOREST_AMOUNT_H

#include "scheduler/workloads/model/quota.h"

/* Inline: sums over trees are made of them. */
static inline int64_t amount_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (a == QUOTA_UNLIMITED || b == QUOTA_UNLIMITED) {
		return QUOTA_UNLIMITED;
	}
	if (__builtin_add_overflow(a, b, &sum)) {
		return a > 0 ? QUOTA_UNLIMITED : INT64_MIN;
	}
	return sum;
}

static inline int64_t amount_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (a == QUOTA_UNLIMITED) {
		return b == QUOTA_UNLIMITED ? 0 : QUOTA_UNLIMITED;
	}
	if (b == QUOTA_UNLIMITED) {
		return INT64_MIN;
	}
	if (__builtin_sub_overflow(a, b, &difference)) {
		return b < 0 ? QUOTA_UNLIMITED : INT64_MIN;
	}
	return difference;
}

int64_t amount_mul(int64_t a,
		   int64_t times); /* a request: clamps to INT64_MAX - 1, never UNLIMITED */

#endif
