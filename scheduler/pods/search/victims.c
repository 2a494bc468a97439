#include "scheduler/pods/search/victims.h"

#include <string.h>

#include "collections/bitset.h"
#include "collections/heap.h"
#include "scheduler/pods/search/candidates.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/search/rivals.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/gang.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/session_priv.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

#define SPARE_MAX 32 /* victims of a node among which superfluous ones are looked for */
#define TRIES_MAX 32 /* candidates of a node from which on victims are looked for */

enum victims_kind { OF_QUEUE, OF_PODGROUP, OF_ALL_QUEUES };

/* The harm of evicting some pods of a node. Of victims in order, the last one is the worst. */
struct harm {
	uint32_t rank;
	int32_t priority, cost;
	uint32_t count;
};

/* A spot in a search: harm is at least that much. */
struct guess {
	struct candidates_spot *spot;
	struct harm harm;
	bool usable; /* the pods may use the node; not looked at before its turn comes */
};

/* Victims of a spot that were evicted one after the other, in v->trial. */
struct tried {
	struct harm harm;
	size_t n;
	/* Index of the first candidate that plugins refused once others were evicted, if it is not
	 * equal to the first of these; the number of candidates: none. */
	size_t again;
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
	struct candidates candidates;
	struct candidates_spot all; /* of all nodes together; v NULL: not made yet */
	struct VEC(struct search *) searches;
	const struct task **plan, **trial; /* with room for all candidates each */
	struct predecessors rivals; /* of the PodGroup that is searched for: pods/search/rivals.h */
	uint64_t *is_rival;         /* bit set of them; NULL: there were none so far */
	/* OF_ALL_QUEUES: what is known of queues in this search. */
	uint8_t *gives;             /* by queue id: enum gives */
	struct VEC(uint32_t) asked; /* ids of those that are known */
};

static struct victims *make(struct session *s, enum victims_kind kind)
{
	struct victims *v = arena_zero(s->arena, 1, sizeof(*v));

	v->session = s;
	v->kind = kind;
	return v;
}

/* After its candidates are known. */
static struct victims *make_plans(struct victims *v)
{
	struct arena *arena = v->session->arena;

	v->plan = arena_alloc(arena, (v->candidates.n + 1) * sizeof(*v->plan));
	v->trial = arena_alloc(arena, (v->candidates.n + 1) * sizeof(*v->trial));
	return v;
}

struct victims *victims_of_queue(struct session *s, const struct queue *q)
{
	struct victims *v = make(s, OF_QUEUE);

	candidates_of_queue(s, q, &v->candidates);
	return make_plans(v);
}

struct victims *victims_of_podgroup(struct session *s, const struct podgroup *from)
{
	struct victims *v = make(s, OF_PODGROUP);

	candidates_of_podgroup(s, from, &v->candidates);
	return make_plans(v);
}

struct victims *victims_of_all_queues(struct session *s)
{
	struct victims *v = make(s, OF_ALL_QUEUES);

	candidates_of_all_queues(s, &v->candidates);
	v->gives = arena_zero(s->arena, s->cluster->queues.n + 1, sizeof(*v->gives));
	return make_plans(v);
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
	return i < v->candidates.npodgroups ? v->candidates.podgroups[i] : NULL;
}

int64_t victims_again_at(const struct victims *v)
{
	return v->candidates.again_at;
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
static bool has_room(const struct candidates_spot *spot, const struct task *t,
		     const struct res *taken)
{
	uint32_t mask = t->klass->mask | RES_PODS_BIT;

	return res_over(taken, &t->klass->request, &spot->node->allocatable, mask) == 0;
}

/* The least harm that t can do on the node: resources alone are compared. False: not even all
 * candidates together make room. */
static bool guess_harm(struct victims *v, const struct task *t, struct candidates_spot *spot,
		       struct harm *ret)
{
	struct session *s = v->session;
	struct res taken = session_node_taken_later(s, spot->node);

	candidates_sort(spot);
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
			      const struct candidates_spot *spot)
{
	struct res taken = session_node_taken_later(s, spot->node);
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
	f->guesses = arena_zero(s->arena, v->candidates.nspots + 1, sizeof(f->guesses[0]));
	heap_init(&f->heap, compare_guesses, NULL, NULL);
	for (size_t i = 0; i < v->candidates.nspots; i++) {
		struct candidates_spot *spot = &v->candidates.spots[i];

		f->guesses[i] = (struct guess){ spot, least_harm(s, t, spot), false };
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

/* The part that no eviction on the same spot changes. */
static bool could_go(const struct victims *v, const struct queue *q, const struct task *t,
		     const struct task *victim)
{
	if (!may_be_victim(v, t, victim) ||
	    (v->rivals.n > 0 && bitset_has(v->is_rival, victim->podgroup))) {
		return false;
	}
	switch (v->kind) {
	case OF_QUEUE:
		return victim->podgroup != t->podgroup;
	case OF_PODGROUP:
		return true;
	case OF_ALL_QUEUES:
		break;
	}
	return victim->charge_queue != q->id && v->gives[victim->charge_queue] != GIVES_NO_MORE;
}

/* Whether its gang can spare it is another question. */
static bool is_permitted(const struct victims *v, const struct queue *q, const struct task *t,
			 const struct task *victim)
{
	if (!could_go(v, q, t, victim)) {
		return false;
	}
	if (v->kind != OF_ALL_QUEUES) {
		return is_preemptable(v, t, victim);
	}
	return v->spares_gangs ? hooks_gang_reclaimable(v->session, t, victim)
			       : hooks_reclaimable(v->session, t, victim);
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

/* In order, from the candidate with this index on. False: t does not fit the node. */
static bool try_from(const struct victims *v, const struct queue *q, const struct task *t,
		     const struct candidates_spot *spot, size_t from, struct tried *ret)
{
	struct statement st = statement_begin(v->session);
	bool ok = fits(v, q, t, spot->node);

	*ret = (struct tried){ .again = spot->n };
	for (size_t i = from; i < spot->n && !ok; i++) {
		const struct task *victim = spot->v[i].task;

		if (spot->node == NULL && !frees_quota(v, q, t, victim)) {
			continue;
		}
		if (!may_evict(v, q, t, victim)) {
			if (ret->n > 0 && ret->again == spot->n && could_go(v, q, t, victim) &&
			    victim->klass != v->trial[0]->klass) {
				ret->again = i;
			}
			continue;
		}
		statement_evict(v->session, victim, t, NULL);
		add_harm(&ret->harm, &spot->v[i]);
		v->trial[ret->n++] = victim;
		ok = fits(v, q, t, spot->node);
	}
	statement_discard(v->session, st);
	return ok;
}

/* Leaves the victims in v->trial; false: t does not fit the node. Of pods that may not go all, as
 * those of a queue that has little more than it deserves, a later one may be enough alone: if the
 * first ones are not, it is tried without them. */
static bool try_spot(const struct victims *v, const struct queue *q, const struct task *t,
		     const struct candidates_spot *spot, struct harm *ret)
{
	struct tried tried = { .again = 0 };
	bool ok = false;

	for (unsigned i = 0; !ok && i < TRIES_MAX && (i == 0 || tried.again < spot->n); i++) {
		ok = try_from(v, q, t, spot, tried.again, &tried);
	}
	*ret = tried.harm;
	if (ok && tried.n > 1) {
		ret->count = (uint32_t)spare_some(v, q, t, spot->node, tried.n);
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

	if (v->candidates.nspots == 0 || t->klass->unsupported != NULL ||
	    t->klass->unoffered.n > 0) {
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

bool victims_make_quota(struct victims *v, const struct queue *q, const struct task *t)
{
	const struct task **plan = v->plan;
	struct harm harm;

	if (v->candidates.n == 0) {
		return false;
	}
	ask_queues_again(v);
	find_rivals(v, t);
	if (v->all.v == NULL) {
		v->all = candidates_on_all_nodes(v->session, &v->candidates);
	}
	if (!try_spot(v, q, t, &v->all, &harm)) {
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

		if (!candidates_includes(s, victim, session_task_status(s, victim)) ||
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
