/* scheduler/workloads/forest/amount.h: arithmetic of quota amounts. Saturates; QUOTA_UNLIMITED
 * absorbs: UNLIMITED + x = UNLIMITED, UNLIMITED - bounded = UNLIMITED, UNLIMITED - UNLIMITED = 0,
 * bounded - UNLIMITED = INT64_MIN. Source: Kueue, resources.Amount. Any thread. */
#ifndef SCHEDULER_WORKLOADS_FOREST_AMOUNT_H
#define SCHEDULER_WORKLOADS_FOREST_AMOUNT_H

#include "base/saturating.h"
#include "scheduler/workloads/model/quota_model.h"

/* Inline: the sums over trees call them for every node and pair. */
static inline int64_t amount_add(int64_t a, int64_t b)
{
	if (a == QUOTA_UNLIMITED || b == QUOTA_UNLIMITED) {
		return QUOTA_UNLIMITED;
	}
	return saturating_add(a, b);
}

static inline int64_t amount_sub(int64_t a, int64_t b)
{
	if (a == QUOTA_UNLIMITED) {
		return b == QUOTA_UNLIMITED ? 0 : QUOTA_UNLIMITED;
	}
	if (b == QUOTA_UNLIMITED) {
		return INT64_MIN;
	}
	return saturating_sub(a, b);
}

int64_t amount_mul(int64_t a,
		   int64_t times); /* a request: clamps to INT64_MAX - 1, never UNLIMITED */

#endif
