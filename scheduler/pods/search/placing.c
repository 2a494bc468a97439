#include "scheduler/pods/search/placing.h"

#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/values/pod_class.h"

bool placing_is_candidate(const struct session *s, const struct task *t)
{
	enum charge_state charge = session_task_charge(s, t);

	if ((t->flags & (TASK_OURS | TASK_GATE_ONLY)) != TASK_OURS ||
	    (t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0 || t->klass == NULL ||
	    t->klass->best_effort || session_task_status(s, t) != TASK_PENDING ||
	    session_task_is_set_aside(s, t)) {
		return false;
	}
	if ((t->flags & TASK_OPTED_IN) == 0) {
		return true;
	}
	/* Kubernetes refuses to bind a gated pod: the removal must be acknowledged first. */
	return charge == CHARGE_UNGATED || charge == CHARGE_PUBLISHED;
}

/* Volcano gives the quota of terminating pods to new ones; the ledger counts them until they are
 * gone. Where other pods hold quota without a node, the difference would be taken from them, and
 * published pods would have to be withdrawn: then the stricter count applies. */
static bool takes_reserved_quota(struct session *s, const struct queue *q, const struct task *t)
{
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, session_cluster(s), q->id) {
		if (res_over(session_queue_charged(s, at), pod_class_charge(t->klass),
			     session_queue_limit(s, at), pod_class_charge_mask(t->klass)) != 0 &&
		    session_queue_has_unbound(s, at)) {
			return true;
		}
	}
	return false;
}

bool placing_quota_admits(struct session *s, const struct queue *q, const struct task *t,
			  struct reason *why)
{
	if (!hooks_allocatable(s, q, t, why)) {
		return false;
	}
	if (takes_reserved_quota(s, q, t)) {
		session_wait_for_podgroups(s, q);
		*why = (struct reason){
			.code = "the quota that is being released is reserved for other pods"
		};
		return false;
	}
	return true;
}

const struct queue *placing_quota_comes(const struct session *s, const struct queue *q,
					const struct task *t)
{
	const struct queue *at;

	QUEUE_FOR_EACH_UP (at, session_cluster(s), q->id) {
		struct res used = *session_queue_charged(s, at);

		res_sub(&used, session_queue_releasing(s, at));
		if (res_over(&used, pod_class_charge(t->klass), session_queue_limit(s, at),
			     pod_class_charge_mask(t->klass)) != 0) {
			return at;
		}
	}
	return NULL;
}
