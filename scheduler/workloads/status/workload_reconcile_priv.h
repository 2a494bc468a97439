/* scheduler/workloads/status/workload_reconcile_priv.h: shared by the parts of
 * workload_reconcile.h. Owner: one call of workload_reconcile. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_PRIV_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RECONCILE_PRIV_H

#include "scheduler/workloads/status/workload_reconcile.h"

struct workload_reconcile {
	const struct workload_reconcile_in *in;
	const struct quota_times *times;
	struct workload_reconcile_state *s;
	struct workload_status *status;
	int64_t now;
	struct workload_reconcile_out *out;
};

/* Sets a condition now; true when anything but the generation changed. */
bool workload_reconcile_set(struct workload_reconcile *l, const char *type, bool is_true,
			    const char *reason, const char *message);
/* Appends an event about the Workload. */
void workload_reconcile_event(struct workload_reconcile *l, bool warning, const char *reason,
			      const char *message);
/* Look again at `at` at the latest. */
void workload_reconcile_wake(struct workload_reconcile *l, int64_t at);
/* Evicted=True and the event for it. cause: underlyingCause, "" when there is none. */
void workload_reconcile_evict(struct workload_reconcile *l, const char *reason, const char *cause,
			      const char *message);
/* The condition is there with this status and reason; reason NULL: any. */
bool workload_reconcile_is(const struct workload_reconcile *l, const char *type, const char *status,
			   const char *reason);

#endif
