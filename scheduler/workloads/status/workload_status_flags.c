#include "scheduler/workloads/status/workload_status_flags.h"

#include "api/kueue/kueue_keys.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/status/workload_status.h"

static const struct condition *find(const struct workload_status *s, const char *type,
				    const char *status)
{
	const struct condition *found = workload_status_condition(s, type);

	return found != NULL && str_streq(found->status, status) ? found : NULL;
}

static int64_t at(const struct condition *c)
{
	return c == NULL ? MODEL_TIME_NONE : c->at;
}

static bool is_by(const struct condition *c, const char *reason)
{
	return c != NULL && str_streq(c->reason, reason);
}

static bool is_blocked_by_check(const struct workload_status *status)
{
	for (size_t i = 0; i < status->checks.n; i++) {
		if (status->checks.v[i].state == QUOTA_CHECK_RETRY ||
		    status->checks.v[i].state == QUOTA_CHECK_REJECTED) {
			return true;
		}
	}
	return false;
}

static bool is_open(const struct workload_status *status, const char *gate)
{
	for (size_t i = 0; i < status->gates.n; i++) {
		if (str_streq(status->gates.v[i].name, gate)) {
			return status->gates.v[i].open;
		}
	}
	return false; /* closed until the status says otherwise */
}

/* Only gates of the spec count: an entry in status without one has no effect (KEP-8303). */
static bool has_closed_gate(const struct workload_status *status, const struct workload *w)
{
	for (const char **gate = w->object.gates; gate != NULL && *gate != NULL; gate++) {
		if (!is_open(status, *gate)) {
			return true;
		}
	}
	return false;
}

/* A condition that is absent is neither True nor False, so find() is given the status that counts.
 * Where Evicted and Preempted have the same time of transition, the eviction was a preemption: they
 * are written together. */
void workload_status_flags(const struct workload_status *status, struct workload *w)
{
	const struct condition *evicted = find(status, KUEUE_EVICTED, "True");
	const struct condition *preempted = find(status, KUEUE_PREEMPTED, "True");
	const struct condition *reserved = find(status, KUEUE_QUOTA_RESERVED, "True");
	const struct condition *refused = find(status, KUEUE_QUOTA_RESERVED, "False");

	w->flags = (struct workload_flags){
		.evicted_at = at(evicted),
		.preempted_at = at(preempted),
		.requeue_at = status->has_requeue_at ? status->requeue_at : MODEL_TIME_NONE,
		.reserved_at = at(reserved),
		.evicted = evicted != NULL,
		.evicted_by_timeout = is_by(evicted, KUEUE_REASON_PODS_READY_TIMEOUT),
		.evicted_by_check = is_by(evicted, KUEUE_REASON_ADMISSION_CHECK),
		.reclaimed_while_borrowing = is_by(
			preempted, victim_reason_name(VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING)),
		.finished = workload_status_is_true(status, KUEUE_FINISHED),
		.admitted = workload_status_is_true(status, KUEUE_ADMITTED),
		.pods_ready = workload_status_is_true(status, KUEUE_PODS_READY),
		.requeued_false = find(status, KUEUE_REQUEUED, "False") != NULL,
		.on_hold = is_by(refused, nofit_reason_name(QUOTA_ON_HOLD)),
		.waits_replacement = workload_status_is_true(status, KUEUE_WAITING_FOR_REPLACEMENT),
		.check_blocks = is_blocked_by_check(status),
		.preemption_gated = has_closed_gate(status, w),
	};
}
