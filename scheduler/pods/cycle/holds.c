#include "scheduler/pods/cycle/holds.h"

#include <stdlib.h>

#include "base/clock.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/order.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"

static int by_podgroup(const void *a, const void *b, void *ctx)
{
	const struct podgroup *x = *(const struct podgroup *const *)a,
			      *y = *(const struct podgroup *const *)b;
	const struct session *s = *(const struct session *const *)ctx;

	return x == y ? 0 : hooks_job_order(s, x, y);
}

/* The PodGroups that wait, each once, first the one that is to be served first. */
static const struct podgroup **list_podgroups(struct session *s, size_t *ret_n)
{
	const struct cluster *c = s->cluster;
	const struct podgroup **v = arena_alloc(s->arena, (c->awaiting.n + 1) * sizeof(*v));
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < c->awaiting.n; i++) {
		const struct task *t = c->tasks.v[c->awaiting.v[i]];

		if (t->podgroup != MODEL_NONE) {
			v[n++] = c->podgroups.v[t->podgroup];
		}
	}
	if (n > 1) {
		qsort_r(v, n, sizeof(v[0]), by_podgroup, &s);
	}
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || v[kept - 1] != v[i]) {
			v[kept++] = v[i];
		}
	}
	*ret_n = kept;
	return v;
}

static const char *gone_text(const struct session *s, const struct node *n)
{
	return n->exists ? arena_printf(s->arena, "it does not fit node %s any more", n->name)
			 : arena_printf(s->arena, "node %s is gone", n->name);
}

/* NULL: t has its room, or will have it; else the reason why not. */
static const char *take_room(struct session *s, const struct queue *q, const struct task *t,
			     bool binds)
{
	const struct node *n = s->cluster->nodes.v[t->awaits];
	struct reason why = { .code = "the queue has no room" };
	enum fit_result fit;

	if ((t->flags & (TASK_OUR_GATE | TASK_FOREIGN_GATE)) != 0 ||
	    session_task_status(s, t) != TASK_PENDING) {
		return "it is not to be placed any more";
	}
	if (session_task_charge(s, t) == CHARGE_NONE &&
	    ((t->flags & TASK_OPTED_IN) != 0 || !placing_quota_admits(s, q, t, &why))) {
		return why.code;
	}
	fit = fit_on(s, t, n);
	if (fit == FIT_NONE) {
		return gone_text(s, n);
	}
	/* After a bind that failed the pod pauses, and keeps its room. */
	if (binds && fit == FIT_IDLE && placing_is_candidate(s, t)) {
		statement_allocate(s, t, n);
		session_note_attempt(s, t, ATTEMPT_ALLOCATED, n, NULL);
	} else {
		session_note_attempt(s, t, ATTEMPT_PIPELINED, n, fit_explain(s, t));
		statement_pipeline(s, t, n);
	}
	return NULL;
}

static bool awaits(const struct session *s, const struct task *t)
{
	return session_task_awaits(s, t) != MODEL_NONE && t->status == TASK_PENDING;
}

/* Its gate is still on: the node is held for it beside the quota, which is what it needs first. */
static bool is_gated(const struct session *s, const struct task *t)
{
	enum charge_state charge = session_task_charge(s, t);

	return charge == CHARGE_AWAITING_VICTIMS || charge == CHARGE_PATCHING;
}

static const char *take_all(struct session *s, const struct queue *q, const struct podgroup *g,
			    bool binds)
{
	const struct task **tasks;
	const char *why = NULL;
	size_t n;

	if (q == NULL || !hooks_job_valid(s, g, NULL)) {
		return "its PodGroup is not complete, or has no queue";
	}
	tasks = order_tasks(s, g, &n);
	for (size_t i = 0; i < n && why == NULL; i++) {
		if (awaits(s, tasks[i]) && !is_gated(s, tasks[i])) {
			why = take_room(s, q, tasks[i], binds);
		}
	}
	if (why == NULL && !hooks_job_ready(s, g) && !hooks_job_pipelined(s, g)) {
		return "its gang is not complete any more";
	}
	return why;
}

static void report_in_vain(struct session *s, const struct task *t, const char *why, int64_t pause)
{
	struct decision *d = decision_add(&s->decisions, DECISION_EVENT);

	d->task = t->id;
	d->warning = true;
	d->reason = "EvictedInVain";
	d->message = arena_printf(s->arena,
				  "%u eviction%s made no room for the pod: %s; no pod is evicted "
				  "for it in the next %lld s",
				  t->victims, t->victims == 1 ? "" : "s", why,
				  (long long)(pause / CLOCK_NS_PER_S));
}

void holds_give_up(struct session *s, const struct task *t, const char *why)
{
	int64_t pause = cluster_task_pause(t->in_vain);

	statement_await(s, t, NULL, t->victims > 0 ? s->now + pause : MODEL_TIME_NONE);
	s->decisions.v[s->decisions.n - 1].warning = true;
	s->decisions.v[s->decisions.n - 1].in_vain = t->victims;
	if (session_task_charge(s, t) == CHARGE_AWAITING_VICTIMS) {
		statement_revoke(s, t, MODEL_TIME_NONE, 0);
	}
	if (t->victims > 0) {
		report_in_vain(s, t, why, pause);
	}
}

static void give_up(struct session *s, const struct podgroup *g, const char *why)
{
	struct statement st = statement_begin(s);

	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (awaits(s, t) && !is_gated(s, t)) {
			holds_give_up(s, t, why);
		}
	}
	statement_commit(s, st);
}

/* A node that a gated pod loses is no reason to give up its quota. */
static void serve_gated(struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);
		const struct node *n = awaits(s, t) ? s->cluster->nodes.v[t->awaits] : NULL;
		struct statement st;

		if (n == NULL || !is_gated(s, t)) {
			continue;
		}
		st = statement_begin(s);
		if (session_task_status(s, t) == TASK_PENDING && fit_on(s, t, n) != FIT_NONE) {
			statement_pipeline(s, t, n);
		} else {
			statement_await(s, t, NULL, MODEL_TIME_NONE);
		}
		statement_commit(s, st);
	}
}

static bool has_ungated(const struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (awaits(s, t) && !is_gated(s, t)) {
			return true;
		}
	}
	return false;
}

/* A gang that cannot start yet is pipelined as a whole: allocated members would count for it when
 * others are placed, although no bind of them is decided. */
static void serve(struct session *s, const struct podgroup *g)
{
	const struct queue *q = queue_at(s->cluster, g->queue);
	struct statement st;
	const char *why;

	if (q != NULL) {
		session_wait_for_nodes(s, q);
	}
	serve_gated(s, g);
	if (!has_ungated(s, g)) {
		return;
	}
	st = statement_begin(s);
	why = take_all(s, q, g, true);
	if (why == NULL && !hooks_job_ready(s, g)) {
		statement_discard(s, st);
		st = statement_begin(s);
		why = take_all(s, q, g, false);
	}
	if (why != NULL) {
		statement_discard(s, st);
		give_up(s, g, why);
		return;
	}
	session_note_tried(s, g);
	session_note_held(s, g);
	statement_commit(s, st);
}

void holds_run(struct session *s)
{
	const struct podgroup **v;
	size_t n;

	if (s->cluster->awaiting.n == 0) {
		return;
	}
	v = list_podgroups(s, &n);
	for (size_t i = 0; i < n; i++) {
		serve(s, v[i]);
	}
}
