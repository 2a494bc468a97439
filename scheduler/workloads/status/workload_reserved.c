#include "scheduler/workloads/status/workload_reserved.h"

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "scheduler/workloads/status/workload_checks.h"
#include "scheduler/workloads/status/workload_pending.h"

/* Of a job that is only about to start nothing is ready: the admission says so in its own write.
 * From then on the controller of the owner reports (owners/owner_status.h). */
static void begin_readiness(struct workload_reconcile *l)
{
	if (l->times->wait_pods_ready && l->in->job == WORKLOAD_RECONCILE_JOB_STOPPED &&
	    workload_status_condition(l->status, KUEUE_PODS_READY) == NULL) {
		(void)workload_reconcile_set(l, KUEUE_PODS_READY, false,
					     KUEUE_REASON_WAIT_FOR_START,
					     KUEUE_MESSAGE_WAIT_FOR_START);
	}
}

void workload_reserved_admit(struct workload_reconcile *l)
{
	const char *message;

	if (workload_status_is_true(l->status, KUEUE_ADMITTED)) {
		/* By a decision that is still to be written. */
		if (l->in->written != NULL &&
		    !workload_status_is_true(l->in->written, KUEUE_ADMITTED)) {
			begin_readiness(l);
		}
		return;
	}
	/* Whether all are Ready is not known before the checks of the flavors are known. */
	if (!l->in->checks_known || !workload_checks_ready(l)) {
		(void)workload_reconcile_set(l, KUEUE_ADMITTED, false,
					     KUEUE_REASON_UNSATISFIED_CHECKS,
					     WORKLOAD_STATUS_UNSATISFIED);
		return;
	}
	message =
		arena_printf(l->status->arena, "Admitted by ClusterQueue %s", l->in->cluster.name);
	(void)workload_reconcile_set(l, KUEUE_ADMITTED, true, KUEUE_ADMITTED, message);
	workload_reconcile_event(l, false, KUEUE_ADMITTED, message);
	begin_readiness(l);
}

/* Takes the reservation back at once, since nothing runs yet; workload_pending_explain sets the
 * reason. */
static void withdraw(struct workload_reconcile *l)
{
	l->status->has_admission = false;
	l->status->queue = NULL;
	vec_clear(&l->status->podsets);
	l->out->changed = l->out->released = true;
	workload_pending_explain(l);
}

/* Kueue: a reservation that is not admitted yet is withdrawn when its queue is stopped in any way,
 * or is deleted: nothing runs, so that is no eviction. An admitted Workload goes on, unless it is
 * to be drained. */
static bool judge_queue(struct workload_reconcile *l, const struct workload_reconcile_queue *q,
			const char *kind, const char *stopped, bool admitted)
{
	bool stops = q->exists && q->stop == QUOTA_HOLD_AND_DRAIN;

	if (!admitted && (!q->exists || q->terminating || q->stop != QUOTA_RUN)) {
		withdraw(l);
		return true;
	}
	if (admitted && stops) {
		workload_reconcile_evict(l, stopped, "",
					 arena_printf(l->status->arena, "The %s is stopped", kind));
		return true;
	}
	return false;
}

static void mark(struct workload_reconcile *l, const char *cause, const char *message)
{
	(void)workload_reconcile_set(l, KUEUE_DEACTIVATION_TARGET, true, cause, message);
}

static void time_out(struct workload_reconcile *l, const char *cause)
{
	struct workload_reconcile_state *s = l->s;
	int32_t tries = s->requeues < INT32_MAX ? s->requeues + 1 : s->requeues;
	int64_t until;

	if (l->times->backoff_limit >= 0 && tries > l->times->backoff_limit) {
		mark(l, "RequeuingLimitExceeded",
		     "exceeding the maximum number of re-queuing retries");
		return;
	}
	until = l->now + workload_reconcile_backoff(l->times, tries, l->in->uid);
	s->requeues = tries;
	/* Kueue: requeueAt only moves to later times, since a check may have asked for a longer
	 * pause. */
	if (s->requeue_at == MODEL_TIME_NONE || s->requeue_at < until) {
		s->requeue_at = until;
	}
	workload_reconcile_evict(l, KUEUE_REASON_PODS_READY_TIMEOUT, cause,
				 arena_printf(l->status->arena,
					      "Exceeded the PodsReady timeout %s/%s",
					      l->in->namespace_, l->in->name));
}

/* The time limit for ready pods counts from the admission until they are ready for the first time,
 * later from the moment when they stopped being ready. The controller of the owner writes
 * PodsReady; before that no limit applies, because a Workload that was admitted long ago by another
 * scheduler may run. */
static bool judge_pods_ready(struct workload_reconcile *l, int64_t admitted_at)
{
	const struct condition *ready = workload_status_condition(l->status, KUEUE_PODS_READY);
	bool recovers = ready != NULL && workload_reconcile_is(l, KUEUE_PODS_READY, "False",
							       KUEUE_REASON_WAIT_FOR_RECOVERY);
	int64_t limit = recovers ? l->times->recovery_ns : l->times->ready_ns;
	int64_t since = recovers ? ready->at : admitted_at;
	int64_t end;

	if (!l->times->wait_pods_ready || limit <= 0 || (ready == NULL && l->in->has_owner) ||
	    workload_status_is_true(l->status, KUEUE_PODS_READY) ||
	    __builtin_add_overflow(since, limit, &end)) {
		return false;
	}
	if (end > l->now) {
		workload_reconcile_wake(l, end);
		return false;
	}
	time_out(l, recovers ? KUEUE_REASON_WAIT_FOR_RECOVERY : KUEUE_REASON_WAIT_FOR_START);
	return true;
}

static void judge_execution(struct workload_reconcile *l, int64_t admitted_at)
{
	int64_t left = ((int64_t)l->in->max_execution - l->s->ran) * CLOCK_NS_PER_S, end;
	const char *cause = "MaximumExecutionTimeExceeded";

	if (l->in->max_execution <= 0 || __builtin_add_overflow(admitted_at, left, &end)) {
		return;
	}
	if (end > l->now) {
		workload_reconcile_wake(l, end);
		return;
	}
	mark(l, cause, "exceeding the maximum execution time");
	workload_reconcile_event(l, true, cause,
				 arena_printf(l->status->arena,
					      "The maximum execution time (%ds) exceeded",
					      l->in->max_execution));
}

/* Kueue's order; the first that ends the reservation counts. Time limits are those of admitted
 * Workloads alone. */
void workload_reserved_judge(struct workload_reconcile *l)
{
	const struct condition *admitted = workload_status_condition(l->status, KUEUE_ADMITTED);
	bool is_admitted = workload_status_is_true(l->status, KUEUE_ADMITTED);

	if (workload_checks_judge(l) ||
	    judge_queue(l, &l->in->local, "LocalQueue", KUEUE_REASON_LOCAL_QUEUE_STOPPED,
			is_admitted) ||
	    judge_queue(l, &l->in->cluster, "ClusterQueue", KUEUE_REASON_CLUSTER_QUEUE_STOPPED,
			is_admitted) ||
	    !is_admitted) {
		return;
	}
	if (!judge_pods_ready(l, admitted->at)) {
		judge_execution(l, admitted->at);
	}
}

void workload_reserved_release(struct workload_reconcile *l)
{
	const struct condition *evicted = workload_status_condition(l->status, KUEUE_EVICTED);
	bool deactivated = str_has_prefix(str_of(evicted->reason), KUEUE_REASON_DEACTIVATED);
	int32_t ran;

	/* The quota is in use until the job has stopped. Of an owner that another controller
	 * manages, only that one can say so, and gives it back. */
	if (l->in->job == WORKLOAD_RECONCILE_JOB_RUNS ||
	    l->in->job == WORKLOAD_RECONCILE_JOB_UNKNOWN) {
		return;
	}
	ran = workload_status_release(l->status, evicted->message, l->now);
	if (__builtin_add_overflow(l->s->ran, ran, &l->s->ran)) {
		l->s->ran = INT32_MAX;
	}
	/* A Workload that is activated again has its time once more. */
	if (deactivated) {
		l->s->ran = 0;
	}
	l->out->changed = l->out->released = true;
}
