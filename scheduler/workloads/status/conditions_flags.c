#include "scheduler/workloads/status/conditions_flags.h"

#include "scheduler/workloads/cycle/nofit_reason.h"
#include "scheduler/workloads/status/conditions.h"

static const struct condition *find(const struct conditions *c, const char *type,
				    const char *status)
{
	const struct condition *found = conditions_find(c, type);

	return found != NULL && str_streq(found->status, status) ? found : NULL;
}

static void set_evicted(const struct conditions *c, struct workload *w)
{
	const struct condition *evicted = find(c, CONDITIONS_EVICTED, "True");
	const struct condition *preempted = find(c, CONDITIONS_PREEMPTED, "True");

	w->evicted = evicted != NULL;
	w->evicted_at = evicted == NULL ? MODEL_TIME_NONE : evicted->at;
	w->evicted_by_timeout =
		evicted != NULL && str_streq(evicted->reason, CONDITIONS_BY_TIMEOUT);
	w->evicted_by_check = evicted != NULL && str_streq(evicted->reason, CONDITIONS_BY_CHECK);
	w->preempted_at = preempted == NULL ? MODEL_TIME_NONE : preempted->at;
	w->reclaimed_while_borrowing =
		preempted != NULL &&
		str_streq(preempted->reason,
			  victim_reason_name(VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING));
}

static void set_reserved(const struct conditions *c, struct workload *w)
{
	const struct condition *yes = find(c, CONDITIONS_QUOTA_RESERVED, "True");
	const struct condition *no = find(c, CONDITIONS_QUOTA_RESERVED, "False");

	w->reserved_at = yes == NULL ? MODEL_TIME_NONE : yes->at;
	w->on_hold = no != NULL && str_streq(no->reason, nofit_reason_name(QUOTA_ON_HOLD));
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
	for (size_t i = 0; i < w->ngates; i++) {
		if (!is_open(c, w->gates[i])) {
			return true;
		}
	}
	return false;
}

void conditions_flags(const struct conditions *c, struct workload *w)
{
	set_evicted(c, w);
	set_reserved(c, w);
	w->finished = conditions_is_true(c, CONDITIONS_FINISHED);
	w->admitted = conditions_is_true(c, CONDITIONS_ADMITTED);
	w->pods_ready = conditions_is_true(c, CONDITIONS_PODS_READY);
	w->waits_replacement = conditions_is_true(c, CONDITIONS_WAITING_FOR_REPLACEMENT);
	w->requeued_false = find(c, CONDITIONS_REQUEUED, "False") != NULL;
	w->check_blocks = is_blocked_by_check(c);
	w->preemption_gated = has_closed_gate(c, w);
	w->requeue_at = c->has_requeue_at ? c->requeue_at : MODEL_TIME_NONE;
}
