#include "base/arena.h"
#include "scheduler/pods/actions/allocate_gate.h"
#include "scheduler/pods/actions/allocate_place.h"
#include "scheduler/pods/actions/registry.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"

static struct allocate_run start_run(struct session *s)
{
	const struct sched_conf *conf = session_conf(s);

	return (struct allocate_run){
		.session = s,
		/* With the feature off there are no gates, and quota only holds back publication.
		 */
		.reserves = session_has_quota_plugin(s) || !conf->gates_admission,
		.enqueue_configured = conf_action(conf, "enqueue") != NULL,
		.refused = arena_zero(session_arena(s), session_cluster(s)->queues.n + 1,
				      sizeof(struct allocate_refusal)),
	};
}

static void list_init(struct session *s, struct allocate_list *l, size_t room)
{
	l->v = arena_alloc(session_arena(s), (room + 1) * sizeof(l->v[0]));
}

static void collect_task(struct allocate_run *run, struct allocate_work *w, const struct task *t)
{
	struct session *s = run->session;
	/* With the feature off its gate goes without quota, which is asked for afterwards, before
	 * the pod is published. */
	bool drained = !session_conf(s)->gates_admission && (t->flags & TASK_OUR_GATE) != 0;

	w->opted_in |= (t->flags & TASK_OPTED_IN) != 0;
	if (allocate_gate_remove_uncharged(run, w->queue, t)) {
		return;
	}
	if (placing_is_candidate(s, t)) {
		w->place.v[w->place.n++] = t;
	} else if (!drained && gang_is_candidate(s, t)) {
		w->reserve.v[w->reserve.n++] = t;
	}
}

static bool holds_unbound_charge(const struct session *s, const struct podgroup *g)
{
	for (size_t i = 0; i < g->tasks.n; i++) {
		if (ledger_is_unbound(session_task_charge(s, session_task(s, g->tasks.v[i])))) {
			return true;
		}
	}
	return false;
}

/* NULL when there is nothing to do for the PodGroup. */
static struct allocate_work *collect_podgroup(struct allocate_run *run, const struct queue *q,
					      const struct podgroup *g)
{
	struct session *s = run->session;
	struct allocate_work *w;

	/* Also one without pods: Volcano's Jobs create them when their PodGroup is Inqueue. */
	if (!run->enqueue_configured && g->exists &&
	    session_podgroup_phase(s, g) == PODGROUP_PENDING) {
		statement_set_phase(s, g, PODGROUP_INQUEUE);
	}
	/* Most PodGroups are placed: their tasks are not looked at. */
	if (session_podgroup_count(s, g, TASK_PENDING) == 0) {
		return NULL;
	}
	w = arena_zero(session_arena(s), 1, sizeof(*w));
	w->order.podgroup = w->podgroup = g;
	w->queue = q;
	list_init(s, &w->reserve, g->tasks.n);
	list_init(s, &w->place, g->tasks.n);
	for (size_t i = 0; i < g->tasks.n; i++) {
		collect_task(run, w, session_task(s, g->tasks.v[i]));
	}
	/* A PodGroup that holds quota is placed, whatever its phase. */
	if (session_podgroup_phase(s, g) == PODGROUP_PENDING && w->opted_in &&
	    holds_unbound_charge(s, g)) {
		statement_set_phase(s, g, PODGROUP_INQUEUE);
	}
	if (!g->exists || g->queue == MODEL_NONE || w->reserve.n + w->place.n == 0) {
		return NULL;
	}
	/* Before the sorting, which the pods of a full queue do not need. */
	if (w->place.n == 0 && allocate_gate_has_no_room(run, w)) {
		return NULL;
	}
	order_sort(s, w->reserve.v, w->reserve.n);
	order_sort(s, w->place.v, w->place.n);
	if (w->reserve.n > 0) {
		gang_need(s, g, GANG_RESERVED, &w->need);
		w->order.filled = gang_is_met(&w->need);
		w->order.first = !w->order.filled && w->need.missing < g->min_member;
	}
	return w;
}

static void collect_queue(struct allocate_run *run, const struct queue *q, struct order *o)
{
	const struct podgroup_list *l = session_podgroups(run->session, q);

	for (size_t k = 0; k < l->n; k++) {
		struct allocate_work *w = collect_podgroup(run, q, l->v[k]);

		/* A PodGroup in a queue that does not exist may have gates that need no quota, and
		 * no more. */
		if (w != NULL && q->exists) {
			order_add(o, &w->order);
		}
	}
}

static void collect(struct allocate_run *run, struct order *o)
{
	const struct cluster *c = session_cluster(run->session);

	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL && session_is_due(run->session, c->queues.v[i])) {
			collect_queue(run, c->queues.v[i], o);
		}
	}
}

static bool has_more(const struct allocate_work *w)
{
	return w->reserve.next < w->reserve.n || w->place.next < w->place.n;
}

/* As in Volcano, an overused queue gets nothing more in this cycle. Pods that opted in are not
 * asked that: they have quota or get it up to the configured limit, which is not the present
 * cluster's.
 */
static struct order_podgroup *next_opted_in(struct allocate_run *run, struct order_queue *q)
{
	struct order_podgroup *next;

	session_wait_for_podgroups(run->session, q->queue);
	session_wait_for_nodes(run->session, q->queue);
	while ((next = order_next_podgroup(q)) != NULL) {
		struct allocate_work *w = CONTAINER_OF(next, struct allocate_work, order);

		w->overused = true;
		if (w->opted_in) {
			break;
		}
		session_note_refusal(run->session, w->podgroup, "overused", ALLOCATE_OVERUSED);
	}
	return next;
}

/* Serves one PodGroup. True: the queue may have more work. */
static bool serve_queue(struct allocate_run *run, struct order_queue *q)
{
	struct order_podgroup *next;
	struct allocate_work *w;
	bool got;

	next = hooks_overused(run->session, q->queue) ? next_opted_in(run, q)
						      : order_next_podgroup(q);
	if (next == NULL) {
		return false;
	}
	w = CONTAINER_OF(next, struct allocate_work, order);
	/* Quota first: a pod without a gate that gets it now can be placed in the same step. */
	got = allocate_gate_step(run, w);
	got |= allocate_place_step(run, w);
	w->order.filled = w->reserve.n > 0 && gang_is_met(&w->need);
	w->order.first = w->order.first && !w->order.filled;
	if (got && has_more(w)) {
		heap_push(&q->podgroups, next);
	}
	return true;
}

/* 1. Remove gates that need no quota; collect PodGroups with work per queue.
 * 2. Take the first queue, and its first PodGroup; gangs that have begun come first.
 * 3. Reserve quota for its gang, or for one pod beyond it.
 * 4. Find nodes until the PodGroup is ready.
 * 5. A PodGroup that made progress and has more work is queued again, and so is the queue, with its
 *    new share. */
void allocate_run(struct session *s)
{
	struct allocate_run run = start_run(s);
	struct order_queue *q;
	struct order o;

	if (!session_conf(s)->gates_admission) {
		allocate_gate_drain(s);
	}
	order_init(&o, s);
	collect(&run, &o);
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		if (serve_queue(&run, q)) {
			order_put_back(&o, q);
		}
	}
	order_finish(&o);
}
