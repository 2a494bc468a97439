/* scheduler/app/quota_deferred.h: why Workloads wait, as cycles found out, until it is written to
 * their statuses. Each such write is one that the API server could spend on an admission, and most
 * workloads that wait are admitted, or wait for something else, a moment later: an explanation is
 * written when it is QUOTA_DEFERRED_AFTER_NS old, and so many in a second at most, in the order in
 * which they came; only the latest of a Workload. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_DEFERRED_H
#define SCHEDULER_APP_QUOTA_DEFERRED_H

#include <stdbool.h>
#include <stdint.h>

#include "quota/quota_cycle.h"

#define QUOTA_DEFERRED_AFTER_NS INT64_C(200000000)
#define QUOTA_DEFERRED_PER_S 10 /* for long; QUOTA_DEFERRED_BURST at once */
#define QUOTA_DEFERRED_BURST 100
#define QUOTA_DEFERRED_BUSY_PER_S 1 /* while other writes wait */

struct quota_deferred;

struct quota_deferred *quota_deferred_create(void);
void quota_deferred_destroy(struct quota_deferred *x); /* NULL is fine */
/* What a cycle (or who put the Workload where it waits) says; copied. now: monotonic ns. */
void quota_deferred_put(struct quota_deferred *x, const struct workload *w,
			const struct quota_decision *d, int64_t now);
/* It waits no more. */
void quota_deferred_drop(struct quota_deferred *x, const struct workload *w);
/* The next one that may be written now; its message lives until the next call. False: none.
 * busy: other writes wait. */
bool quota_deferred_next(struct quota_deferred *x, const struct quota *q, bool busy, int64_t now,
			 struct quota_decision *ret);
/* When quota_deferred_next is to be asked again; CLOCK_NEVER: nothing waits. */
int64_t quota_deferred_due(const struct quota_deferred *x, bool busy);

#endif
