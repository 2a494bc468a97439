#include "scheduler/workloads/status/workload_pending.h"

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "scheduler/workloads/cycle/nofit_reason.h"

static void requeue(struct workload_reconcile *l, const char *reason, const char *message)
{
	(void)workload_reconcile_set(l, KUEUE_REQUEUED, true, reason, message);
}

static void end_backoff(struct workload_reconcile *l)
{
	if (l->s->requeue_at != MODEL_TIME_NONE && l->s->requeue_at > l->now) {
		return; /* workload_pending_requeue has set the time to look again */
	}
	if (l->s->requeue_at != MODEL_TIME_NONE) {
		l->s->requeue_at = MODEL_TIME_NONE;
		l->out->changed = true;
	}
	requeue(l, "BackoffFinished", "The workload backoff was finished");
}

static bool runs(const struct workload_reconcile_queue *q)
{
	return q->exists && !q->terminating && q->stop == QUOTA_RUN;
}

/* Requeued=False keeps a Workload from its queue until the cause of its eviction is over; the
 * reason of the condition says which cause that is. Other reasons are left to the clients that set
 * them. */
void workload_pending_requeue(struct workload_reconcile *l)
{
	const struct condition *c = workload_status_condition(l->status, KUEUE_REQUEUED);

	if (!l->in->active) {
		return;
	}
	if (l->s->requeue_at != MODEL_TIME_NONE && l->s->requeue_at > l->now) {
		workload_reconcile_wake(l, l->s->requeue_at);
	}
	if (c == NULL || !str_streq(c->status, "False") || c->reason == NULL) {
		return;
	}
	/* Deactivated, and DeactivatedDueTo with a cause. */
	if (str_has_prefix(str_of(c->reason), KUEUE_REASON_DEACTIVATED)) {
		requeue(l, "Reactivated", "The workload was reactivated");
	} else if (str_streq(c->reason, KUEUE_REASON_PODS_READY_TIMEOUT) ||
		   str_streq(c->reason, KUEUE_REASON_ADMISSION_CHECK)) {
		end_backoff(l);
	} else if (str_streq(c->reason, KUEUE_REASON_LOCAL_QUEUE_STOPPED) && runs(&l->in->local)) {
		requeue(l, "LocalQueueRestarted",
			"The LocalQueue was restarted after being stopped");
	} else if (str_streq(c->reason, KUEUE_REASON_CLUSTER_QUEUE_STOPPED) &&
		   runs(&l->in->cluster)) {
		requeue(l, "ClusterQueueRestarted",
			"The ClusterQueue was restarted after being stopped");
	}
}

static const char *about(const struct workload_reconcile *l, const char *kind,
			 const struct workload_reconcile_queue *q, const char *what)
{
	return arena_printf(l->status->arena, "%s %s %s", kind, q->name == NULL ? "" : q->name,
			    what);
}

/* A message about the first of its queues that cannot take it, with the reason; NULL: both can. */
static const char *queue_trouble(const struct workload_reconcile *l, enum nofit_reason *ret_reason)
{
	const struct workload_reconcile_queue *local = &l->in->local, *cluster = &l->in->cluster;

	/* The LocalQueue first, since it names the ClusterQueue. */
	if (local->name == NULL || local->name[0] == '\0') {
		*ret_reason = QUOTA_MISCONFIGURED;
		return "LocalQueue is missing: spec.queueName is empty";
	}
	if (!local->exists) {
		*ret_reason = QUOTA_MISCONFIGURED;
		return about(l, "LocalQueue", local, "doesn't exist");
	}
	if (local->terminating) {
		*ret_reason = QUOTA_MISCONFIGURED;
		return about(l, "LocalQueue", local, "is terminating");
	}
	if (local->stop != QUOTA_RUN) {
		*ret_reason = QUOTA_SUSPENDED;
		return about(l, "LocalQueue", local, "is inactive");
	}
	if (!cluster->exists) {
		*ret_reason = QUOTA_MISCONFIGURED;
		return about(l, "ClusterQueue", cluster, "doesn't exist");
	}
	if (cluster->terminating || cluster->inactive || cluster->stop != QUOTA_RUN) {
		*ret_reason = QUOTA_SUSPENDED;
		return about(l, "ClusterQueue", cluster, "is inactive");
	}
	return NULL;
}

/* A message about the first thing that keeps cycles from trying the Workload; NULL: nothing does.
 */
static const char *blockage(const struct workload_reconcile *l, enum nofit_reason *ret_reason)
{
	const struct workload_reconcile_in *in = l->in;
	const char *message;

	if (!in->active) {
		*ret_reason = QUOTA_DEACTIVATED;
		return "The workload is deactivated";
	}
	message = queue_trouble(l, ret_reason);
	if (message != NULL) {
		return message;
	}
	if (in->invalid != NULL) {
		*ret_reason = QUOTA_MISCONFIGURED;
		return in->invalid;
	}
	if (in->gated_by != NULL && in->gated_by[0] != '\0') {
		*ret_reason = QUOTA_ADMISSION_GATED;
		return arena_printf(l->status->arena, "Admission is gated by: %s", in->gated_by);
	}
	return NULL;
}

static bool has_reason(const struct condition *c, enum nofit_reason reason)
{
	return str_streq(c->reason, nofit_reason_name(reason));
}

static bool is_gated_by_annotation(const struct workload_reconcile *l, const struct condition *c)
{
	/* The cycle uses the reason as well, for preemption gates. */
	return has_reason(c, QUOTA_ADMISSION_GATED) &&
	       !workload_status_is_true(l->status, PREEMPTION_GATE_BLOCKED);
}

/* The reason is one that this file sets, and nothing is in the way any more (blockage). Reasons of
 * the cycle stay until the next cycle; Misconfigured is one of both, and of the cycle only when the
 * ClusterQueue refuses the namespace. */
static bool is_stale(const struct workload_reconcile *l, const struct condition *c)
{
	return has_reason(c, QUOTA_SUSPENDED) || has_reason(c, QUOTA_DEACTIVATED) ||
	       is_gated_by_annotation(l, c) ||
	       (has_reason(c, QUOTA_MISCONFIGURED) && !l->in->cluster.refuses_namespace);
}

static void clear(struct workload_reconcile *l, const struct condition *c)
{
	bool was_gated = is_gated_by_annotation(l, c);

	(void)workload_reconcile_set(
		l, KUEUE_QUOTA_RESERVED, false, nofit_reason_name(QUOTA_PENDING_EVALUATION),
		was_gated ? "AdmissionGatedBy cleared, waiting for quota reservation"
			  : "Workload is pending evaluation in the scheduling "
			    "queue");
	if (was_gated) {
		workload_reconcile_event(l, false, "AdmissionGateCleared",
					 "Admission gate cleared, workload is now admissible");
	}
}

void workload_pending_explain(struct workload_reconcile *l)
{
	const struct condition *c = workload_status_condition(l->status, KUEUE_QUOTA_RESERVED);
	/* OnHold is set by another client and means that the Workload must not queue (Kueue): it
	 * stays. */
	bool on_hold = c != NULL && has_reason(c, QUOTA_ON_HOLD);
	enum nofit_reason reason = QUOTA_REASON_NONE;
	const char *message = on_hold && l->in->active ? NULL : blockage(l, &reason);

	if (message != NULL) {
		bool was_gated = c != NULL && is_gated_by_annotation(l, c);

		if (workload_reconcile_set(l, KUEUE_QUOTA_RESERVED, false,
					   nofit_reason_name(reason), message) &&
		    reason == QUOTA_ADMISSION_GATED && !was_gated) {
			workload_reconcile_event(l, false, nofit_reason_name(reason), message);
		}
	} else if (c != NULL && is_stale(l, c)) {
		clear(l, c);
	} else if (c == NULL && l->times->explicit_status) {
		(void)workload_reconcile_set(
			l, KUEUE_QUOTA_RESERVED, false, nofit_reason_name(QUOTA_PENDING_EVALUATION),
			"Workload is pending evaluation in the scheduling queue");
	}
	/* Of a new Workload without QuotaReserved there is nothing to say yet. */
	if (workload_status_condition(l->status, KUEUE_QUOTA_RESERVED) != NULL) {
		(void)workload_reconcile_set(l, KUEUE_ADMITTED, false, KUEUE_REASON_NO_RESERVATION,
					     "The workload has no reservation");
	}
}
