#include "scheduler/pods/actions/evict_step.h"

#include "base/arena.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

/* preemptionPolicy Never holds for reclaiming as well, as in Volcano. */
static bool may_preempt(struct session *s, const struct queue *q, const struct task *t)
{
	/* The preemption for pods of other schedulers is theirs. */
	if ((t->flags & (TASK_PREEMPT_NEVER | TASK_GATE_ONLY)) != 0 ||
	    (!placing_is_candidate(s, t) && !gang_is_candidate(s, t))) {
		return false;
	}
	if (!session_task_may_preempt(s, t)) {
		session_wait_until(s, q, t->preempt_at);
		return false;
	}
	return true;
}

bool evict_step_is_starving(struct session *s, const struct podgroup *g)
{
	return g->exists && session_podgroup_count(s, g, TASK_PENDING) > 0 &&
	       hooks_job_starving(s, g) && hooks_job_valid(s, g, NULL);
}

/* As for allocate, the phase matters to pods that did not opt in. */
static bool has_phase(const struct session *s, const struct podgroup *g, const struct task *t)
{
	return (t->flags & TASK_OPTED_IN) != 0 || session_podgroup_phase(s, g) != PODGROUP_PENDING;
}

struct evict_work *evict_step_collect(struct session *s, const struct queue *q,
				      const struct podgroup *g)
{
	struct evict_work *w;

	if (!evict_step_is_starving(s, g)) {
		return NULL;
	}
	w = arena_zero(session_arena(s), 1, sizeof(*w));
	w->order.podgroup = w->podgroup = g;
	w->queue = q;
	w->tasks = arena_alloc(session_arena(s), (g->tasks.n + 1) * sizeof(*w->tasks));
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (has_phase(s, g, t) && may_preempt(s, q, t)) {
			w->tasks[w->n++] = t;
		}
	}
	order_sort(s, w->tasks, w->n);
	return w->n > 0 ? w : NULL;
}

/* Those before it may have used up what the queue may take back. */
static bool is_entitled(struct session *s, const struct evict_work *w, const struct task *t)
{
	return !w->reclaims || hooks_preemptive(s, w->queue, t);
}

static const struct node *find_room(struct session *s, const struct evict_work *w,
				    struct victims *v, const struct task *t)
{
	struct reason why = { .code = NULL };
	const struct node *n = NULL;

	if ((session_task_charge(s, t) != CHARGE_NONE ||
	     placing_quota_admits(s, w->queue, t, &why)) &&
	    fit_find(s, t, &n) != FIT_NONE) {
		return n;
	}
	return victims_make_room(v, w->queue, t);
}

/* Quota for a pod that has none, and a node if evictions make room there as well. */
static bool await_quota(struct session *s, const struct evict_work *w, struct victims *v,
			const struct task *t)
{
	const struct node *n = NULL;

	if (placing_quota_comes(s, w->queue, t) != NULL) {
		n = victims_make_room(v, w->queue, t);
		if (n == NULL && !victims_make_quota(v, w->queue, t)) {
			return false;
		}
	} else if (w->evicts) {
		(void)fit_find(s, t, &n);
	}
	statement_await_quota(s, t);
	if (n != NULL) {
		statement_pipeline(s, t, n);
	}
	return true;
}

static bool may_await(const struct session *s, const struct gang_need *need, const struct task *t)
{
	return gang_is_candidate(s, t) && (gang_is_met(need) || gang_needs_role(need, t->role));
}

/* The members that the gang lacks, or one pod beyond it: as allocate reserves quota. */
static bool await_members(struct session *s, struct evict_work *w, struct victims *v)
{
	struct gang_need need;
	bool awaits = false;

	gang_need(s, w->podgroup, GANG_RESERVED, &need);
	while (w->next < w->n && (!awaits || !gang_is_met(&need))) {
		const struct task *t = w->tasks[w->next++];

		if (may_await(s, &need, t) && is_entitled(s, w, t) && await_quota(s, w, v, t)) {
			gang_add_member(&need, t->role);
			awaits = true;
		}
	}
	if (awaits) { /* the victims may be of this gang: it is counted again without them */
		gang_need(s, w->podgroup, GANG_RESERVED, &need);
	}
	return awaits && gang_is_met(&need);
}

/* Until those are placed that the PodGroup needs: the rest is elastic, and others go before it. */
static bool place_members(struct session *s, struct evict_work *w, struct victims *v)
{
	bool placed = false;

	while (w->next < w->n && hooks_job_starving(s, w->podgroup)) {
		const struct task *t = w->tasks[w->next++];
		const struct node *n = placing_is_candidate(s, t) && is_entitled(s, w, t)
					       ? find_room(s, w, v, t)
					       : NULL;

		if (n == NULL) {
			continue;
		}
		statement_pipeline(s, t, n);
		placed = true;
		if (hooks_job_pipelined(s, w->podgroup)) {
			break;
		}
	}
	return placed && hooks_job_pipelined(s, w->podgroup);
}

static bool has_evictions(const struct session *s, const struct statement *st)
{
	const struct decisions *d = session_decisions_so_far(s);

	for (size_t i = st->decision_mark; i < d->n; i++) {
		if (d->v[i].kind == DECISION_EVICT) {
			return true;
		}
	}
	return false;
}

/* A pod that finds no room keeps the note that allocate made about it. */
static void note_places(struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_status(s, t) == TASK_PIPELINED) {
			session_note_attempt(s, t, ATTEMPT_PIPELINED,
					     session_cluster(s)->nodes.v[session_task_node(s, t)],
					     fit_explain(s, t));
		}
	}
}

/* The room of every member is held: without one of them the others would wait in vain. */
static void hold_room(struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (session_task_status(s, t) == TASK_PIPELINED &&
		    session_task_awaits(s, t) == MODEL_NONE) {
			statement_await(s, t, session_cluster(s)->nodes.v[session_task_node(s, t)],
					MODEL_TIME_NONE);
		}
	}
}

/* Then allocate binds what fits without evictions, be it before or after this action. */
static bool allocates(const struct session *s)
{
	return conf_action(session_conf(s), "allocate") != NULL;
}

static bool wants_quota(const struct session *s, const struct evict_work *w)
{
	for (size_t i = w->next; i < w->n; i++) {
		if (gang_is_candidate(s, w->tasks[i])) {
			return true;
		}
	}
	return false;
}

const struct task *evict_step_preemptor(const struct session *s, const struct evict_work *w)
{
	const struct cluster *c = session_cluster(s);
	const struct task *least = NULL;
	bool for_quota = wants_quota(s, w);
	struct gang_need need;

	gang_need(s, w->podgroup, for_quota ? GANG_RESERVED : GANG_PIPELINED, &need);
	for (size_t i = w->next; i < w->n && (least == NULL || !gang_is_met(&need)); i++) {
		const struct task *t = w->tasks[i];

		if (for_quota && !may_await(s, &need, t)) {
			continue;
		}
		if (least == NULL || (!w->reclaims && cluster_task_standing(c, t) <
							      cluster_task_standing(c, least))) {
			least = t;
		}
		gang_add_member(&need, t->role);
	}
	return least == NULL ? w->tasks[w->next] : least;
}

static void note_awaited_quota(struct session *s, const struct podgroup *g)
{
	struct decision *d = decision_add(session_decisions(s), DECISION_EVENT);

	d->podgroup = g->id;
	d->reason = "AwaitingVictims";
	d->message = "pods are evicted: their quota is held for this PodGroup, and its gates are "
		     "removed when they are gone";
	if (session_podgroup_phase(s, g) == PODGROUP_PENDING) {
		statement_set_phase(s, g, PODGROUP_INQUEUE);
	}
}

static void note_held_room(struct session *s, const struct podgroup *g)
{
	session_note_tried(s, g);
	session_note_held(s, g);
	note_places(s, g);
}

/* 1. Pods without quota that opted in get that of their victims; else pods are placed.
 * 2. Without evictions there is nothing to do that allocate does not do as well: the pods that are
 *    left may have others evicted if the PodGroup starves even with these.
 * 3. The room of the victims is held. */
bool evict_step_serve(struct session *s, struct evict_work *w, struct victims *v)
{
	struct statement st = statement_begin(s);
	bool for_quota = wants_quota(s, w);
	bool served = for_quota ? await_members(s, w, v) : place_members(s, w, v);
	bool evicts = w->evicts || has_evictions(s, &st);

	session_wait_for_nodes(s, w->queue);
	session_wait_until(s, w->queue, victims_again_at(v));
	if (!served || (!evicts && (for_quota || allocates(s)))) {
		bool goes_on = served && !for_quota && hooks_job_starving(s, w->podgroup);

		w->fits = served;
		statement_discard(s, st);
		if (evicts) {
			victims_restored(v);
		}
		w->next = goes_on ? w->next : w->n;
		return goes_on;
	}
	if (for_quota) {
		note_awaited_quota(s, w->podgroup);
	} else {
		note_held_room(s, w->podgroup);
	}
	if (evicts) {
		hold_room(s, w->podgroup);
	}
	statement_commit(s, st);
	return true;
}
