#include "sim/oracles/sim_evictions.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "sim/controllers/sim_budgets.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"

/* Pods of one PodGroup were evicted for another one. */
struct turn {
	char *victim, *by; /* UIDs */
	uint64_t queues_gen;
};

struct uids VEC(const char *);

struct sim_evictions {
	struct sim_world *world;
	struct VEC(struct turn) turns;
	struct strmap *waiting; /* UID of a preemptor -> its key */
	struct strmap *shut;    /* key of a budget that allows no eviction -> struct shut */
	int64_t labelled_at, restarted_at; /* monotonic ns */
	size_t count;
};

static void forget_turns(struct sim_evictions *e)
{
	for (size_t i = 0; i < e->turns.n; i++) {
		free(e->turns.v[i].victim);
		free(e->turns.v[i].by);
	}
	vec_clear(&e->turns);
}

static const struct podgroup *find_podgroup(const struct cluster *c, const char *uid)
{
	for (size_t i = 0; i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL && c->podgroups.v[i]->uid != NULL &&
		    strcmp(c->podgroups.v[i]->uid, uid) == 0) {
			return c->podgroups.v[i];
		}
	}
	return NULL;
}

/* Appends the UIDs of those for which pods of that one were evicted, unless they are gone. */
static void add_evictors(const struct sim_evictions *e, const struct cluster *c, const char *uid,
			 struct uids *out)
{
	for (size_t i = 0; i < e->turns.n; i++) {
		const struct turn *t = &e->turns.v[i];
		bool known = false;

		for (size_t k = 0; k < out->n; k++) {
			known |= strcmp(out->v[k], t->by) == 0;
		}
		if (!known && t->queues_gen == c->queues_gen && strcmp(t->victim, uid) == 0 &&
		    find_podgroup(c, t->by) != NULL) {
			vec_push(out, t->by);
		}
	}
}

/* No PodGroup has pods evicted of one that had its own evicted, be it by way of others. */
static void check_turn(struct sim_evictions *e, const struct cluster *c, const struct task *victim,
		       const struct task *by)
{
	const struct podgroup *a = c->podgroups.v[by->podgroup];
	const struct podgroup *b = c->podgroups.v[victim->podgroup];
	struct uids before = VEC_INIT;
	struct turn now = { .queues_gen = c->queues_gen };

	if (a == b || a->uid == NULL || b->uid == NULL) {
		return;
	}
	add_evictors(e, c, a->uid, &before);
	for (size_t i = 0; i < before.n; i++) {
		if (strcmp(before.v[i], b->uid) == 0) {
			sim_world_fail(e->world, "evictions: %s and %s evict each other in turns",
				       a->name, b->name);
			break;
		}
		add_evictors(e, c, before.v[i], &before);
	}
	vec_finish(&before);
	now.victim = xmalloc_dup(b->uid);
	now.by = xmalloc_dup(a->uid);
	vec_push(&e->turns, now);
}

/* A budget has allowed no eviction for so long that the scheduler must know. */
#define KNOWN_NS (INT64_C(300) * CLOCK_NS_PER_S)

struct shut {          /* of a budget: it allows none */
	int64_t since; /* monotonic ns */
};

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_evictions *e = ctx;
	int64_t now = e->world->clock.mono_ns;
	struct shut *s;

	/* With each change of a label or a selector, what was known begins anew. */
	if (change->resource == SIM_PODS) {
		CLEANUP(strbuf_finish) struct strbuf was = STRBUF_INIT, is = STRBUF_INIT;

		jdoc_format(jdoc_path(change->old, "metadata.labels"), &was);
		jdoc_format(jdoc_path(change->now, "metadata.labels"), &is);
		if (!str_eq(strbuf_str(&was), strbuf_str(&is))) {
			e->labelled_at = now;
		}
	}
	if (change->resource != SIM_BUDGETS) {
		return;
	}
	if (change->now == NULL ||
	    jdoc_int(jdoc_path(change->now, "status.disruptionsAllowed"), 0) > 0 ||
	    jdoc_int(jdoc_path(change->now, "metadata.generation"), 0) !=
		    jdoc_int(jdoc_path(change->old, "metadata.generation"), 0)) {
		(void)strmap_remove(e->shut, str_of(change->key));
	}
	if (change->now != NULL && !strmap_has(e->shut, str_of(change->key)) &&
	    jdoc_int(jdoc_path(change->now, "status.disruptionsAllowed"), 0) <= 0) {
		s = xmalloc_zero(1, sizeof(*s));
		s->since = now;
		strmap_set(e->shut, str_of(change->key), s);
	}
}

struct victim {
	const struct sim_evictions *e;
	const struct jdoc *pod;
};

static bool check_budget(struct str key UNUSED, void *value, void *ctx)
{
	const struct shut *s = value;
	const struct victim *v = ctx;
	const struct sim_world *w = v->e->world;
	const struct jdoc *budget;
	CLEANUP(xmalloc_freep) char *name = xmalloc_dup_n(key.p, key.len);

	budget = sim_view_get(w->view, SIM_BUDGETS, name);
	if (budget != NULL && w->clock.mono_ns - s->since > KNOWN_NS &&
	    sim_budgets_covers(budget, v->pod)) {
		sim_world_fail(v->e->world, "evictions: %s, although its budget %s allows none",
			       jdoc_path_str(v->pod, "metadata.name"), name);
	}
	return true;
}

/* Seen from outside, by the objects of the server. */
static void check_budgets(struct sim_evictions *e, const struct task *victim)
{
	const struct sim_world *w = e->world;
	char key[300];
	struct victim v = { .e = e };

	cluster_task_key(victim, key, sizeof(key));
	v.pod = sim_view_get(w->view, SIM_PODS, key);
	/* The API server asks no budget about a pod that has not started. */
	if (!w->budgets || v.pod == NULL || victim->status == TASK_BOUND ||
	    w->clock.mono_ns - e->labelled_at <= KNOWN_NS ||
	    w->clock.mono_ns - e->restarted_at <= KNOWN_NS) {
		return;
	}
	strmap_each(e->shut, check_budget, &v);
}

/* By what the scheduler knows: no more than the budget allows, however many are evicted at once. */
static void check_allowance(struct sim_evictions *e, const struct cluster *c,
			    const struct decisions *d)
{
	uint32_t *taken = xmalloc_zero(c->budgets.n + 1, sizeof(*taken));

	for (size_t i = 0; i < d->n; i++) {
		const struct task *t =
			d->v[i].kind == DECISION_EVICT ? c->tasks.v[d->v[i].task] : NULL;
		const struct budget *b = t == NULL ? NULL : budgets_of(c, t);

		if (t == NULL || d->v[i].by == MODEL_NONE || !budgets_guard(c, t)) {
			continue;
		}
		if (b == NULL || ++taken[b->id] + b->granted > b->allowed) {
			sim_world_fail(e->world, "evictions: %s beyond what its budgets allow",
				       t->name);
		}
	}
	free(taken);
}

/* The rule of preempt and gangpreempt: within a queue a pod of a PodGroup of a lower priority goes,
 * within a PodGroup a pod of a lower priority. A PodGroup's counts for a pod as far as the API
 * server has granted the pod such a priority. */
static void check_priority(struct sim_evictions *e, const struct cluster *c,
			   const struct task *victim, const struct task *by)
{
	if (victim->podgroup == MODEL_NONE || by->podgroup == MODEL_NONE ||
	    c->podgroups.v[victim->podgroup]->queue != c->podgroups.v[by->podgroup]->queue) {
		return;
	}
	if (victim->podgroup == by->podgroup
		    ? victim->priority >= by->priority
		    : cluster_task_standing(c, victim) >= cluster_task_standing(c, by)) {
		sim_world_fail(e->world,
			       "evictions: %s of the same queue for %s, of no higher priority",
			       victim->name, by->name);
	}
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
	check_budgets(e, victim);
	check_turn(e, c, victim, by);
	check_priority(e, c, victim, by);
	if ((by->flags & TASK_PREEMPT_NEVER) != 0) {
		sim_world_fail(e->world, "evictions: for %s, which never preempts", by->name);
	}
	cluster_task_key(by, key, sizeof(key));
	strmap_set(e->waiting, str_of(by->uid), xmalloc_dup(key));
}

struct sim_evictions *sim_evictions_create(struct sim_world *w)
{
	struct sim_evictions *e = xmalloc_zero(1, sizeof(*e));

	e->world = w;
	e->waiting = strmap_create(free);
	e->shut = strmap_create(free);
	sim_view_listen(w->view, on_change, e);
	return e;
}

void sim_evictions_destroy(struct sim_evictions *e)
{
	forget_turns(e);
	vec_finish(&e->turns);
	strmap_destroy(e->waiting);
	strmap_destroy(e->shut);
	free(e);
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
	check_allowance(e, c, d);
	for (size_t i = 0; i < d->n; i++) {
		if (d->v[i].kind == DECISION_EVICT && d->v[i].by != MODEL_NONE) {
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
	forget_turns(e);
	strmap_destroy(e->waiting);
	e->waiting = strmap_create(free);
	e->restarted_at = e->world->clock.mono_ns;
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
