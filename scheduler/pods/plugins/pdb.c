/* Volcano's pdb plugin: keeps pods from being evicted beyond what their PodDisruptionBudgets allow.
 * As for the API server, which grants the evictions, a pod that several budgets cover is not
 * evicted, an empty selector covers all pods of the namespace, and what was granted already counts
 * once more if it is asked for again; budgets do not count for pods that have not started, nor for
 * those that are not ready while the budget lets them go. */
#include "scheduler/pods/plugins/registry.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/session/session.h"

struct pdb {
	uint32_t *taken; /* by budget id: evictions in this session */
};

static int pdb_create(const struct plugin_args *args, void **ret_state, struct err *err)
{
	(void)args;
	(void)err;
	*ret_state = xmalloc_zero(1, sizeof(struct pdb));
	return 0;
}

static void pdb_open(void *state, struct session *s)
{
	struct pdb *p = state;

	p->taken =
		arena_zero(session_arena(s), session_cluster(s)->budgets.n + 1, sizeof(*p->taken));
}

static bool is_allowed(const struct pdb *p, const struct session *s, const struct task *victim)
{
	const struct budget *b = budgets_of(session_cluster(s), victim);

	if (!budgets_guard(session_cluster(s), victim)) {
		return true;
	}
	return b != NULL && (uint64_t)b->granted + p->taken[b->id] < b->allowed;
}

static bool pdb_permits(void *state, struct session *s, const struct task *t,
			const struct task *victim)
{
	const struct queue *q =
		queue_at(session_cluster(s), session_cluster(s)->podgroups.v[t->podgroup]->queue);

	if (is_allowed(state, s, victim)) {
		return true;
	}
	/* Until the budget allows more. */
	if (q != NULL) {
		session_wait_for_podgroups(s, q);
	}
	return false;
}

static void count(struct pdb *p, const struct session *s, const struct task *t, uint32_t n)
{
	const struct budget *b = budgets_of(session_cluster(s), t);

	if (b != NULL && budgets_guard(session_cluster(s), t)) {
		p->taken[b->id] += n;
	}
}

static void pdb_on_deallocate(void *state, struct session *s, const struct task *t)
{
	if (session_task_status(s, t) == TASK_RELEASING) {
		count(state, s, t, 1);
	}
}

/* An eviction that is undone. */
static void pdb_on_allocate(void *state, struct session *s, const struct task *t)
{
	enum task_status status = session_task_status(s, t);

	if (status == TASK_RUNNING || status == TASK_BOUND) {
		count(state, s, t, UINT32_MAX);
	}
}

const struct plugin_ops pdb_ops = {
	.name = "pdb",
	.create = pdb_create,
	.destroy = free,
	.needs_budgets = true,
	.open = pdb_open,
	.preemptable = pdb_permits,
	.reclaimable = pdb_permits,
	.on_allocate = pdb_on_allocate,
	.on_deallocate = pdb_on_deallocate,
};
