/* Volcano's cdp plugin (cooldown protection): a pod that runs is not evicted for as long after it
 * was placed as its label or annotation volcano.sh/cooldown-time says. */
#include "scheduler/pods/plugins/registry.h"

#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/session.h"

static bool cdp_permits(void *state, struct session *s, const struct task *t,
			const struct task *victim)
{
	const struct queue *q =
		queue_at(session_cluster(s), session_cluster(s)->podgroups.v[t->podgroup]->queue);

	(void)state;
	if (victim->cools_until == MODEL_TIME_NONE || victim->cools_until <= session_now(s)) {
		return true;
	}
	if (q != NULL) {
		session_wait_until(s, q, victim->cools_until);
	}
	return false;
}

const struct plugin_ops cdp_ops = {
	.name = "cdp",
	.preemptable = cdp_permits,
	.reclaimable = cdp_permits,
};
