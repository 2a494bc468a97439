/* scheduler/quota/amount.h: arithmetic of quota amounts. Saturates; QUOTA_UNLIMITED absorbs:
 * UNLIMITED + x = UNLIMITED, UNLIMITED - bounded = UNLIMITED, UNLIMITED - UNLIMITED = 0,
 * bounded - UNLIMITED = INT64_MIN. Source: Kueue, resources.Amount. Any thread. */
#ifndef SCHEDULER_QUOTA_AMOUNT_H
#define SCHEDULER_QUOTA_AMOUNT_H

#include <stdint.h>

int64_t amount_add(int64_t a, int64_t b);
int64_t amount_sub(int64_t a, int64_t b);
int64_t amount_mul(int64_t a,
		   int64_t times); /* a request: clamps to INT64_MAX - 1, never UNLIMITED */

#endif
