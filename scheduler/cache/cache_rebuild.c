#include "cache/cache_priv.h"
#include "core/ledger.h"

/* Writes on their way keep what was booked for them: their outcomes are still to come. */
static enum charge_state in_flight(const struct task *t)
{
	if (t->charge == CHARGE_PATCHING) {
		return CHARGE_PATCHING;
	}
	return t->status == TASK_BINDING ? CHARGE_ASSUMED : CHARGE_NONE;
}

/* What the pod itself proves: the mark that our patch left on it. A pod whose gate somebody else
 * took off has no mark and is decided anew. */
static enum charge_state proven(const struct task *t)
{
	const uint32_t must = TASK_OURS | TASK_OPTED_IN | TASK_RESERVED_MARK;
	const uint32_t mustnot = TASK_OUR_GATE | TASK_FOREIGN_GATE;

	if (t->status != TASK_PENDING || (t->flags & must) != must || (t->flags & mustnot) != 0 ||
	    t->klass->best_effort) {
		return CHARGE_NONE;
	}
	return t->cond == POD_COND_UNSCHEDULABLE ? CHARGE_PUBLISHED : CHARGE_UNGATED;
}

static void rebuild(struct cache *c, struct task *t)
{
	enum charge_state state = in_flight(t);
	struct queue *q = NULL;

	if (state == CHARGE_NONE) {
		state = proven(t);
	}
	if (t->job != MODEL_NONE && c->cluster->jobs.v[t->job]->queue != MODEL_NONE) {
		q = c->cluster->queues.v[c->cluster->jobs.v[t->job]->queue];
	}
	ledger_release(c->cluster, t);
	if (q != NULL && state != CHARGE_NONE) {
		ledger_charge(c->cluster, t, q, state);
	}
	cache_charge_settle(c, t);
}

/* Pods with a node are charged first by cache_charge_settle in the same pass: no order matters
 * here, since nothing is refused. Where the sum exceeds a limit the next cycle revokes charges
 * without a node, youngest first: it alone knows the limits. */
void cache_rebuild_ledger(struct cache *c, int64_t wall)
{
	c->judges_from = wall;
	cache_queue_settle(c);
	for (size_t i = 0; i < c->cluster->tasks.n; i++) {
		if (c->cluster->tasks.v[i] != NULL) {
			rebuild(c, c->cluster->tasks.v[i]);
		}
	}
	cache_queue_settle(c);
	c->dirty = true;
}
