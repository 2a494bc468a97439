#include "scheduler/pods/actions/allocate_place.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/pods/search/fit.h"
#include "scheduler/pods/search/placing.h"
#include "scheduler/pods/session/domains.h"
#include "scheduler/pods/session/hooks.h"
#include "scheduler/pods/session/statement.h"
#include "scheduler/pods/values/pod_class.h"

static const char *quota_text(struct session *s, const struct reason *why)
{
	if (why->code == NULL) {
		return "the queue has no room";
	}
	return why->detail == NULL
		       ? why->code
		       : arena_printf(session_arena(s), "%s: %s", why->code, why->detail);
}

static bool quota_admits(struct session *s, const struct allocate_work *w, const struct task *t,
			 struct reason *why)
{
	if (w->overused) {
		*why = (struct reason){ .code = ALLOCATE_OVERUSED };
		return false;
	}
	return placing_quota_admits(s, w->queue, t, why);
}

enum placing { PLACING_DONE, PLACING_NO_QUOTA, PLACING_NO_NODE };

static enum placing place_task(struct session *s, const struct allocate_work *w,
			       const struct task *t)
{
	struct reason why = { .code = NULL };
	const struct node *n = NULL;

	/* A charge is the quota vote, passed: it is not asked again. */
	if (session_task_charge(s, t) == CHARGE_NONE && !quota_admits(s, w, t, &why)) {
		session_note_attempt(s, t, ATTEMPT_QUOTA, NULL, quota_text(s, &why));
		return PLACING_NO_QUOTA;
	}
	switch (fit_find(s, t, &n)) {
	case FIT_IDLE:
		statement_allocate(s, t, n);
		session_note_attempt(s, t, ATTEMPT_ALLOCATED, n, NULL);
		return PLACING_DONE;
	case FIT_RELEASING:
		session_note_attempt(s, t, ATTEMPT_PIPELINED, n, fit_explain(s, t));
		statement_pipeline(s, t, n);
		return PLACING_DONE;
	case FIT_NONE:
		break;
	}
	session_note_attempt(s, t, ATTEMPT_NO_NODE, NULL, fit_explain(s, t));
	return PLACING_NO_NODE;
}

/* A gang without spare members fails with the first one that does not fit. */
static bool needs_all_members(const struct podgroup *g)
{
	return g->min_member > 0 && (size_t)g->min_member >= g->tasks.n;
}

/* A gang of pods that opted in waits until the gates of all members that it needs are off. */
static bool is_complete(struct session *s, const struct allocate_work *w)
{
	struct gang_need need;

	if (!w->opted_in || hooks_job_ready(s, w->podgroup)) {
		return true;
	}
	gang_need(s, w->podgroup, GANG_PLACEABLE, &need);
	return gang_is_met(&need);
}

static bool may_place(struct session *s, struct allocate_work *w)
{
	return session_podgroup_phase(s, w->podgroup) != PODGROUP_PENDING &&
	       hooks_job_valid(s, w->podgroup, NULL) && is_complete(s, w);
}

static bool end_statement(struct session *s, struct allocate_work *w, struct statement st,
			  bool placed)
{
	if (hooks_job_ready(s, w->podgroup)) {
		statement_commit(s, st);
		if (session_podgroup_count(s, w->podgroup, TASK_PIPELINED) > 0) {
			session_note_held(s, w->podgroup);
		}
		return placed;
	}
	/* The gang is not complete. If it would be with what is being released, the room is held
	 * for it; otherwise all is taken back, so that others may use it. */
	w->place.next = w->place.n;
	session_wait_for_nodes(s, w->queue);
	if (placed && hooks_job_pipelined(s, w->podgroup)) {
		session_note_held(s, w->podgroup);
		statement_hold(s, st);
	} else {
		statement_discard(s, st);
	}
	return false;
}

/* Places members until the PodGroup may start. Returns the index in w->place of the first one for
 * which no node was left, SIZE_MAX: none. */
static size_t place_members(struct session *s, struct allocate_work *w, bool *ret_placed)
{
	size_t without_node = SIZE_MAX;

	*ret_placed = false;
	while (w->place.next < w->place.n) {
		size_t i = w->place.next++;
		enum placing r = place_task(s, w, w->place.v[i]);

		if (r != PLACING_DONE) {
			session_wait_for_nodes(s, w->queue);
			if (r == PLACING_NO_NODE && without_node == SIZE_MAX) {
				without_node = i;
			}
			if (needs_all_members(w->podgroup)) {
				break;
			}
			continue;
		}
		*ret_placed = true;
		/* Enough for this turn: the rest is elastic, and other queues go before it. */
		if (hooks_job_ready(s, w->podgroup)) {
			break;
		}
	}
	return without_node;
}

/* The node that a member lacks may have gone to one before it that other nodes would do for. */
static bool may_lack_its_turn(const struct allocate_list *l, size_t first, size_t i)
{
	for (size_t k = first; k < i; k++) {
		if (l->v[k]->klass != l->v[i]->klass) {
			return true;
		}
	}
	return false;
}

static void move_to_front(struct allocate_list *l, size_t first, size_t i)
{
	const struct task *t = l->v[i];

	memmove(&l->v[first + 1], &l->v[first], (i - first) * sizeof(l->v[0]));
	l->v[first] = t;
}

/* The member that was placed first, if where it went decides where others may go; else NULL. */
static const struct task *find_leader(const struct session *s, const struct allocate_list *l,
				      size_t first)
{
	for (size_t i = first; i < l->n; i++) {
		const struct pod_class *k = l->v[i]->klass;

		if (session_task_node(s, l->v[i]) != MODEL_NONE) {
			return k->nterms > 0 && k->terms[0].kind == POD_TERM_AFFINITY ? l->v[i]
										      : NULL;
		}
	}
	return NULL;
}

#define PLACE_ORDERS 4 /* of a gang, at most; each looks through the nodes again */
#define PLACE_DOMAINS 8

static bool is_done(const struct session *s, const struct allocate_work *w, size_t lacking)
{
	return lacking == SIZE_MAX || hooks_job_ready(s, w->podgroup);
}

/* Where the leader follows pods that are there, the next attempt is like the last, and there is no
 * other. */
static void place_elsewhere(struct session *s, struct allocate_work *w, size_t first,
			    struct statement *st, bool *ret_placed)
{
	const struct task *leader;
	size_t lacking = first;
	bool more = true;

	for (unsigned tries = 1; tries < PLACE_DOMAINS && more && !is_done(s, w, lacking) &&
				 (leader = find_leader(s, &w->place, first)) != NULL;
	     tries++) {
		const struct node *n = session_cluster(s)->nodes.v[session_task_node(s, leader)];

		statement_discard(s, *st);
		more = domains_avoid(s, leader, n);
		*st = statement_begin(s);
		w->place.next = first;
		lacking = place_members(s, w, ret_placed);
	}
	domains_avoid_nothing(s);
}

/* 1. Place members in task order until the PodGroup may start.
 * 2. If one lacked a node that may have gone to another class of pods, undo all, put it first, and
 *    try again, in PLACE_ORDERS orders at most.
 * 3. If one lacked a node near the others, undo all, and begin in other topology domains, in
 *    PLACE_DOMAINS at most.
 * 4. Keep what was placed, hold it, or take it back. */
bool allocate_place_step(struct allocate_run *run, struct allocate_work *w)
{
	struct session *s = run->session;
	size_t first = w->place.next, lacking;
	struct statement st;
	bool placed;

	if (w->place.next == w->place.n) {
		return false;
	}
	if (!may_place(s, w)) {
		w->place.next = w->place.n;
		return false;
	}
	/* Members for which there is no node now may be published at the end of the cycle. */
	session_note_tried(s, w->podgroup);
	st = statement_begin(s);
	lacking = place_members(s, w, &placed);
	for (unsigned tries = 1; tries < PLACE_ORDERS && !is_done(s, w, lacking) &&
				 may_lack_its_turn(&w->place, first, lacking);
	     tries++) {
		statement_discard(s, st);
		move_to_front(&w->place, first, lacking);
		w->place.next = first;
		st = statement_begin(s);
		lacking = place_members(s, w, &placed);
	}
	if (!is_done(s, w, lacking)) {
		place_elsewhere(s, w, first, &st, &placed);
	}
	return end_statement(s, w, st, placed);
}
