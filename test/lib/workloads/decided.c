#include "lib/workloads/decided.h"

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "scheduler/workloads/cycle/admission_apply.h"
#include "scheduler/workloads/status/workload_status.h"
#include "scheduler/workloads/status/workload_status_flags.h"

static void set(struct workload_status *s, bool is_there, const char *type, const char *status,
		const char *reason, int64_t at)
{
	struct condition one = { .type = type, .status = status, .reason = reason, .at = at };

	if (is_there) {
		(void)workload_status_set_condition(s, &one);
	}
}

static void add_checks_and_gates(const struct workload *w, struct workload_status *status)
{
	struct workload_status_check check = { .name = "c", .state = QUOTA_CHECK_RETRY };

	if (w->flags.check_blocks) {
		vec_push(&status->checks, check);
	}
	for (const char **name = w->object.gates; name != NULL && *name != NULL; name++) {
		struct workload_status_gate gate = { .name = *name,
						     .open = !w->flags.preemption_gated };

		vec_push(&status->gates, gate);
	}
}

/* The inverse of workload_status_flags: a status with the flags of the workload. */
static void status_of(const struct workload *w, struct workload_status *status)
{
	bool was_preempted = w->flags.preempted_at != MODEL_TIME_NONE;
	enum victim_reason why = w->flags.reclaimed_while_borrowing
					 ? VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING
					 : VICTIM_IN_CLUSTER_QUEUE;

	set(status, w->flags.evicted, KUEUE_EVICTED, "True",
	    w->flags.evicted_by_timeout ? KUEUE_REASON_PODS_READY_TIMEOUT
	    : w->flags.evicted_by_check ? KUEUE_REASON_ADMISSION_CHECK
					: "Preempted",
	    w->flags.evicted_at);
	set(status, was_preempted || w->flags.reclaimed_while_borrowing, KUEUE_PREEMPTED, "True",
	    victim_reason_name(why), w->flags.preempted_at);
	set(status, w->flags.reserved_at != MODEL_TIME_NONE, KUEUE_QUOTA_RESERVED, "True", "",
	    w->flags.reserved_at);
	set(status, w->flags.on_hold, KUEUE_QUOTA_RESERVED, "False", "OnHold", 0);
	set(status, w->flags.admitted, KUEUE_ADMITTED, "True", "", 0);
	set(status, w->flags.pods_ready, KUEUE_PODS_READY, "True", "", 0);
	set(status, w->flags.finished, KUEUE_FINISHED, "True", "", 0);
	set(status, w->flags.waits_replacement, KUEUE_WAITING_FOR_REPLACEMENT, "True", "", 0);
	set(status, w->flags.requeued_false, KUEUE_REQUEUED, "False", "", 0);
	status->has_requeue_at = w->flags.requeue_at != MODEL_TIME_NONE;
	status->requeue_at = w->flags.requeue_at;
	add_checks_and_gates(w, status);
}

void decided_flags(const struct quota_model *q, const struct admission_decision *d, int64_t now)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(workload_status_finish) struct workload_status status = { .arena = arena };
	struct workload_status_events events = { NULL, 0, 0 };
	struct workload *w = q->workloads.v[d->workload];

	status_of(w, &status);
	workload_status_decide(&status, q, d, now, &events);
	workload_status_flags(&status, w);
	vec_finish(&events);
}

void decided_apply(struct forest *f, const struct admission_decisions *d, int64_t now)
{
	for (size_t i = 0; i < d->n; i++) {
		decided_flags(forest_model(f), &d->v[i], now);
	}
	for (size_t i = 0; i < d->n; i++) {
		admission_apply(f, &d->v[i]);
	}
}
