#include "scheduler/workloads/cycle/entry_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"

static int compare_text(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

/* The end of both comparisons: the higher priority, the older, uid, key. */
static int compare_workloads(const struct quota_model *q, const struct workload *a,
			     const struct workload *b)
{
	int64_t x = workload_priority(q, a), y = workload_priority(q, b);
	int r;

	if (q->options.priority_sorting && x != y) {
		return x > y ? -1 : 1;
	}
	x = workload_queue_time(q, a);
	y = workload_queue_time(q, b);
	if (x != y) {
		return x < y ? -1 : 1;
	}
	r = compare_text(a->object.uid, b->object.uid);
	return r != 0 ? r : strcmp(a->key, b->key);
}

/* --- classical ---------------------------------------------------------------------------------*/

/* Holders of quota first (second pass), then, when the gate is on, preemptors, then the lower level
 * of borrowing. */
static int compare_classical(const struct quota_model *q, const struct entry *a,
			     const struct entry *b)
{
	bool holds_a = a->w->holding.node != MODEL_NONE, holds_b = b->w->holding.node != MODEL_NONE;

	if (holds_a != holds_b) {
		return holds_a ? -1 : 1;
	}
	if (q->options.prioritize_preemptors && a->is_preemptor != b->is_preemptor) {
		return a->is_preemptor ? -1 : 1;
	}
	if (a->assignment.level != b->assignment.level) {
		return a->assignment.level < b->assignment.level ? -1 : 1;
	}
	return compare_workloads(q, a->w, b->w);
}

static int compare_entries(const void *a, const void *b, void *model)
{
	const struct entry *const *x = a, *const *y = b;

	return compare_classical(model, *x, *y);
}

/* --- fair sharing ------------------------------------------------------------------------------*/

/* In each cohort the winners of its children compete, by the share that a child would have with its
 * winner admitted; the winner at the root is next (Kueue: fairSharingIterator). Trees come one
 * after the other, by the names of their roots. Only the matches that the last winner can have
 * changed are played again, so an entry costs the depth of its tree times the logarithm of the
 * number of siblings, not a new tournament. */

/* A node of a tree with entries below it, and how its winner does among its siblings. */
struct tournament_node {
	uint32_t node;
	struct tournament_node *parent; /* NULL: root */
	size_t place;                   /* among the children of the parent */
	/* A ClusterQueue has entries, a cohort has children. */
	struct entry **entries;
	size_t nentries, capacity, next;
	struct tournament_node *
		*bracket; /* of a cohort: [1] is the best child, [nchildren..] the children */
	size_t nchildren;
	struct entry *winner; /* NULL: none is left */
	struct share share;   /* of this node with the winner admitted */
	bool borrows;         /* then, of something that the winner asks for */
};

struct tournament {
	struct forest *f;
	const struct quota_model *q;
	struct arena *arena;
	struct tournament_node **nodes; /* by node id; NULL: no entry there or below */
	struct tournament_node **roots; /* sorted */
	size_t nroots, at;
	struct tournament_node *last; /* ClusterQueue of the entry returned last */
};

/* Between the winners of two children of one cohort. */
static int compare_nodes(const struct quota_model *q, const struct tournament_node *a,
			 const struct tournament_node *b)
{
	const struct entry *x = a->winner, *y = b->winner;
	int r;

	if (q->options.prioritize_preemptors && x->is_preemptor != y->is_preemptor) {
		return x->is_preemptor ? -1 : 1;
	}
	if (q->options.prioritize_non_borrowing && a->borrows != b->borrows) {
		return a->borrows ? 1 : -1;
	}
	r = share_cmp(a->share, b->share);
	if (r != 0) {
		return r;
	}
	return compare_workloads(q, x->w, y->w);
}

static struct tournament_node *better(const struct quota_model *q, struct tournament_node *a,
				      struct tournament_node *b)
{
	if (a == NULL || a->winner == NULL) {
		return b;
	}
	if (b == NULL || b->winner == NULL) {
		return a;
	}
	return compare_nodes(q, a, b) <= 0 ? a : b;
}

/* The matches of one child of a cohort. */
static void play(const struct tournament *t, struct tournament_node *cohort,
		 struct tournament_node *child)
{
	size_t i = cohort->nchildren + child->place;

	cohort->bracket[i] = child;
	for (i /= 2; i > 0; i /= 2) {
		cohort->bracket[i] =
			better(t->q, cohort->bracket[2 * i], cohort->bracket[2 * i + 1]);
	}
}

/* Share and borrowing of the node as if its winner were admitted. A winner that holds its quota
 * already adds nothing. */
static void measure(const struct tournament *t, struct tournament_node *s)
{
	const struct entry *e = s->winner;
	const struct quota_amounts *usage = &e->assignment.usage;
	size_t mark = forest_mark(t->f);

	if (e->w->holding.node == MODEL_NONE) {
		forest_add(t->f, e->node, usage);
	}
	s->share = share_of(t->f, s->node, NULL);
	s->borrows = false;
	for (size_t i = 0; i < usage->n && !s->borrows; i++) {
		s->borrows = usage->v[i].value > 0 &&
			     forest_borrows_with(t->f, s->node, usage->v[i].id, 0);
	}
	forest_undo(t->f, mark);
}

/* After entries or usage of a ClusterQueue changed: everything on the way to the root. */
static void refresh(const struct tournament *t, struct tournament_node *s)
{
	for (; s != NULL; s = s->parent) {
		if (s->nchildren == 0) {
			s->winner = s->next < s->nentries ? s->entries[s->next] : NULL;
		} else {
			s->winner = s->bracket[1] == NULL ? NULL : s->bracket[1]->winner;
		}
		if (s->parent != NULL) {
			if (s->winner != NULL) {
				measure(t, s);
			}
			play(t, s->parent, s);
		}
	}
}

static struct tournament_node *add_node(struct tournament *t, uint32_t node)
{
	struct tournament_node *first = NULL, *below = NULL;

	while (node != MODEL_NONE) {
		struct tournament_node *s = t->nodes[node];
		bool is_new = s == NULL;

		if (is_new) {
			s = t->nodes[node] = arena_zero(t->arena, 1, sizeof(*s));
			s->node = node;
		}
		if (below != NULL) {
			below->parent = s;
			below->place = s->nchildren++;
		}
		first = first == NULL ? s : first;
		if (!is_new) {
			return first;
		}
		below = s;
		node = forest_parent(t->f, node);
	}
	t->roots[t->nroots++] = below;
	return first;
}

static void add_entries(struct tournament *t, struct entry **entries, size_t n, bool holding)
{
	for (size_t i = 0; i < n; i++) {
		struct tournament_node *s = t->nodes[entries[i]->node];

		if ((entries[i]->w->holding.node != MODEL_NONE) == holding) {
			s->entries[s->nentries++] = entries[i];
		}
	}
}

static int compare_roots(const void *a, const void *b, void *model)
{
	const struct quota_model *q = model;
	const struct tournament_node *const *x = a, *const *y = b;
	const struct quota_node *m = q->nodes.v[(*x)->node], *n = q->nodes.v[(*y)->node];
	int r = strcmp(m->name, n->name);

	/* A queue and a cohort may have the same name, but each is the only one. */
	return r != 0 ? r : (int)m->is_queue - (int)n->is_queue;
}

/* Brackets can be made when all nodes are known, entries when each is counted. */
static void make_room(struct tournament *t)
{
	for (size_t i = 0; i < t->q->nodes.n; i++) {
		struct tournament_node *s = t->nodes[i];

		if (s != NULL && s->nchildren > 0) {
			s->bracket = arena_zero(t->arena, 2 * s->nchildren, sizeof(s->bracket[0]));
		} else if (s != NULL) {
			s->entries = arena_zero(t->arena, s->capacity, sizeof(s->entries[0]));
		}
	}
}

/* Entries of one ClusterQueue stay in the order given, those that hold quota first. */
static struct tournament *create_tournament(struct forest *f, struct entry **entries, size_t n,
					    struct arena *arena)
{
	struct quota_model *q = forest_model(f);
	struct tournament *t = arena_zero(arena, 1, sizeof(*t));

	t->f = f;
	t->q = q;
	t->arena = arena;
	t->nodes = arena_zero(arena, q->nodes.n + 1, sizeof(t->nodes[0]));
	t->roots = arena_alloc(arena, (n + 1) * sizeof(t->roots[0]));
	for (size_t i = 0; i < n; i++) {
		add_node(t, entries[i]->node)->capacity++;
	}
	make_room(t);
	add_entries(t, entries, n, true);
	add_entries(t, entries, n, false);
	qsort_r(t->roots, t->nroots, sizeof(t->roots[0]), compare_roots, q);
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (t->nodes[i] != NULL && t->nodes[i]->nchildren == 0) {
			refresh(t, t->nodes[i]);
		}
	}
	return t;
}

static struct entry *next_winner(struct tournament *t)
{
	struct entry *e;

	if (t->last != NULL) {
		refresh(t, t->last);
		t->last = NULL;
	}
	while (t->at < t->nroots && t->roots[t->at]->winner == NULL) {
		t->at++;
	}
	if (t->at == t->nroots) {
		return NULL;
	}
	e = t->roots[t->at]->winner;
	t->last = t->nodes[e->node];
	t->last->next++;
	return e;
}

/* --- both --------------------------------------------------------------------------------------*/

struct entry_order {
	struct entry **sorted; /* classical */
	size_t n, next;
	struct tournament *fair; /* NULL: classical */
};

struct entry_order *entry_order_create(struct forest *f, struct entry **entries, size_t n,
				       struct arena *arena)
{
	struct quota_model *q = forest_model(f);
	struct entry_order *o = arena_zero(arena, 1, sizeof(*o));

	if (q->options.fair_sharing) {
		o->fair = create_tournament(f, entries, n, arena);
		return o;
	}
	o->n = n;
	o->sorted = arena_alloc(arena, (n + 1) * sizeof(o->sorted[0]));
	if (n > 0) {
		memcpy(o->sorted, entries, n * sizeof(o->sorted[0]));
		qsort_r(o->sorted, n, sizeof(o->sorted[0]), compare_entries, q);
	}
	return o;
}

struct entry *entry_order_next(struct entry_order *o)
{
	if (o->fair != NULL) {
		return next_winner(o->fair);
	}
	return o->next < o->n ? o->sorted[o->next++] : NULL;
}
