#include "scheduler/pods/search/victims.h"

#include <stdlib.h>
#include <string.h>

#include "collections/bitset.h"
#include "collections/heap.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/search/rivals.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/hooks_fallback.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

#define SPARE_MAX 32 /* victims of a node among which superfluous ones are looked for */

enum victims_kind { OF_QUEUE, OF_PODGROUP, OF_ALL_QUEUES };

/* With what its place in the order and its node are found by: of 100,000 tasks, few are looked at
 * again. */
struct candidate {
	const struct task *task;
	int64_t created;
	uint32_t
		rank; /* of its PodGroup, from 1 on; before the ranks are known the PodGroup's id */
	int32_t priority, cost;
	uint32_t node;
};

/* The harm of evicting some pods of a node. Of victims in order, the last one is the worst. */
struct harm {
	uint32_t rank;
	int32_t priority, cost;
	uint32_t count;
};

/* The candidates of one node. */
struct spot {
	const struct node *node;
	struct candidate
		*v; /* sorted at the first use; the first one is always the first in order */
	size_t n;
	bool sorted;
};

/* A spot in a search: harm is at least that much. */
struct guess {
	struct spot *spot;
	struct harm harm;
	bool usable; /* the pods may use the node; not looked at before its turn comes */
};

/* Of pods that are equal for the search. */
struct search {
	const struct pod_class *klass;
	int32_t priority; /* of the PodGroup, or of the pod: see priority_for */
	uint64_t view;    /* domains_view_id */
	unsigned vote;    /* how it is asked whether there is quota: see vote_of */
	struct guess *guesses;
	struct heap heap;
	uint64_t *hopeless; /* bit set by queue id: no node can be made to fit, as things are */
};

/* Whether other queues may get back anything more from a queue. */
enum gives { GIVES_NOT_KNOWN, GIVES_MORE, GIVES_NO_MORE };

struct victims {
	struct session *session;
	enum victims_kind kind;
	bool spares_gangs;
	const struct podgroup **podgroups; /* that have candidates, in order */
	size_t npodgroups;
	struct spot *spots;
	size_t nspots, most; /* most: candidates on one node */
	struct spot all;     /* of all nodes together, in order; v NULL: not made yet */
	size_t ncandidates;
	struct VEC(struct search *) searches;
	const struct task **plan, **trial; /* most each */
	struct predecessors rivals; /* of the PodGroup that is searched for: pods/search/rivals.h */
	uint64_t *is_rival;         /* bit set of them; NULL: there were none so far */
	/* OF_ALL_QUEUES: what is known of queues in this search. */
	uint8_t *gives;             /* by queue id: enum gives */
	struct VEC(uint32_t) asked; /* ids of those that are known */
};

/* --- candidates ------------------------------------------------------------------------------- */

/* status: of the session. */
static bool is_candidate(const struct session *s, const struct task *t, enum task_status status)
{
	const uint32_t must = (uint32_t)TASK_OURS | TASK_PREEMPTABLE;

	/* A pod that is set aside could not be evicted the last time. That of a Workload belongs to
	 * ClusterQueues, which decide about it; that of another scheduler is left to its own. */
	return (t->flags & (must | TASK_GATE_ONLY)) == must &&
	       (status == TASK_RUNNING || status == TASK_BOUND) && t->klass != NULL &&
	       !t->klass->charged_to_workload && t->podgroup != MODEL_NONE &&
	       t->node != MODEL_NONE && s->cluster->nodes.v[t->node]->exists &&
	       t->charge != CHARGE_NONE && !session_task_is_set_aside(s, t);
}

struct gathering {
	struct session *session;
	struct VEC(struct candidate) found;
	struct VEC(const struct podgroup *) podgroups; /* that have candidates */
	const struct queue *queue;                     /* NULL: any */
	uint32_t *ranks, next_rank;                    /* by PodGroup id */
};

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

		if (is_candidate(s, t, status) &&
		    (g->queue == NULL || t->charge_queue == g->queue->id)) {
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

static void put_candidate(struct spot *to, const struct candidate *c)
{
	to->v[to->n] = *c;
	if (to->n > 0 && by_order(c, &to->v[0]) < 0) {
		to->v[to->n] = to->v[0];
		to->v[0] = *c;
	}
	to->n++;
}

static void sort_spot(struct spot *spot)
{
	if (!spot->sorted) {
		qsort(spot->v, spot->n, sizeof(spot->v[0]), by_order);
		spot->sorted = true;
	}
}

/* One spot for each node, its candidates side by side. */
static void make_spots(struct victims *v, const struct gathering *g)
{
	struct session *s = v->session;
	struct candidate *all = arena_alloc(s->arena, (g->found.n + 1) * sizeof(*all));
	uint32_t *spot_of = arena_zero(s->arena, s->cluster->nodes.n + 1, sizeof(*spot_of));

	v->spots = arena_zero(
		s->arena, (g->found.n < s->cluster->nodes.n ? g->found.n : s->cluster->nodes.n) + 1,
		sizeof(*v->spots));
	for (size_t i = 0; i < g->found.n; i++) {
		uint32_t *at = &spot_of[g->found.v[i].node];

		if (*at == 0) {
			*at = (uint32_t)++v->nspots;
			v->spots[*at - 1].node = s->cluster->nodes.v[g->found.v[i].node];
		}
		v->spots[*at - 1].n++;
	}
	for (size_t i = 0; i < v->nspots; i++) {
		v->spots[i].v = all;
		all += v->spots[i].n;
		v->most = v->spots[i].n > v->most ? v->spots[i].n : v->most;
		v->spots[i].n = 0;
	}
	for (size_t i = 0; i < g->found.n; i++) {
		put_candidate(&v->spots[spot_of[g->found.v[i].node] - 1], &g->found.v[i]);
	}
}

static struct victims *make(struct gathering *g, enum victims_kind kind)
{
	struct victims *v = arena_zero(g->session->arena, 1, sizeof(*v));

	v->session = g->session;
	v->kind = kind;
	for (size_t i = 0; i < g->found.n; i++) {
		g->found.v[i].rank = g->ranks[g->found.v[i].rank];
	}
	make_spots(v, g);
	v->ncandidates = g->found.n;
	v->npodgroups = g->podgroups.n;
	v->podgroups =
		arena_alloc(g->session->arena, (g->podgroups.n + 1) * sizeof(v->podgroups[0]));
	for (size_t i = 0; i < g->podgroups.n; i++) {
		v->podgroups[i] = g->podgroups.v[i];
	}
	v->plan = arena_alloc(g->session->arena, (g->found.n + 1) * sizeof(*v->plan));
	v->trial = arena_alloc(g->session->arena, (g->found.n + 1) * sizeof(*v->trial));
	vec_finish(&g->found);
	vec_finish(&g->podgroups);
	return v;
}

static struct gathering gathering_begin(struct session *s, const struct queue *q)
{
	return (struct gathering){
		.session = s,
		.queue = q,
		.ranks = arena_alloc(s->arena, (s->cluster->podgroups.n + 1) * sizeof(uint32_t)),
	};
}

struct victims *victims_of_queue(struct session *s, const struct queue *q)
{
	struct gathering g = gathering_begin(s, q);

	gather_queue(&g, q);
	return make(&g, OF_QUEUE);
}

struct victims *victims_of_podgroup(struct session *s, const struct podgroup *from)
{
	struct gathering g = gathering_begin(s, NULL);

	gather_podgroup(&g, from);
	rank_podgroups(&g, 0);
	return make(&g, OF_PODGROUP);
}

/* The queues that give, those first that are served last. */
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

struct victims *victims_of_all_queues(struct session *s)
{
	struct gathering g = gathering_begin(s, NULL);
	struct victims *v;
	size_t n;
	const struct queue **queues = list_queues(s, &n);

	for (size_t i = 0; i < n; i++) {
		g.queue = queues[i];
		gather_queue(&g, g.queue);
	}
	v = make(&g, OF_ALL_QUEUES);
	v->gives = arena_zero(s->arena, s->cluster->queues.n + 1, sizeof(*v->gives));
	return v;
}

static void forget_searches(struct victims *v)
{
	for (size_t i = 0; i < v->searches.n; i++) {
		heap_finish(&v->searches.v[i]->heap);
	}
	vec_clear(&v->searches);
}

void victims_finish(struct victims *v)
{
	if (v != NULL) {
		forget_searches(v);
		vec_finish(&v->searches);
		vec_finish(&v->asked);
		vec_finish(&v->rivals);
	}
}

void victims_spare_gangs(struct victims *v)
{
	v->spares_gangs = true;
}

const struct podgroup *victims_podgroup(const struct victims *v, size_t i)
{
	return i < v->npodgroups ? v->podgroups[i] : NULL;
}

void victims_restored(struct victims *v)
{
	forget_searches(v);
}

/* --- guesses ---------------------------------------------------------------------------------- */

static int compare_harm(const struct harm *a, const struct harm *b)
{
	if (a->rank != b->rank) {
		return a->rank < b->rank ? -1 : 1;
	}
	if (a->priority != b->priority) {
		return a->priority < b->priority ? -1 : 1;
	}
	if (a->cost != b->cost) {
		return a->cost < b->cost ? -1 : 1;
	}
	return (a->count > b->count) - (a->count < b->count);
}

static int compare_guesses(const void *a, const void *b, const void *ctx)
{
	const struct guess *x = a, *y = b;
	int r = compare_harm(&x->harm, &y->harm);

	(void)ctx;
	return r != 0 ? r : x->spot->node->id < y->spot->node->id ? -1 : 1;
}

static void add_harm(struct harm *h, const struct candidate *c)
{
	h->rank = c->rank;
	h->priority = c->priority;
	h->cost = c->cost;
	h->count++;
}

/* Not while evictions are tried: a queue gives less and less as its pods are evicted. */
static bool still_gives(struct victims *v, const struct queue *q)
{
	if (v->gives[q->id] == GIVES_NOT_KNOWN) {
		bool gives = hooks_queue_gives(v->session, q);

		v->gives[q->id] = gives ? GIVES_MORE : GIVES_NO_MORE;
		vec_push(&v->asked, q->id);
	}
	return v->gives[q->id] == GIVES_MORE;
}

/* Before a search: what was found out during the last one may be outdated. A queue that gives
 * again, since pods of it were placed, makes guesses too high. */
static void ask_queues_again(struct victims *v)
{
	bool more = false;

	for (size_t i = 0; i < v->asked.n; i++) {
		uint32_t id = v->asked.v[i];

		more = more || (v->gives[id] == GIVES_NO_MORE &&
				hooks_queue_gives(v->session, v->session->cluster->queues.v[id]));
		v->gives[id] = GIVES_NOT_KNOWN;
	}
	vec_clear(&v->asked);
	if (more) {
		forget_searches(v);
	}
}

/* The part that needs no plugin. */
static bool may_be_victim(const struct victims *v, const struct task *t, const struct task *victim)
{
	const struct cluster *c = v->session->cluster;
	enum task_status status = session_task_status(v->session, victim);

	if (status != TASK_RUNNING && status != TASK_BOUND) {
		return false; /* evicted meanwhile */
	}
	switch (v->kind) {
	case OF_QUEUE:
		return cluster_task_standing(c, victim) < cluster_task_standing(c, t);
	case OF_PODGROUP:
		return victim->priority < t->priority;
	case OF_ALL_QUEUES:
		break;
	}
	return true;
}

/* With taken on the node. */
static bool has_room(const struct spot *spot, const struct task *t, const struct res *taken)
{
	uint32_t mask = t->klass->mask | UINT32_C(1) << RES_PODS;

	return res_over(taken, &t->klass->request, &spot->node->allocatable, mask) == 0;
}

/* The resources that are taken there when the pods that terminate are gone. */
static struct res taken_on(const struct session *s, const struct node *n)
{
	struct res taken = *session_node_used(s, n);

	res_sub(&taken, session_node_releasing(s, n));
	res_add(&taken, session_node_pipelined(s, n));
	return taken;
}

/* The least harm that t can do on the node: resources alone are compared. False: not even all
 * candidates together make room. */
static bool guess_harm(struct victims *v, const struct task *t, struct spot *spot, struct harm *ret)
{
	struct session *s = v->session;
	struct res taken = taken_on(s, spot->node);

	sort_spot(spot);
	*ret = (struct harm){ .count = 0 };
	for (size_t i = 0; i < spot->n; i++) {
		const struct task *victim = spot->v[i].task;

		if (has_room(spot, t, &taken)) {
			return true;
		}
		if (may_be_victim(v, t, victim) &&
		    (v->kind != OF_ALL_QUEUES ||
		     still_gives(v, s->cluster->queues.v[victim->charge_queue]))) {
			res_sub(&taken, &victim->klass->request);
			add_harm(ret, &spot->v[i]);
		}
	}
	return has_room(spot, t, &taken);
}

/* Before anything is known of the node: none, or the first of its candidates. */
static struct harm least_harm(const struct session *s, const struct task *t,
			      const struct spot *spot)
{
	struct res taken = taken_on(s, spot->node);
	struct harm least = { .count = 0 };

	if (!has_room(spot, t, &taken)) {
		add_harm(&least, &spot->v[0]);
	}
	return least;
}

/* The priority that decides about victims of this kind. */
static int32_t priority_for(const struct victims *v, const struct task *t)
{
	switch (v->kind) {
	case OF_QUEUE:
		return cluster_task_standing(v->session->cluster, t);
	case OF_PODGROUP:
		return t->priority;
	case OF_ALL_QUEUES:
		break;
	}
	return 0;
}

static unsigned vote_of(const struct session *s, const struct task *t)
{
	if (session_task_charge(s, t) != CHARGE_NONE) {
		return 0;
	}
	return (t->flags & TASK_OPTED_IN) != 0 ? 1 : 2;
}

static struct search *start_search(struct victims *v, const struct task *t)
{
	struct session *s = v->session;
	struct search *f = arena_zero(s->arena, 1, sizeof(*f));

	f->klass = t->klass;
	f->priority = priority_for(v, t);
	f->view = domains_view_id(domains_view(s, t));
	f->vote = vote_of(s, t);
	f->hopeless =
		arena_zero(s->arena, BITSET_WORDS(s->cluster->queues.n), sizeof(*f->hopeless));
	f->guesses = arena_zero(s->arena, v->nspots + 1, sizeof(f->guesses[0]));
	heap_init(&f->heap, compare_guesses, NULL, NULL);
	for (size_t i = 0; i < v->nspots; i++) {
		f->guesses[i] =
			(struct guess){ &v->spots[i], least_harm(s, t, &v->spots[i]), false };
		heap_push(&f->heap, &f->guesses[i]);
	}
	vec_push(&v->searches, f);
	return f;
}

static struct search *find_search(struct victims *v, const struct task *t)
{
	uint64_t view = domains_view_id(domains_view(v->session, t));
	unsigned vote = vote_of(v->session, t);

	for (size_t i = 0; i < v->searches.n; i++) {
		struct search *f = v->searches.v[i];

		if (f->klass == t->klass && f->view == view && f->vote == vote &&
		    f->priority == priority_for(v, t)) {
			return f;
		}
	}
	return start_search(v, t);
}

/* --- plans ------------------------------------------------------------------------------------ */

/* Before a search: those of t's PodGroup, as things are. */
static void find_rivals(struct victims *v, const struct task *t)
{
	const struct cluster *c = v->session->cluster;

	for (size_t i = 0; i < v->rivals.n; i++) {
		bitset_clear(v->is_rival, v->rivals.v[i]);
	}
	vec_clear(&v->rivals);
	rivals_collect(v->session, c->podgroups.v[t->podgroup], &v->rivals);
	if (v->rivals.n > 0 && v->is_rival == NULL) {
		v->is_rival = arena_zero(v->session->arena, BITSET_WORDS(c->podgroups.n),
					 sizeof(*v->is_rival));
	}
	for (size_t i = 0; i < v->rivals.n; i++) {
		bitset_set(v->is_rival, v->rivals.v[i]);
	}
}

static bool is_preemptable(const struct victims *v, const struct task *t, const struct task *victim)
{
	return v->spares_gangs ? hooks_gang_preemptable(v->session, t, victim)
			       : hooks_preemptable(v->session, t, victim);
}

/* Whether its gang can spare it is another question. */
static bool is_permitted(const struct victims *v, const struct queue *q, const struct task *t,
			 const struct task *victim)
{
	struct session *s = v->session;

	if (!may_be_victim(v, t, victim) ||
	    (v->rivals.n > 0 && bitset_has(v->is_rival, victim->podgroup))) {
		return false;
	}
	switch (v->kind) {
	case OF_QUEUE:
		return victim->podgroup != t->podgroup && is_preemptable(v, t, victim);
	case OF_PODGROUP:
		return is_preemptable(v, t, victim);
	case OF_ALL_QUEUES:
		break;
	}
	return victim->charge_queue != q->id && v->gives[victim->charge_queue] != GIVES_NO_MORE &&
	       (v->spares_gangs ? hooks_gang_reclaimable(s, t, victim)
				: hooks_reclaimable(s, t, victim));
}

static bool may_evict(const struct victims *v, const struct queue *q, const struct task *t,
		      const struct task *victim)
{
	return is_permitted(v, q, t, victim) &&
	       (!v->spares_gangs || gang_can_spare(v->session, victim));
}

static bool has_quota(const struct victims *v, const struct queue *q, const struct task *t)
{
	struct reason why = { .code = NULL };

	if (session_task_charge(v->session, t) != CHARGE_NONE) {
		return true;
	}
	return (t->flags & TASK_OPTED_IN) != 0 ? placing_quota_comes(v->session, q, t) == NULL
					       : placing_quota_admits(v->session, q, t, &why);
}

static bool fits(const struct victims *v, const struct queue *q, const struct task *t,
		 const struct node *n)
{
	return (n == NULL || fit_on(v->session, t, n) != FIT_NONE) && has_quota(v, q, t);
}

static bool fits_without(const struct victims *v, const struct queue *q, const struct task *t,
			 const struct node *n, size_t count, size_t left_out)
{
	struct statement st = statement_begin(v->session);
	bool ok;

	for (size_t i = 0; i < count; i++) {
		if (i != left_out) {
			statement_evict(v->session, v->trial[i], t, NULL);
		}
	}
	ok = fits(v, q, t, n);
	statement_discard(v->session, st);
	return ok;
}

/* A small victim is superfluous when a larger one that came after it makes room enough. */
static size_t spare_some(const struct victims *v, const struct queue *q, const struct task *t,
			 const struct node *n, size_t count)
{
	for (size_t i = count - 1; count <= SPARE_MAX && i-- > 0;) {
		if (fits_without(v, q, t, n, count, i)) {
			memmove(&v->trial[i], &v->trial[i + 1],
				(count - i - 1) * sizeof(v->trial[0]));
			count--;
		}
	}
	return count;
}

/* Whether the queue that lacks room for t is one of the victim's. */
static bool frees_quota(const struct victims *v, const struct queue *q, const struct task *t,
			const struct task *victim)
{
	const struct queue *full = placing_quota_comes(v->session, q, t);

	return full != NULL && queue_is_within(v->session->cluster, victim->charge_queue, full);
}

/* Leaves the victims in v->trial; false: t does not fit the node. */
static bool try_spot(const struct victims *v, const struct queue *q, const struct task *t,
		     const struct spot *spot, struct harm *ret)
{
	struct statement st = statement_begin(v->session);
	bool ok = fits(v, q, t, spot->node);
	size_t n = 0;

	*ret = (struct harm){ .count = 0 };
	for (size_t i = 0; i < spot->n && !ok; i++) {
		if (!may_evict(v, q, t, spot->v[i].task) ||
		    (spot->node == NULL && !frees_quota(v, q, t, spot->v[i].task))) {
			continue;
		}
		statement_evict(v->session, spot->v[i].task, t, NULL);
		add_harm(ret, &spot->v[i]);
		v->trial[n++] = spot->v[i].task;
		ok = fits(v, q, t, spot->node);
	}
	statement_discard(v->session, st);
	if (ok && n > 1) {
		ret->count = (uint32_t)spare_some(v, q, t, spot->node, n);
	}
	return ok;
}

static const char *describe(const struct victims *v, const struct queue *q, const struct task *t)
{
	const struct session *s = v->session;

	return arena_printf(
		s->arena, "evicted to make room for pod %s/%s of PodGroup %s in queue %s",
		t->namespace_, t->name, s->cluster->podgroups.v[t->podgroup]->name, q->name);
}

static void evict(const struct victims *v, const struct queue *q, const struct task *t,
		  size_t count)
{
	struct session *s = v->session;
	const char *message = count == 0 ? NULL : describe(v, q, t);

	for (size_t i = 0; i < count; i++) {
		struct decision *d;

		statement_evict(s, v->plan[i], t, message);
		d = decision_add(&s->decisions, DECISION_EVENT);
		d->task = v->plan[i]->id;
		d->reason = v->kind == OF_ALL_QUEUES ? "Reclaimed" : "Preempted";
		d->message = message;
	}
}

/* The cheap question first. */
static bool guess_again(struct victims *v, const struct task *t, struct guess *g)
{
	if (!guess_harm(v, t, g->spot, &g->harm)) {
		return false;
	}
	g->usable = g->usable || hooks_class_predicate(v->session, t->klass, g->spot->node, NULL);
	return g->usable;
}

/* A guess is too low where plugins protect victims, the node has changed since, or the node was not
 * looked at yet: it is made again when it comes to the top, and then tried.
 * 1. Take the spot with the lowest guess; guess again, and put it back if it is worse by now.
 * 2. Try it: plugins and predicates have their say.
 * 3. Done when the best that was tried is at least as good as the lowest guess.
 * 4. Put the spots that were tried back. */
static bool find_best(struct victims *v, struct search *f, const struct queue *q,
		      const struct task *t, struct guess *ret)
{
	struct VEC(struct guess *) tried = VEC_INIT;
	struct guess *g;
	bool found = false;

	while ((g = heap_pop(&f->heap)) != NULL) {
		struct harm harm = g->harm;

		if (!guess_again(v, t, g)) {
			continue;
		}
		if (compare_harm(&harm, &g->harm) != 0) {
			heap_push(&f->heap, g);
			continue;
		}
		if (found && compare_harm(&ret->harm, &g->harm) <= 0) {
			heap_push(&f->heap, g);
			break;
		}
		vec_push(&tried, g);
		if (try_spot(v, q, t, g->spot, &harm) &&
		    (!found || compare_harm(&harm, &ret->harm) < 0)) {
			const struct task **better = v->trial;

			v->trial = v->plan;
			v->plan = better;
			*ret = (struct guess){ g->spot, harm, true };
			found = true;
		}
	}
	for (size_t i = 0; i < tried.n; i++) {
		heap_push(&f->heap, tried.v[i]);
	}
	vec_finish(&tried);
	return found;
}

const struct node *victims_make_room(struct victims *v, const struct queue *q, const struct task *t)
{
	struct guess best = { .spot = NULL };
	struct search *f;

	if (v->nspots == 0 || t->klass->unsupported != NULL || t->klass->unoffered.n > 0) {
		return NULL;
	}
	ask_queues_again(v);
	find_rivals(v, t);
	f = find_search(v, t);
	if (bitset_has(f->hopeless, q->id)) {
		return NULL;
	}
	if (!find_best(v, f, q, t, &best)) {
		/* Rivals are those of one PodGroup. */
		if (v->rivals.n == 0) {
			bitset_set(f->hopeless, q->id);
		}
		return NULL;
	}
	evict(v, q, t, best.harm.count);
	return best.spot->node;
}

/* All candidates in order, whatever their nodes. */
static const struct spot *all_spots(struct victims *v)
{
	struct candidate *at;

	if (v->all.v != NULL) {
		return &v->all;
	}
	v->all.v = at = arena_alloc(v->session->arena, (v->ncandidates + 1) * sizeof(*at));
	for (size_t i = 0; i < v->nspots; i++) {
		memcpy(at, v->spots[i].v, v->spots[i].n * sizeof(*at));
		at += v->spots[i].n;
	}
	v->all.n = v->ncandidates;
	qsort(v->all.v, v->all.n, sizeof(v->all.v[0]), by_order);
	return &v->all;
}

bool victims_make_quota(struct victims *v, const struct queue *q, const struct task *t)
{
	const struct task **plan = v->plan;
	struct harm harm;

	ask_queues_again(v);
	find_rivals(v, t);
	if (v->ncandidates == 0 || !try_spot(v, q, t, all_spots(v), &harm)) {
		return false;
	}
	v->plan = v->trial;
	v->trial = plan;
	evict(v, q, t, harm.count);
	return true;
}

bool victims_evict_podgroup(struct victims *v, const struct queue *q, const struct task *t,
			    const struct podgroup *from)
{
	struct session *s = v->session;
	struct statement st = statement_begin(s);
	const struct task **plan = v->plan;
	bool permitted = true;
	size_t n = 0;

	ask_queues_again(v);
	find_rivals(v, t);
	for (size_t i = 0; i < from->tasks.n && permitted; i++) {
		const struct task *victim = session_task(s, from->tasks.v[i]);

		if (!is_candidate(s, victim, session_task_status(s, victim)) ||
		    victim->charge_queue != from->queue) {
			continue;
		}
		permitted = is_permitted(v, q, t, victim);
		if (permitted) {
			statement_evict(s, victim, t, NULL);
			v->trial[n++] = victim;
		}
	}
	statement_discard(s, st);
	if (!permitted || n == 0) {
		return false;
	}
	v->plan = v->trial;
	v->trial = plan;
	evict(v, q, t, n);
	/* Pods that no node could be made to fit may fit now. */
	forget_searches(v);
	return true;
}
