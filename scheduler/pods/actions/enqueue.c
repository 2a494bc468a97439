#include "base/arena.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/search/order.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static bool is_pending(struct session *s, const struct podgroup *g)
{
	return g->exists && session_podgroup_phase(s, g) == PODGROUP_PENDING;
}

static void vote(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct reason why = { .code = NULL };

	if (!g->has_min_resources || hooks_job_enqueueable(s, g, &why)) {
		hooks_job_enqueued(s, g);
		statement_set_phase(s, g, PODGROUP_INQUEUE);
		return;
	}
	/* The vote counts PodGroups of other queues that are Inqueue, and in flat mode the
	 * cluster's size. */
	session_wait_for_podgroups(s, q);
	session_wait_for_nodes(s, q);
	if (why.code == NULL) {
		why.code = "the pod group may not be enqueued";
	}
	session_note_refusal(s, g, why.code,
			     why.detail == NULL ? why.code
						: arena_printf(session_arena(s), "%s: %s", why.code,
							       why.detail));
}

/* Serves queues in turn, one PodGroup each; a refused PodGroup waits for the next cycle, and
 * smaller ones behind it may be enqueued. */
void enqueue_run(struct session *s)
{
	order_for_each_podgroup(s, is_pending, vote);
}
