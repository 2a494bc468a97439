#include "scheduler/pods/search/candidates.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collections/bitset.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/hooks_fallback.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/values/pod_class.h"

/* That of a Workload belongs to ClusterQueues, which decide about it; that of another scheduler is
 * left to its own. */
static bool could_be_evicted(const struct session *s, const struct task *t, enum task_status status)
{
	const uint32_t must = (uint32_t)TASK_OURS | TASK_PREEMPTABLE;

	return (t->flags & (must | TASK_GATE_ONLY)) == must &&
	       (status == TASK_RUNNING || status == TASK_BOUND) && t->klass != NULL &&
	       !t->klass->charged_to_workload && t->podgroup != MODEL_NONE &&
	       t->node != MODEL_NONE && s->cluster->nodes.v[t->node]->exists &&
	       t->charge != CHARGE_NONE;
}

bool candidates_includes(const struct session *s, const struct task *t, enum task_status status)
{
	/* A pod that is set aside could not be evicted the last time. */
	return !session_task_is_set_aside(s, t) && could_be_evicted(s, t, status);
}

/* For as long as the longest pause takes: what kept it from being evicted may be over by then. */
static bool was_refused_lately(const struct session *s, const struct task *t)
{
	return (t->flags & TASK_EVICTION_REFUSED) != 0 && t->retry_at != MODEL_TIME_NONE &&
	       s->now - t->retry_at < cluster_task_pause(UINT_MAX);
}

struct gathering {
	struct session *session;
	struct VEC(struct candidate) found;
	struct VEC(const struct podgroup *) podgroups; /* that have candidates */
	const struct queue *queue;                     /* NULL: any */
	uint32_t *ranks, next_rank;                    /* by PodGroup id */
	int64_t again_at;                              /* as in struct candidates */
};

/* A pod that needs its room waits for the end of the pause. */
static void note_pause(struct gathering *g, const struct task *t, enum task_status status)
{
	if ((t->flags & TASK_PARKED) == 0 && t->retry_at != MODEL_TIME_NONE &&
	    t->retry_at > g->session->now && t->retry_at < g->again_at &&
	    could_be_evicted(g->session, t, status)) {
		g->again_at = t->retry_at;
	}
}

static bool is_gathered(struct gathering *g, const struct task *t, enum task_status status)
{
	if (g->queue != NULL && t->charge_queue != g->queue->id) {
		return false;
	}
	if (candidates_includes(g->session, t, status)) {
		return true;
	}
	note_pause(g, t, status);
	return false;
}

static void gather_podgroup(struct gathering *g, const struct podgroup *from)
{
	struct session *s = g->session;
	/* Spares a look at the overlay for each pod. */
	bool touched = session_priv_is_touched(s, from);
	size_t before = g->found.n;

	for (size_t i = 0; i < from->tasks.n; i++) {
		const struct task *t = session_task(s, from->tasks.v[i]);
		enum task_status status =
			touched ? session_task_status(s, t) : (enum task_status)t->status;

		if (is_gathered(g, t, status)) {
			struct candidate c = { .task = t,
					       .created = t->created,
					       .rank = from->id,
					       .priority = t->priority,
					       .cost = t->deletion_cost,
					       .node = t->node };

			vec_push(&g->found, c);
		}
	}
	if (g->found.n > before) {
		vec_push(&g->podgroups, from);
	}
}

static int by_queue(const void *a, const void *b, void *ctx)
{
	const struct queue *const *x = a, *const *y = b;

	return hooks_queue_order(*(const struct session *const *)ctx, *y, *x);
}

/* The PodGroup that plugins prefer loses last. */
static int by_standing(const void *a, const void *b, void *ctx)
{
	const struct podgroup *const *x = a, *const *y = b;
	int r = hooks_job_preference(*(const struct session *const *)ctx, *y, *x);

	return r != 0 ? r : ((*x)->priority > (*y)->priority) - ((*x)->priority < (*y)->priority);
}

/* PodGroups that are equal in this order have one rank. podgroups[from ..] are those of one queue,
 * which is served before the ones that were ranked so far: it loses later. */
static void rank_podgroups(struct gathering *g, size_t from)
{
	size_t n = g->podgroups.n - from;
	const struct podgroup **v = n > 0 ? &g->podgroups.v[from] : NULL;

	if (n > 1) {
		qsort_r(v, n, sizeof(v[0]), by_standing, &g->session);
	}
	for (size_t i = 0; i < n; i++) {
		g->next_rank += i == 0 || by_standing(&v[i - 1], &v[i], &g->session) != 0;
		g->ranks[v[i]->id] = g->next_rank;
	}
}

static void gather_queue(struct gathering *g, const struct queue *q)
{
	size_t ranked = g->podgroups.n;

	for (size_t i = 0; i < q->podgroups.n; i++) {
		const struct podgroup *from = g->session->cluster->podgroups.v[q->podgroups.v[i]];

		if (from->exists &&
		    session_podgroup_count(g->session, from, TASK_RUNNING) +
				    session_podgroup_count(g->session, from, TASK_BOUND) >
			    0) {
			gather_podgroup(g, from);
		}
	}
	rank_podgroups(g, ranked);
}

static int by_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	if (x->priority != y->priority) {
		return x->priority < y->priority ? -1 : 1;
	}
	if (x->cost != y->cost) {
		return x->cost < y->cost ? -1 : 1;
	}
	/* The younger one has done less. */
	if (x->created != y->created) {
		return x->created > y->created ? -1 : 1;
	}
	return hooks_fallback_task(y->task, x->task);
}

static void put_candidate(struct candidates_spot *to, const struct candidate *c)
{
	to->v[to->n] = *c;
	if (to->n > 0 && by_order(c, &to->v[0]) < 0) {
		to->v[to->n] = to->v[0];
		to->v[0] = *c;
	}
	to->n++;
}

void candidates_sort(struct candidates_spot *spot)
{
	if (!spot->sorted) {
		qsort(spot->v, spot->n, sizeof(spot->v[0]), by_order);
		spot->sorted = true;
	}
}

/* One spot for each node, its candidates side by side. */
static void make_spots(const struct gathering *g, struct candidates *ret)
{
	struct session *s = g->session;
	size_t nnodes = s->cluster->nodes.n;
	struct candidate *all = arena_alloc(s->arena, (g->found.n + 1) * sizeof(*all));
	uint32_t *spot_of = arena_zero(s->arena, nnodes + 1, sizeof(*spot_of));

	ret->spots = arena_zero(s->arena, (g->found.n < nnodes ? g->found.n : nnodes) + 1,
				sizeof(*ret->spots));
	for (size_t i = 0; i < g->found.n; i++) {
		uint32_t *at = &spot_of[g->found.v[i].node];

		if (*at == 0) {
			*at = (uint32_t)++ret->nspots;
			ret->spots[*at - 1].node = s->cluster->nodes.v[g->found.v[i].node];
		}
		ret->spots[*at - 1].n++;
	}
	for (size_t i = 0; i < ret->nspots; i++) {
		ret->spots[i].v = all;
		all += ret->spots[i].n;
		ret->spots[i].n = 0;
	}
	for (size_t i = 0; i < g->found.n; i++) {
		put_candidate(&ret->spots[spot_of[g->found.v[i].node] - 1], &g->found.v[i]);
	}
}

static struct gathering gathering_begin(struct session *s, const struct queue *q)
{
	return (struct gathering){
		.session = s,
		.queue = q,
		.ranks = arena_alloc(s->arena, (s->cluster->podgroups.n + 1) * sizeof(uint32_t)),
		.again_at = INT64_MAX,
	};
}

/* PodGroups in order, those with a pod that was refused lately after the others. */
static void list_podgroups(const struct gathering *g, const uint64_t *refused,
			   struct candidates *ret)
{
	size_t n = 0;

	ret->podgroups =
		arena_alloc(g->session->arena, (g->podgroups.n + 1) * sizeof(ret->podgroups[0]));
	for (int last = 0; last <= 1; last++) {
		for (size_t i = 0; i < g->podgroups.n; i++) {
			if (bitset_has(refused, g->podgroups.v[i]->id) == (last == 1)) {
				ret->podgroups[n++] = g->podgroups.v[i];
			}
		}
	}
	ret->npodgroups = n;
}

/* The rank of a candidate is known when all PodGroups are gathered: until then it is the id of its
 * PodGroup. A pod that was refused lately has a rank beyond all others, so that those are tried
 * first: its pause ends at the same time as that of the pod which it was to go for. */
static void gathering_end(struct gathering *g, struct candidates *ret)
{
	uint64_t *refused =
		arena_zero(g->session->arena, BITSET_WORDS(g->session->cluster->podgroups.n) + 1,
			   sizeof(*refused));

	*ret = (struct candidates){ .n = g->found.n, .again_at = g->again_at };
	for (size_t i = 0; i < g->found.n; i++) {
		struct candidate *c = &g->found.v[i];
		uint32_t podgroup = c->rank;

		c->rank = g->ranks[podgroup];
		if (was_refused_lately(g->session, c->task)) {
			c->rank += g->next_rank;
			bitset_set(refused, podgroup);
		}
	}
	make_spots(g, ret);
	list_podgroups(g, refused, ret);
	vec_finish(&g->found);
	vec_finish(&g->podgroups);
}

void candidates_of_queue(struct session *s, const struct queue *q, struct candidates *ret)
{
	struct gathering g = gathering_begin(s, q);

	gather_queue(&g, q);
	gathering_end(&g, ret);
}

void candidates_of_podgroup(struct session *s, const struct podgroup *from, struct candidates *ret)
{
	struct gathering g = gathering_begin(s, NULL);

	gather_podgroup(&g, from);
	rank_podgroups(&g, 0);
	gathering_end(&g, ret);
}

/* The queues that give, those that are served last first. */
static const struct queue **list_queues(struct session *s, size_t *ret_n)
{
	const struct cluster *c = s->cluster;
	const struct queue **v = arena_alloc(s->arena, (c->queues.n + 1) * sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q != NULL && q->exists && q->reclaimable && q->podgroups.n > 0 &&
		    hooks_queue_gives(s, q)) {
			v[n++] = q;
		}
	}
	if (n > 1) {
		qsort_r(v, n, sizeof(v[0]), by_queue, &s);
	}
	*ret_n = n;
	return v;
}

void candidates_of_all_queues(struct session *s, struct candidates *ret)
{
	struct gathering g = gathering_begin(s, NULL);
	size_t n;
	const struct queue **queues = list_queues(s, &n);

	for (size_t i = 0; i < n; i++) {
		g.queue = queues[i];
		gather_queue(&g, g.queue);
	}
	gathering_end(&g, ret);
}

struct candidates_spot candidates_on_all_nodes(struct session *s, const struct candidates *c)
{
	struct candidate *at = arena_alloc(s->arena, (c->n + 1) * sizeof(*at));
	struct candidates_spot all = { .v = at, .n = c->n };

	for (size_t i = 0; i < c->nspots; i++) {
		memcpy(at, c->spots[i].v, c->spots[i].n * sizeof(*at));
		at += c->spots[i].n;
	}
	candidates_sort(&all);
	return all;
}
