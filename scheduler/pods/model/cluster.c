#include "scheduler/pods/model/cluster.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/budgets.h"
#include "scheduler/pods/model/images.h"
#include "scheduler/pods/model/selectors.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"

struct cluster *cluster_create(void)
{
	struct cluster *c = xmalloc_zero(1, sizeof(*c));
	struct queue *root;

	c->res = res_names_create();
	c->res_resolved = res_names_count(c->res);
	c->names = intern_create();
	c->task_by_key = strmap_create(NULL);
	c->podgroup_by_key = strmap_create(NULL);
	c->queue_by_name = strmap_create(NULL);
	c->node_by_name = strmap_create(NULL);
	c->classes = strmap_create(NULL);
	c->priority_classes = strmap_create(free);
	c->access = access_create();
	c->selectors = selectors_create();
	volumes_begin(c);
	storage_capacity_begin(c);
	images_begin(c);
	c->root_queue = MODEL_NONE;
	c->default_queue = MODEL_NONE;
	/* The root is there even when no object describes it: every queue without a parent hangs
	 * below it. */
	root = queue_get(c, STR_LIT("root"));
	c->root_queue = root->id;
	root->reclaimable = false;
	(void)queue_topology_changed(c);
	return c;
}

static void free_tasks(struct cluster *c)
{
	for (size_t i = 0; i < c->tasks.n; i++) {
		if (c->tasks.v[i] != NULL) {
			free(c->tasks.v[i]->name);
			free(c->tasks.v[i]);
		}
	}
	for (size_t i = 0; i < c->class_by_id.n; i++) {
		pod_class_destroy(c->class_by_id.v[i]);
	}
	slots_finish(&c->tasks);
	vec_finish(&c->awaiting);
	vec_finish(&c->stranded);
	vec_finish(&c->ending);
	vec_finish(&c->binding);
	slots_finish(&c->class_by_id);
}

static void free_podgroups(struct cluster *c)
{
	for (size_t i = 0; i < c->podgroups.n; i++) {
		struct podgroup *g = c->podgroups.v[i];

		if (g != NULL) {
			free(g->name);
			free(g->uid);
			unoffered_finish(&g->min_unoffered);
			vec_finish(&g->role_min);
			vec_finish(&g->rivals);
			vec_finish(&g->tasks);
			free(g);
		}
	}
	slots_finish(&c->podgroups);
}

static void free_queues(struct cluster *c)
{
	for (size_t i = 0; i < c->queues.n; i++) {
		struct queue *q = c->queues.v[i];

		if (q != NULL) {
			free(q->name);
			free(q->uid);
			free(q->parent_name);
			free(q->hierarchy);
			free(q->hierarchy_weights);
			vec_finish(&q->children);
			vec_finish(&q->podgroups);
			vec_finish(&q->waiting);
			vec_finish(&q->open);
			vec_finish(&q->changed);
			free(q);
		}
	}
	slots_finish(&c->queues);
}

static void free_nodes(struct cluster *c)
{
	for (size_t i = 0; i < c->nodes.n; i++) {
		struct node *n = c->nodes.v[i];

		if (n != NULL) {
			free(n->name);
			vec_finish(&n->labels);
			vec_finish(&n->taints);
			vec_finish(&n->tasks);
			vec_finish(&n->limits);
			vec_finish(&n->images);
			free(n);
		}
	}
	slots_finish(&c->nodes);
}

void cluster_destroy(struct cluster *c)
{
	if (c == NULL) {
		return;
	}
	free_tasks(c);
	free_podgroups(c);
	free_queues(c);
	free_nodes(c);
	budgets_finish(c);
	storage_capacity_finish(c);
	volumes_finish(c);
	images_finish(c);
	strmap_destroy(c->task_by_key);
	strmap_destroy(c->podgroup_by_key);
	strmap_destroy(c->queue_by_name);
	strmap_destroy(c->node_by_name);
	strmap_destroy(c->classes);
	strmap_destroy(c->priority_classes);
	access_destroy(c->access);
	selectors_destroy(c->selectors);
	res_names_destroy(c->res);
	intern_destroy(c->names);
	free(c);
}

void cluster_account_sub(struct cluster *c, struct res *a, const struct res *b)
{
	struct res_edit edit = res_edit_begin(c->res, a);

	res_sub(a, b);
	for (unsigned i = 0; i < res_width(a); i++) {
		if (res_get(a, i) < 0) {
			res_edit_set(&edit, i, 0);
			c->drift++;
		}
	}
	res_edit_end(&edit);
}

/* room_gen only grows, so that the sum over the same queues changes with each of them. */
uint64_t cluster_chain_gen(const struct cluster *c, const struct queue *q)
{
	const struct queue *at;
	uint64_t gen = 0;

	QUEUE_FOR_EACH_UP (at, c, q->id) {
		gen += at->room_gen;
	}
	return gen;
}
