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

/* The largest request: what is larger is counted as this. */
#define AMOUNT_REQUEST_MAX (QUOTA_UNLIMITED - 1)

/* The part of a request that `available` does not cover. A request that is too large to be counted
 * stays so: the rest of it is not known. Never UNLIMITED. */
static inline int64_t amount_short(int64_t asked, int64_t available)
{
	int64_t rest = amount_sub(asked, available);

	return rest == QUOTA_UNLIMITED || (asked == AMOUNT_REQUEST_MAX && rest > 0)
		       ? AMOUNT_REQUEST_MAX
		       : rest;
}

int64_t amount_mul(int64_t a,
		   int64_t times); /* a request: clamps to AMOUNT_REQUEST_MAX, never UNLIMITED */

#endif
