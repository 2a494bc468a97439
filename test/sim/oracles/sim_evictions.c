#include "sim/oracles/sim_evictions.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

struct sim_evictions {
	struct sim_world *world;
	/* "UID UID" of the PodGroups of a preemptor and of its victim -> queues_gen, + 1 */
	struct strmap *pairs;
	struct strmap *waiting; /* UID of a preemptor -> its key */
	size_t count;
};

struct sim_evictions *sim_evictions_create(struct sim_world *w)
{
	struct sim_evictions *e = xmalloc_zero(1, sizeof(*e));

	e->world = w;
	e->pairs = strmap_create(NULL);
	e->waiting = strmap_create(free);
	return e;
}

void sim_evictions_destroy(struct sim_evictions *e)
{
	strmap_destroy(e->pairs);
	strmap_destroy(e->waiting);
	free(e);
}

static void *gen_value(const struct cluster *c)
{
	return (void *)(uintptr_t)(c->queues_gen + 1);
}

static void check_pair(struct sim_evictions *e, const struct cluster *c, const struct task *victim,
		       const struct task *by)
{
	const struct podgroup *a = c->podgroups.v[by->podgroup];
	const struct podgroup *b = c->podgroups.v[victim->podgroup];
	CLEANUP(xmalloc_freep) char *pair = NULL, *turned = NULL;

	if (a == b || a->uid == NULL || b->uid == NULL) {
		return;
	}
	pair = xmalloc_printf("%s %s", a->uid, b->uid);
	turned = xmalloc_printf("%s %s", b->uid, a->uid);
	if (strmap_get(e->pairs, str_of(turned)) == gen_value(c)) {
		sim_world_fail(e->world, "evictions: %s and %s evict each other in turns", a->name,
			       b->name);
	}
	strmap_set(e->pairs, str_of(pair), gen_value(c));
}

static void on_evict(struct sim_evictions *e, const struct cluster *c, const struct decision *d)
{
	const struct task *victim = c->tasks.v[d->task], *by;
	char key[300];

	if (d->by == MODEL_NONE) {
		return; /* an overdue pod, for no other one */
	}
	by = c->tasks.v[d->by];
	e->count++;
	check_pair(e, c, victim, by);
	if ((by->flags & TASK_PREEMPT_NEVER) != 0) {
		sim_world_fail(e->world, "evictions: for %s, which never preempts", by->name);
	}
	cluster_task_key(by, key, sizeof(key));
	strmap_set(e->waiting, str_of(by->uid), xmalloc_dup(key));
}

static void on_await(struct sim_evictions *e, const struct cluster *c, const struct decisions *d,
		     size_t at)
{
	const struct decision *a = &d->v[at];
	const struct task *t = c->tasks.v[a->task];
	bool reported = false;

	/* A gated pod may lose the node and keep the quota. */
	if (a->node != MODEL_NONE || !a->warning) {
		return;
	}
	for (size_t i = 0; i < d->n; i++) {
		reported |= d->v[i].kind == DECISION_EVENT && d->v[i].task == a->task &&
			    strcmp(d->v[i].reason, "EvictedInVain") == 0;
	}
	if (strmap_get(e->waiting, str_of(t->uid)) != NULL && !reported) {
		sim_world_fail(e->world, "evictions: those for %s were in vain, without a report",
			       t->name);
	}
	strmap_remove(e->waiting, str_of(t->uid));
}

void sim_evictions_decided(struct sim_evictions *e, const struct cluster *c,
			   const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_EVICT) {
			on_evict(e, c, &d->v[i]);
		} else if (d->v[i].kind == DECISION_AWAIT) {
			on_await(e, c, d, i);
		} else if (d->v[i].kind == DECISION_UNGATE || d->v[i].kind == DECISION_RESERVE) {
			/* It has the quota for which they were made. */
			strmap_remove(e->waiting, str_of(c->tasks.v[d->v[i].task]->uid));
		}
	}
}

void sim_evictions_restarted(struct sim_evictions *e)
{
	strmap_destroy(e->pairs);
	strmap_destroy(e->waiting);
	e->pairs = strmap_create(NULL);
	e->waiting = strmap_create(free);
}

static bool judge_one(struct str uid, void *value, void *ctx)
{
	const struct sim_evictions *e = ctx;
	const struct jdoc *pod = sim_view_get(e->world->view, SIM_PODS, value);

	if (pod != NULL && str_eq_c(uid, sim_pod_uid(pod)) && !sim_pod_is_placed(pod) &&
	    !sim_pod_is_finished(pod)) {
		sim_world_fail(e->world, "end: pods were evicted for %s, which has no node",
			       (const char *)value);
	}
	return true;
}

void sim_evictions_judge(const struct sim_evictions *e)
{
	union {
		const struct sim_evictions *in;
		void *out;
	} ctx = { .in = e };

	strmap_each(e->waiting, judge_one, ctx.out);
}

size_t sim_evictions_count(const struct sim_evictions *e)
{
	return e->count;
}
