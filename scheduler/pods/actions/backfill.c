#include "base/arena.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/order.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static bool is_wanted(const struct session *s, const struct task *t)
{
	return (t->flags & (TASK_OURS | TASK_GATE_ONLY)) == TASK_OURS &&
	       (t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) == 0 && t->klass != NULL &&
	       t->klass->best_effort && session_task_status(s, t) == TASK_PENDING &&
	       !session_task_is_set_aside(s, t);
}

static bool has_wanted(struct session *s, const struct podgroup *g)
{
	if (!g->exists || session_podgroup_best_effort_pending(s, g) == 0 ||
	    session_podgroup_phase(s, g) == PODGROUP_PENDING) {
		return false;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		if (is_wanted(s, session_task(s, g->tasks.v[i]))) {
			return hooks_job_valid(s, g, NULL);
		}
	}
	return false;
}

static void place(struct session *s, const struct queue *q, const struct task *t)
{
	const struct node *n = NULL;

	/* It fits now or not at all: predicates count the pods that terminate. */
	if (fit_find(s, t, &n) == FIT_IDLE) {
		statement_allocate(s, t, n);
		session_note_attempt(s, t, ATTEMPT_ALLOCATED, n, NULL);
		return;
	}
	session_note_attempt(s, t, ATTEMPT_NO_NODE, NULL, fit_explain(s, t));
	session_wait_for_nodes(s, q);
}

static void backfill_podgroup(struct session *s, const struct queue *q, const struct podgroup *g)
{
	struct statement st = statement_begin(s);
	size_t n;
	const struct task **tasks = order_tasks(s, g, &n);

	for (size_t i = 0; i < n; i++) {
		if (is_wanted(s, tasks[i])) {
			place(s, q, tasks[i]);
		}
	}
	if (hooks_job_ready(s, g)) {
		statement_commit(s, st);
	} else {
		session_wait_for_nodes(s, q);
		statement_discard(s, st);
	}
}

/* Pods without requests are placed wherever predicates allow. There is no quota vote, since nothing
 * is counted, so they are also placed from closed queues, as in Volcano. */
void backfill_run(struct session *s)
{
	order_for_each_podgroup(s, has_wanted, backfill_podgroup);
}
