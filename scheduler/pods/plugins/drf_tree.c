#include "scheduler/pods/plugins/drf_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "scheduler/pods/session/session.h"
#include "scheduler/pods/values/pod_class.h"

#define ROOT 0
#define NONE UINT32_MAX

/* A PodGroup. Amounts are parts of what the cluster has, one for each dimension of the tree. */
struct drf_leaf {
	uint32_t node;
	struct drf_leaf *next; /* of the same node */
	double *used, *request;
	double share;
	bool saturated;
};

struct drf_node {
	uint32_t parent, child, sibling; /* the first child, the next one of the parent; NONE */
	struct str name;                 /* in texts */
	double weight;
	/* Of this session: */
	struct drf_leaf *leaves;
	double *used;
	double share;
	bool saturated;
};

/* The nodes from the root to the end of a queue's path. */
struct drf_path {
	uint32_t *v;
	size_t n;
};

struct drf_tree {
	/* By the annotations of queues: */
	const struct cluster *cluster;
	uint64_t queues_gen;
	struct arena *texts;
	struct VEC(struct drf_node) nodes; /* parents before children */
	struct drf_path *paths;            /* by queue id */
	size_t npaths;
	/* Of this session: */
	struct drf_leaf **leaves; /* by PodGroup id; NULL: not added */
	unsigned *dims;           /* that the cluster has */
	size_t ndims;
	double *total_used;
	bool *is_short; /* by dimension: the cluster has no more of it */
};

struct drf_tree *drf_tree_create(void)
{
	struct drf_tree *t = xmalloc_zero(1, sizeof(*t));

	t->texts = arena_create(0);
	return t;
}

static void forget_paths(struct drf_tree *t)
{
	for (size_t i = 0; t->paths != NULL && i < t->npaths; i++) {
		free(t->paths[i].v);
	}
	free(t->paths);
	t->paths = NULL;
	t->npaths = 0;
	vec_finish(&t->nodes);
	arena_reset(t->texts);
}

void drf_tree_destroy(struct drf_tree *t)
{
	if (t != NULL) {
		forget_paths(t);
		arena_destroy(t->texts);
		free(t);
	}
}

/* --- the paths -------------------------------------------------------------------------------- */

static uint32_t add_node(struct drf_tree *t, uint32_t parent, struct str name, double weight)
{
	struct drf_node n = { .parent = parent,
			      .child = NONE,
			      .sibling = parent == NONE ? NONE : t->nodes.v[parent].child,
			      .name = arena_str(t->texts, name),
			      /* As in Volcano: also where there is no number. */
			      .weight = weight >= 1 ? weight : 1 };
	uint32_t id = (uint32_t)t->nodes.n;

	vec_push(&t->nodes, n);
	if (parent != NONE) {
		t->nodes.v[parent].child = id;
	}
	return id;
}

static uint32_t find_child(const struct drf_tree *t, uint32_t parent, struct str name)
{
	uint32_t id = t->nodes.v[parent].child;

	while (id != NONE && !str_eq(t->nodes.v[id].name, name)) {
		id = t->nodes.v[id].sibling;
	}
	return id;
}

/* The weight of a node is that of the first queue, by id, with a path through it. */
static void read_path(struct drf_tree *t, const struct queue *q, struct drf_path *path)
{
	struct str names = str_of(q->hierarchy), weights = str_of(q->hierarchy_weights);
	double weight = 0;

	path->v = xmalloc(DRF_TREE_LEVELS_MAX * sizeof(path->v[0]));
	path->v[path->n++] = ROOT;
	(void)str_next(&names, '/');
	(void)str_next(&weights, '/');
	while (names.p != NULL && path->n < DRF_TREE_LEVELS_MAX) {
		uint32_t parent = path->v[path->n - 1];
		struct str name = str_next(&names, '/');
		uint32_t id = find_child(t, parent, name);

		if (weights.p == NULL || !str_to_double(str_next(&weights, '/'), &weight)) {
			weight = 1;
		}
		path->v[path->n++] = id != NONE ? id : add_node(t, parent, name, weight);
	}
}

static void read_paths(struct drf_tree *t, const struct cluster *c)
{
	if (t->paths != NULL && t->cluster == c && t->queues_gen == c->queues_gen &&
	    t->npaths == c->queues.n) {
		return;
	}
	forget_paths(t);
	t->cluster = c;
	t->queues_gen = c->queues_gen;
	t->npaths = c->queues.n;
	t->paths = xmalloc_zero(c->queues.n + 1, sizeof(t->paths[0]));
	(void)add_node(t, NONE, STR_LIT("root"), 1);
	for (size_t i = 0; i < c->queues.n; i++) {
		if (c->queues.v[i] != NULL) {
			read_path(t, c->queues.v[i], &t->paths[i]);
		}
	}
}

/* --- shares ----------------------------------------------------------------------------------- */

static double largest(const struct drf_tree *t, const double *v)
{
	double most = 0;

	for (size_t i = 0; i < t->ndims; i++) {
		most = v[i] > most ? v[i] : most;
	}
	return most;
}

/* It has all that it asks for of a resource, or some of one that has run out. */
static bool is_saturated(const struct drf_tree *t, const struct drf_leaf *l)
{
	for (size_t i = 0; i < t->ndims; i++) {
		if (l->used[i] > 0 && l->request[i] > 0 &&
		    (l->used[i] >= l->request[i] || t->is_short[i])) {
			return true;
		}
	}
	return false;
}

/* A part of a node: a PodGroup, or another node. */
struct below {
	const double *used;
	double share;
	bool saturated;
};

static double least_share(const struct drf_tree *t, const struct drf_node *n)
{
	double least = 1;

	for (const struct drf_leaf *l = n->leaves; l != NULL; l = l->next) {
		least = l->share > 0 && !l->saturated && l->share < least ? l->share : least;
	}
	for (uint32_t id = n->child; id != NONE; id = t->nodes.v[id].sibling) {
		const struct drf_node *c = &t->nodes.v[id];

		least = c->share > 0 && !c->saturated && c->share < least ? c->share : least;
	}
	return least;
}

static void add_below(const struct drf_tree *t, struct drf_node *n, const struct below *b,
		      double least)
{
	n->saturated = n->saturated && b->saturated;
	for (size_t i = 0; i < t->ndims && b->share > 0; i++) {
		n->used[i] += b->saturated ? b->used[i] : b->used[i] * least / b->share;
	}
}

static void update_node(struct drf_tree *t, struct drf_node *n)
{
	double least = least_share(t, n);

	memset(n->used, 0, t->ndims * sizeof(n->used[0]));
	n->saturated = true;
	for (const struct drf_leaf *l = n->leaves; l != NULL; l = l->next) {
		add_below(t, n, &(struct below){ l->used, l->share, l->saturated }, least);
	}
	for (uint32_t id = n->child; id != NONE; id = t->nodes.v[id].sibling) {
		const struct drf_node *c = &t->nodes.v[id];

		add_below(t, n, &(struct below){ c->used, c->share, c->saturated }, least);
	}
	n->share = largest(t, n->used);
}

static void update_leaf(const struct drf_tree *t, struct drf_leaf *l)
{
	l->share = largest(t, l->used);
	l->saturated = is_saturated(t, l);
}

/* True: a resource has run out, or not any more. */
static bool find_short(struct drf_tree *t)
{
	bool changed = false;

	for (size_t i = 0; i < t->ndims; i++) {
		bool is_short = t->total_used[i] >= 1;

		changed = changed || is_short != t->is_short[i];
		t->is_short[i] = is_short;
	}
	return changed;
}

/* --- sessions --------------------------------------------------------------------------------- */

void drf_tree_open(struct drf_tree *t, const struct session *s)
{
	const struct cluster *c = session_cluster(s);
	struct arena *a = session_arena(s);
	unsigned names = res_names_count(c->res);

	read_paths(t, c);
	t->leaves = arena_zero(a, c->podgroups.n + 1, sizeof(t->leaves[0]));
	t->dims = arena_zero(a, names, sizeof(t->dims[0]));
	t->ndims = 0;
	for (unsigned d = 0; d < names; d++) {
		if (res_get(&c->total, d) > 0) {
			t->dims[t->ndims++] = d;
		}
	}
	t->total_used = arena_zero(a, t->ndims + 1, sizeof(t->total_used[0]));
	t->is_short = arena_zero(a, t->ndims + 1, sizeof(t->is_short[0]));
	for (size_t i = 0; i < t->nodes.n; i++) {
		t->nodes.v[i].leaves = NULL;
		t->nodes.v[i].used = arena_zero(a, t->ndims + 1, sizeof(double));
	}
}

static void set_parts(const struct drf_tree *t, const struct session *s, const struct res *amounts,
		      double *parts)
{
	for (size_t i = 0; i < t->ndims; i++) {
		parts[i] = (double)res_get(amounts, t->dims[i]) /
			   (double)res_get(&session_cluster(s)->total, t->dims[i]);
	}
}

static void sum_requests(const struct session *s, const struct podgroup *g, struct res *ret)
{
	*ret = (struct res){ .v = { 0 } };
	for (size_t i = 0; i < g->tasks.n; i++) {
		const struct task *t = session_task(s, g->tasks.v[i]);

		if (t->klass != NULL) {
			res_add(ret, &t->klass->request);
		}
	}
}

static void set_used(struct drf_tree *t, const struct session *s, struct drf_leaf *l,
		     const struct res *allocated)
{
	for (size_t i = 0; i < t->ndims; i++) {
		t->total_used[i] -= l->used[i];
	}
	set_parts(t, s, allocated, l->used);
	for (size_t i = 0; i < t->ndims; i++) {
		t->total_used[i] += l->used[i];
	}
}

void drf_tree_add(struct drf_tree *t, const struct session *s, const struct podgroup *g,
		  const struct res *allocated)
{
	const struct drf_path *path = &t->paths[g->queue];
	struct arena *a = session_arena(s);
	struct drf_leaf *l = arena_zero(a, 1, sizeof(*l));
	struct res request;

	l->used = arena_zero(a, t->ndims + 1, sizeof(l->used[0]));
	l->request = arena_zero(a, t->ndims + 1, sizeof(l->request[0]));
	sum_requests(s, g, &request);
	set_parts(t, s, &request, l->request);
	set_used(t, s, l, allocated);
	l->node = path->v[path->n - 1];
	l->next = t->nodes.v[l->node].leaves;
	t->nodes.v[l->node].leaves = l;
	t->leaves[g->id] = l;
}

void drf_tree_settle(struct drf_tree *t)
{
	(void)find_short(t);
	/* Children come after their parents. */
	for (size_t i = t->nodes.n; i-- > 0;) {
		for (struct drf_leaf *l = t->nodes.v[i].leaves; l != NULL; l = l->next) {
			update_leaf(t, l);
		}
		update_node(t, &t->nodes.v[i]);
	}
}

void drf_tree_change(struct drf_tree *t, const struct session *s, const struct podgroup *g,
		     const struct res *allocated)
{
	struct drf_leaf *l = t->leaves[g->id];

	set_used(t, s, l, allocated);
	if (find_short(t)) {
		drf_tree_settle(t);
		return;
	}
	update_leaf(t, l);
	for (uint32_t id = l->node; id != NONE; id = t->nodes.v[id].parent) {
		update_node(t, &t->nodes.v[id]);
	}
}

/* Rounded, so that shares which differ in the last bits alone are equal. */
static double weighted(const struct drf_node *n)
{
	return round(n->share / n->weight * 1e9) / 1e9;
}

int drf_tree_compare(const struct drf_tree *t, const struct queue *a, const struct queue *b)
{
	const struct drf_path *x = &t->paths[a->id], *y = &t->paths[b->id];

	for (size_t i = 0; i < x->n && i < y->n; i++) {
		const struct drf_node *m = &t->nodes.v[x->v[i]], *n = &t->nodes.v[y->v[i]];

		if (m->saturated != n->saturated) {
			return m->saturated ? 1 : -1;
		}
		if (weighted(m) != weighted(n)) {
			return weighted(m) < weighted(n) ? -1 : 1;
		}
	}
	return 0;
}
