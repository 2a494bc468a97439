#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/cluster.h"

struct node *cluster_node_find(const struct cluster *c, struct str name)
{
	return strmap_get(c->node_by_name, name);
}

struct node *cluster_node_get(struct cluster *c, struct str name)
{
	struct node *n = cluster_node_find(c, name);

	if (n != NULL) {
		return n;
	}
	n = xmalloc_zero(1, sizeof(*n));
	n->name = xmalloc_dup_n(name.p, name.len);
	n->id = slots_add(&c->nodes, n);
	strmap_set(c->node_by_name, name, n);
	return n;
}

static bool expr_holds(const struct match_expr *e, const struct node *n)
{
	return match_expr_holds(e, e->on_field ? n->name
					       : match_label(n->labels.v, n->labels.n, e->key));
}

bool cluster_node_matches(const struct node *n, const struct match_term *t)
{
	for (size_t i = 0; i < t->nexprs; i++) {
		if (!expr_holds(&t->exprs[i], n)) {
			return false;
		}
	}
	return t->nexprs > 0;
}

static void count_used(struct cluster *c)
{
	res_fill(&c->used, 0);
	for (size_t i = 0; i < c->nodes.n; i++) {
		if (c->nodes.v[i] != NULL && c->nodes.v[i]->exists) {
			res_add(&c->used, &c->nodes.v[i]->used);
		}
	}
}

/* Takes off what existing nodes use no more. */
static void use_less(struct cluster *c, const struct res *amount)
{
	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		/* A sum that was cut off at the largest number does not come back by subtraction.
		 * This is a walk over all nodes, but only for sums that have reached it. */
		if (res_get(amount, d) > 0 && res_get(&c->used, d) == INT64_MAX) {
			count_used(c);
			return;
		}
	}
	cluster_account_sub(c, &c->used, amount);
}

void cluster_node_book(struct cluster *c, struct node *n, const struct res *request)
{
	res_add(&n->used, request);
	n->use_gen++;
	if (n->exists) {
		res_add(&c->used, request);
	}
}

void cluster_node_unbook(struct cluster *c, struct node *n, const struct res *request)
{
	cluster_account_sub(c, &n->used, request);
	n->use_gen++;
	if (n->exists) {
		use_less(c, request);
	}
}

void cluster_node_changed(struct cluster *c, struct node *n, const struct res *old_allocatable,
			  bool spec)
{
	bool existed = old_allocatable != NULL;

	if (existed) {
		cluster_account_sub(c, &c->total, old_allocatable);
	}
	if (n->exists) {
		res_add(&c->total, &n->allocatable);
	}
	if (n->exists && !existed) {
		res_add(&c->used, &n->used);
	} else if (existed && !n->exists) {
		use_less(c, &n->used);
	}
	c->nodes_gen++;
	c->node_objects_gen++;
	if (spec) {
		/* From the cluster's counter: a node that takes over the id of a removed one must
		 * not be taken for it by a cache that keys on id and generation. */
		n->spec_gen = c->nodes_gen;
	}
}

void cluster_node_prune(struct cluster *c, struct node *n)
{
	/* Its pods and nominations have its id; its CSINode may come first. */
	if (n->exists || n->tasks.n > 0 || n->nominations > 0 || n->limits.n > 0) {
		return;
	}
	strmap_remove(c->node_by_name, str_of(n->name));
	slots_remove(&c->nodes, n->id);
	vec_finish(&n->labels);
	vec_finish(&n->taints);
	vec_finish(&n->tasks);
	assert(n->images.n == 0);
	vec_finish(&n->images);
	free(n->name);
	free(n);
}
