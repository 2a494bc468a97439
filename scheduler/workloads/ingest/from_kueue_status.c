#include "api/kueue.h"
#include "api/kueue_cost.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "scheduler/workloads/ingest/from_kueue_priv.h"

static const struct api_condition *find_true(const struct api_conditions *list, const char *type)
{
	const struct api_condition *c = meta_condition(list, type);

	return c != NULL && str_streq(c->status, "True") ? c : NULL;
}

static const struct api_condition *find_false(const struct api_conditions *list, const char *type)
{
	const struct api_condition *c = meta_condition(list, type);

	return c != NULL && str_streq(c->status, "False") ? c : NULL;
}

static void read_evicted(const struct api_conditions *list, struct workload *w)
{
	const struct api_condition *c = find_true(list, KUEUE_EVICTED);

	if (c == NULL) {
		return;
	}
	w->evicted = true;
	w->evicted_at = c->last_transition;
	w->evicted_by_timeout = str_streq(c->reason, "PodsReadyTimeout");
	w->evicted_by_check = str_streq(c->reason, "AdmissionCheck");
}

static void read_preempted(const struct api_conditions *list, struct workload *w)
{
	const struct api_condition *c = find_true(list, KUEUE_PREEMPTED);

	if (c != NULL) {
		w->preempted_at = c->last_transition;
		w->reclaimed_while_borrowing =
			str_streq(c->reason, "InCohortReclaimWhileBorrowing");
	}
}

static void read_reserved(const struct api_conditions *list, struct workload *w)
{
	const struct api_condition *c = find_true(list, KUEUE_QUOTA_RESERVED);

	if (c != NULL) {
		w->reserved_at = c->last_transition;
	}
	c = find_false(list, KUEUE_QUOTA_RESERVED);
	w->on_hold = c != NULL && str_streq(c->reason, "OnHold");
}

void from_kueue_status(const struct api_workload_status *status, struct workload *w)
{
	const struct api_conditions *list = &status->conditions;

	read_evicted(list, w);
	read_preempted(list, w);
	read_reserved(list, w);
	w->finished = find_true(list, KUEUE_FINISHED) != NULL;
	w->admitted = find_true(list, KUEUE_ADMITTED) != NULL;
	w->pods_ready = find_true(list, KUEUE_PODS_READY) != NULL;
	w->requeued_false = find_false(list, KUEUE_REQUEUED) != NULL;
	w->waits_replacement = find_true(list, KUEUE_WAITING_FOR_REPLACEMENT) != NULL;
	for (size_t i = 0; i < status->admission_checks.n; i++) {
		const char *state = status->admission_checks.v[i].state;

		w->check_blocks = w->check_blocks || str_streq(state, KUEUE_CHECK_RETRY) ||
				  str_streq(state, KUEUE_CHECK_REJECTED);
	}
	if (status->requeue_state != NULL) {
		w->requeue_at = status->requeue_state->requeue_at;
	}
	w->preemptions = kueue_cost_preemptions(status);
	if (status->preemption_cost != NULL) {
		w->cost = status->preemption_cost->nano;
		w->has_cost = true;
	}
}
