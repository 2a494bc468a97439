#include "scheduler/pods/cycle/awaited_quota.h"

#include "scheduler/pods/cycle/holds.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static bool awaits_quota(const struct session *s, const struct task *t)
{
	return session_task_charge(s, t) == CHARGE_AWAITING_VICTIMS;
}

/* Whether the charge of t, which is booked, is within the limits of all its queues: now, or (later)
 * without the pods that terminate. */
static bool is_within_limits(const struct session *s, const struct task *t, bool later)
{
	const struct queue *q;

	QUEUE_FOR_EACH_UP (q, s->cluster, session_task_charge_queue(s, t)) {
		struct res used = *session_queue_charged(s, q);

		if (later) {
			res_sub(&used, session_queue_releasing(s, q));
		}
		if (res_exceeds(&used, session_queue_limit(s, q),
				pod_class_charge_mask(t->klass)) != 0) {
			return false;
		}
	}
	return true;
}

static void serve(struct session *s, const struct podgroup *g)
{
	bool any = false, now = true, later = true;
	struct statement st;

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (awaits_quota(s, t)) {
			any = true;
			now = now && is_within_limits(s, t, false);
			later = later && is_within_limits(s, t, true);
		}
	}
	if (!any || (!now && later)) {
		return;
	}
	st = statement_begin(s);
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (awaits_quota(s, t) && now) {
			statement_reserve(s, t);
		} else if (awaits_quota(s, t)) {
			holds_give_up(s, t, "the quota of its queue does not come free");
		}
	}
	statement_commit(s, st);
}

void awaited_quota_run(struct session *s)
{
	const struct cluster *c = s->cluster;

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		for (size_t k = 0; q != NULL && q->exists && k < session_podgroups(s, q)->n; k++) {
			const struct podgroup *g = session_podgroups(s, q)->v[k];

			if (session_podgroup_count(s, g, TASK_PENDING) > 0) {
				serve(s, g);
			}
		}
	}
}
