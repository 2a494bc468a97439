/* scheduler/app/quota_explain.h: why Workloads wait, as cycles found out, until it is written to
 * their statuses. Each such write is one that the API server could spend on an admission, and most
 * workloads that wait are admitted, or wait for something else, a moment later: an explanation is
 * written when it is QUOTA_EXPLAIN_AFTER_NS old, and so many in a second at most, in the order in
 * which they came; only the latest of a Workload. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_EXPLAIN_H
#define SCHEDULER_APP_QUOTA_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "quota/quota_cycle.h"

#define QUOTA_EXPLAIN_AFTER_NS INT64_C(200000000)
#define QUOTA_EXPLAIN_PER_S 10 /* for long; QUOTA_EXPLAIN_BURST at once */
#define QUOTA_EXPLAIN_BURST 100
#define QUOTA_EXPLAIN_BUSY_PER_S 1 /* while other writes wait */

struct quota_explain;

struct quota_explain *quota_explain_create(void);
void quota_explain_destroy(struct quota_explain *x); /* NULL is fine */
/* What a cycle (or who put the Workload where it waits) says; copied. now: monotonic ns. */
void quota_explain_put(struct quota_explain *x, const struct workload *w,
		       const struct quota_decision *d, int64_t now);
/* It waits no more. */
void quota_explain_drop(struct quota_explain *x, const struct workload *w);
/* The next one that may be written now; its message lives until the next call. False: none.
 * busy: other writes wait. */
bool quota_explain_next(struct quota_explain *x, const struct quota *q, bool busy, int64_t now,
			struct quota_decision *ret);
/* When quota_explain_next is to be asked again; CLOCK_NEVER: nothing waits. */
int64_t quota_explain_due(const struct quota_explain *x, bool busy);

#endif
