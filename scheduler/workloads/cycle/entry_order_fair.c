#include "scheduler/workloads/cycle/entry_order_fair.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"

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

struct entry_order_fair {
	struct forest *f;
	const struct quota *q;
	struct arena *arena;
	struct tournament_node **nodes; /* by node id; NULL: no entry there or below */
	struct tournament_node **roots; /* sorted */
	size_t nroots, at;
	struct tournament_node *last; /* ClusterQueue of the entry returned last */
};

static int compare_text(const char *a, const char *b)
{
	return strcmp(a == NULL ? "" : a, b == NULL ? "" : b);
}

/* Between the winners of two children of one cohort. */
static int compare_nodes(const struct quota *q, const struct tournament_node *a,
			 const struct tournament_node *b)
{
	const struct entry *x = a->winner, *y = b->winner;
	int64_t i, k;
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
	i = workload_priority(q, x->w);
	k = workload_priority(q, y->w);
	if (q->options.priority_sorting && i != k) {
		return i > k ? -1 : 1;
	}
	i = workload_queue_time(q, x->w);
	k = workload_queue_time(q, y->w);
	if (i != k) {
		return i < k ? -1 : 1;
	}
	r = compare_text(x->w->object.uid, y->w->object.uid);
	return r != 0 ? r : strcmp(x->w->key, y->w->key);
}

static struct tournament_node *better(const struct quota *q, struct tournament_node *a,
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
static void play(const struct entry_order_fair *o, struct tournament_node *cohort,
		 struct tournament_node *child)
{
	size_t i = cohort->nchildren + child->place;

	cohort->bracket[i] = child;
	for (i /= 2; i > 0; i /= 2) {
		cohort->bracket[i] =
			better(o->q, cohort->bracket[2 * i], cohort->bracket[2 * i + 1]);
	}
}

/* Share and borrowing of the node as if its winner were admitted. A winner that holds its quota
 * already adds nothing. */
static void measure(const struct entry_order_fair *o, struct tournament_node *s)
{
	const struct entry *e = s->winner;
	const struct quota_amounts *usage = &e->assignment.usage;
	size_t mark = forest_mark(o->f);

	if (e->w->holding.node == MODEL_NONE) {
		forest_add(o->f, e->node, usage);
	}
	s->share = share_of(o->f, s->node, NULL);
	s->borrows = false;
	for (size_t i = 0; i < usage->n && !s->borrows; i++) {
		s->borrows = usage->v[i].value > 0 &&
			     forest_borrows_with(o->f, s->node, usage->v[i].id, 0);
	}
	forest_undo(o->f, mark);
}

/* After entries or usage of a ClusterQueue changed: everything on the way to the root. */
static void refresh(const struct entry_order_fair *o, struct tournament_node *s)
{
	for (; s != NULL; s = s->parent) {
		if (s->nchildren == 0) {
			s->winner = s->next < s->nentries ? s->entries[s->next] : NULL;
		} else {
			s->winner = s->bracket[1] == NULL ? NULL : s->bracket[1]->winner;
		}
		if (s->parent != NULL) {
			if (s->winner != NULL) {
				measure(o, s);
			}
			play(o, s->parent, s);
		}
	}
}

static struct tournament_node *add_node(struct entry_order_fair *o, uint32_t node)
{
	struct tournament_node *first = NULL, *below = NULL;

	while (node != MODEL_NONE) {
		struct tournament_node *s = o->nodes[node];
		bool is_new = s == NULL;

		if (is_new) {
			s = o->nodes[node] = arena_zero(o->arena, 1, sizeof(*s));
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
		node = forest_parent(o->f, node);
	}
	o->roots[o->nroots++] = below;
	return first;
}

static void add_entries(struct entry_order_fair *o, struct entry **entries, size_t n, bool holding)
{
	for (size_t i = 0; i < n; i++) {
		struct tournament_node *s = o->nodes[entries[i]->node];

		if ((entries[i]->w->holding.node != MODEL_NONE) == holding) {
			s->entries[s->nentries++] = entries[i];
		}
	}
}

static int compare_roots(const void *a, const void *b, void *world)
{
	const struct quota *q = world;
	const struct tournament_node *const *x = a, *const *y = b;
	const struct quota_node *m = q->nodes.v[(*x)->node], *n = q->nodes.v[(*y)->node];
	int r = strcmp(m->name, n->name);

	/* A queue and a cohort may have the same name, but each is the only one. */
	return r != 0 ? r : (int)m->is_queue - (int)n->is_queue;
}

/* Brackets can be made when all nodes are known, entries when each is counted. */
static void make_room(struct entry_order_fair *o)
{
	for (size_t i = 0; i < o->q->nodes.n; i++) {
		struct tournament_node *s = o->nodes[i];

		if (s != NULL && s->nchildren > 0) {
			s->bracket = arena_zero(o->arena, 2 * s->nchildren, sizeof(s->bracket[0]));
		} else if (s != NULL) {
			s->entries = arena_zero(o->arena, s->capacity, sizeof(s->entries[0]));
		}
	}
}

struct entry_order_fair *entry_order_fair_create(struct forest *f, struct entry **entries, size_t n,
						 struct arena *arena)
{
	struct quota *q = forest_world(f);
	struct entry_order_fair *o = arena_zero(arena, 1, sizeof(*o));

	o->f = f;
	o->q = q;
	o->arena = arena;
	o->nodes = arena_zero(arena, q->nodes.n + 1, sizeof(o->nodes[0]));
	o->roots = arena_alloc(arena, (n + 1) * sizeof(o->roots[0]));
	for (size_t i = 0; i < n; i++) {
		add_node(o, entries[i]->node)->capacity++;
	}
	make_room(o);
	add_entries(o, entries, n, true);
	add_entries(o, entries, n, false);
	qsort_r(o->roots, o->nroots, sizeof(o->roots[0]), compare_roots, q);
	for (size_t i = 0; i < q->nodes.n; i++) {
		if (o->nodes[i] != NULL && o->nodes[i]->nchildren == 0) {
			refresh(o, o->nodes[i]);
		}
	}
	return o;
}

struct entry *entry_order_fair_next(struct entry_order_fair *o)
{
	struct entry *e;

	if (o->last != NULL) {
		refresh(o, o->last);
		o->last = NULL;
	}
	while (o->at < o->nroots && o->roots[o->at]->winner == NULL) {
		o->at++;
	}
	if (o->at == o->nroots) {
		return NULL;
	}
	e = o->roots[o->at]->winner;
	o->last = o->nodes[e->node];
	o->last->next++;
	return e;
}
