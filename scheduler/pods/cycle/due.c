#include "scheduler/pods/cycle/due.h"

#include <stdlib.h>

#include "scheduler/pods/session/session_priv.h"

/* A queue without room waits until a charge in itself or above it shrinks, which chain_gen shows;
 * nodes and what other PodGroups ask for matter only where the last scan depended on them. */
static bool may_go_on(const struct cluster *c, const struct queue *q, int64_t now)
{
	const struct queue_scan *scan = &q->scan;

	return scan->timer_at <= now || scan->chain_gen != cluster_chain_gen(c, q) ||
	       (scan->waits_nodes && scan->nodes_gen != c->nodes_gen) ||
	       (scan->waits_podgroups && scan->demand_gen != c->demand_gen);
}

enum due_part due_part_of(const struct cluster *c, const struct queue *q, int64_t now)
{
	const struct queue_scan *scan = &q->scan;

	if (!scan->done || scan->queues_gen != c->queues_gen) {
		return DUE_ALL;
	}
	if (may_go_on(c, q, now)) {
		return DUE_OPEN;
	}
	return scan->podgroups_gen == q->podgroups_gen ? DUE_NOTHING : DUE_CHANGED;
}

static int by_place(const void *a, const void *b)
{
	const struct podgroup *const *x = a, *const *y = b;

	return (*x)->queue_pos < (*y)->queue_pos ? -1 : (*x)->queue_pos > (*y)->queue_pos;
}

/* Appends those of the ids that are PodGroups of q. */
static void append(const struct cluster *c, const struct queue *q, const uint32_t *ids, size_t n,
		   struct podgroup_list *l)
{
	const uint32_t *own = q->exists ? q->podgroups.v : q->waiting.v;
	size_t count = q->exists ? q->podgroups.n : q->waiting.n;

	for (size_t i = 0; i < n; i++) {
		const struct podgroup *g = ids[i] < c->podgroups.n ? c->podgroups.v[ids[i]] : NULL;

		/* One that left may be in another queue by now, and its id another PodGroup's. */
		if (g != NULL && g->queue_pos < count && own[g->queue_pos] == g->id) {
			l->v[l->n++] = g;
		}
	}
}

/* In the order of the queue's own list, each once: what is decided about one does not depend on
 * which others are looked at with it. */
static void sort(struct podgroup_list *l)
{
	size_t kept = 0;

	if (l->n > 1) {
		qsort(l->v, l->n, sizeof(l->v[0]), by_place);
	}
	for (size_t i = 0; i < l->n; i++) {
		if (kept == 0 || l->v[kept - 1] != l->v[i]) {
			l->v[kept++] = l->v[i];
		}
	}
	l->n = kept;
}

static void list(struct session *s, const struct cluster *c, const struct queue *q,
		 enum due_part part)
{
	struct podgroup_list *l = &s->podgroups[q->id];

	if (part == DUE_ALL) {
		l->v = arena_alloc(s->arena, (q->podgroups.n + q->waiting.n + 1) * sizeof(l->v[0]));
		append(c, q, q->podgroups.v, q->podgroups.n, l);
		append(c, q, q->waiting.v, q->waiting.n, l);
		return;
	}
	l->v = arena_alloc(s->arena, (q->open.n + q->changed.n + 1) * sizeof(l->v[0]));
	append(c, q, q->changed.v, q->changed.n, l);
	if (part == DUE_OPEN) {
		append(c, q, q->open.v, q->open.n, l);
	}
	sort(l);
}

/* False: of no queue. */
static bool find_parts(struct session *s, const struct cluster *c, int64_t now, bool all)
{
	bool any = false;

	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q != NULL) {
			s->due[i] = (uint8_t)(all ? DUE_ALL : due_part_of(c, q, now));
			any |= s->due[i] != DUE_NOTHING;
		}
	}
	return any;
}

/* The room of a gang that is held is counted in sessions alone: where any PodGroup is looked at,
 * that gang is as well, or its room would be given away. */
void due_list(struct session *s, const struct cluster *c, int64_t now, bool all)
{
	bool any;

	s->due = arena_zero(s->arena, c->queues.n + 1, sizeof(*s->due));
	s->podgroups = arena_zero(s->arena, c->queues.n + 1, sizeof(*s->podgroups));
	s->queues_due = 0;
	any = find_parts(s, c, now, all);
	for (size_t i = 0; any && i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q == NULL) {
			continue;
		}
		if (q->scan.holds && s->due[i] < DUE_OPEN) {
			s->due[i] = DUE_OPEN;
		}
		if (s->due[i] != DUE_NOTHING) {
			s->queues_due++;
			list(s, c, q, (enum due_part)s->due[i]);
		}
	}
}

/* These are the generations that the cycle has read. Decisions about charges and statuses raise
 * them when they are assumed, so that what they change is looked at once more. PodGroups that were
 * not looked at go on waiting for what they waited for. */
void due_scan(const struct session *s, const struct queue *q, struct queue_scan *ret)
{
	const struct cluster *c = s->cluster;
	bool partly = s->due[q->id] == DUE_CHANGED;

	*ret = (struct queue_scan){
		.podgroups_gen = q->podgroups_gen,
		.chain_gen = cluster_chain_gen(c, q),
		.queues_gen = c->queues_gen,
		.nodes_gen = c->nodes_gen,
		.demand_gen = c->demand_gen,
		.changed = (uint32_t)q->changed.n,
		.done = true,
		.waits_nodes = (s->waits[q->id] & SESSION_WAITS_NODES) != 0 ||
			       (partly && q->scan.waits_nodes),
		.waits_podgroups = (s->waits[q->id] & SESSION_WAITS_PODGROUPS) != 0 ||
				   (partly && q->scan.waits_podgroups),
		.holds = (s->waits[q->id] & SESSION_HOLDS) != 0,
		.timer_at = s->timers[q->id],
	};
	if (partly && q->scan.timer_at < ret->timer_at) {
		ret->timer_at = q->scan.timer_at;
	}
}
