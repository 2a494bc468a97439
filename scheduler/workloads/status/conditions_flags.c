#include "scheduler/workloads/status/conditions_flags.h"

#include "api/kueue/kueue_keys.h"
#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/status/conditions.h"

static const struct condition *find(const struct conditions *c, const char *type,
				    const char *status)
{
	const struct condition *found = conditions_find(c, type);

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

static bool is_blocked_by_check(const struct conditions *c)
{
	for (size_t i = 0; i < c->checks.n; i++) {
		if (c->checks.v[i].state == QUOTA_CHECK_RETRY ||
		    c->checks.v[i].state == QUOTA_CHECK_REJECTED) {
			return true;
		}
	}
	return false;
}

static bool is_open(const struct conditions *c, const char *gate)
{
	for (size_t i = 0; i < c->gates.n; i++) {
		if (str_streq(c->gates.v[i].name, gate)) {
			return c->gates.v[i].open;
		}
	}
	return false; /* closed until the status says otherwise */
}

static bool has_closed_gate(const struct conditions *c, const struct workload *w)
{
	for (const char **gate = w->object.gates; gate != NULL && *gate != NULL; gate++) {
		if (!is_open(c, *gate)) {
			return true;
		}
	}
	return false;
}

void conditions_flags(const struct conditions *c, struct workload *w)
{
	const struct condition *evicted = find(c, KUEUE_EVICTED, "True");
	const struct condition *preempted = find(c, KUEUE_PREEMPTED, "True");
	const struct condition *reserved = find(c, KUEUE_QUOTA_RESERVED, "True");
	const struct condition *refused = find(c, KUEUE_QUOTA_RESERVED, "False");

	w->flags = (struct workload_flags){
		.evicted_at = at(evicted),
		.preempted_at = at(preempted),
		.requeue_at = c->has_requeue_at ? c->requeue_at : MODEL_TIME_NONE,
		.reserved_at = at(reserved),
		.evicted = evicted != NULL,
		.evicted_by_timeout = is_by(evicted, KUEUE_REASON_PODS_READY_TIMEOUT),
		.evicted_by_check = is_by(evicted, KUEUE_REASON_ADMISSION_CHECK),
		.reclaimed_while_borrowing = is_by(
			preempted, victim_reason_name(VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING)),
		.finished = conditions_is_true(c, KUEUE_FINISHED),
		.admitted = conditions_is_true(c, KUEUE_ADMITTED),
		.pods_ready = conditions_is_true(c, KUEUE_PODS_READY),
		.requeued_false = find(c, KUEUE_REQUEUED, "False") != NULL,
		.on_hold = is_by(refused, nofit_reason_name(QUOTA_ON_HOLD)),
		.waits_replacement = conditions_is_true(c, KUEUE_WAITING_FOR_REPLACEMENT),
		.check_blocks = is_blocked_by_check(c),
		.preemption_gated = has_closed_gate(c, w),
	};
}
