/* scheduler/workloads/engine/deferred_reasons.h: why Workloads wait, as cycles found out, until it
 * is written to their statuses. Each such write is one that the API server could spend on an
 * admission, and most workloads that wait are admitted, or wait for something else, a moment later:
 * an explanation is written when it is DEFERRED_REASONS_AFTER_NS old, and so many in a second at
 * most, in the order in which they came; only the latest of a Workload. Owner: the sched thread. */
#ifndef SCHEDULER_WORKLOADS_ENGINE_DEFERRED_REASONS_H
#define SCHEDULER_WORKLOADS_ENGINE_DEFERRED_REASONS_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/workloads/cycle/admission_cycle.h"

#define DEFERRED_REASONS_AFTER_NS INT64_C(200000000)
#define DEFERRED_REASONS_PER_S 10 /* for long; DEFERRED_REASONS_BURST at once */
#define DEFERRED_REASONS_BURST 100
#define DEFERRED_REASONS_BUSY_PER_S 1 /* while other writes wait */

struct deferred_reasons;

struct deferred_reasons *deferred_reasons_create(void);
void deferred_reasons_destroy(struct deferred_reasons *x); /* NULL is fine */
/* Why a Workload waits, as a cycle decided, or why no cycle looked at it; copied. now: monotonic
 * ns. */
void deferred_reasons_put(struct deferred_reasons *x, const struct admission_decision *d,
			  int64_t now);
/* The Workload waits no more, or is gone: its id may be given again. */
void deferred_reasons_drop(struct deferred_reasons *x, uint32_t workload);
/* The next one that may be written now; its message lives until the next call. False: none.
 * busy: other writes wait. */
bool deferred_reasons_next(struct deferred_reasons *x, bool busy, int64_t now,
			   struct admission_decision *ret);
/* When deferred_reasons_next is to be asked again; CLOCK_NEVER: nothing waits. */
int64_t deferred_reasons_due(const struct deferred_reasons *x, bool busy);

#endif
