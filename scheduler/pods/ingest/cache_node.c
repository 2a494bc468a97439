#include "api/core/node.h"
#include "base/attrs.h"
#include "base/err.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/images.h"

/* Pods that name it may have been seen first, or ask for more than it had so far. */
static void reconcile_pods(struct cache *c, const struct node *n)
{
	for (size_t i = 0; i < n->tasks.n; i++) {
		cache_charge_reconcile(c, c->cluster->tasks.v[n->tasks.v[i]]);
	}
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_reconcile(c);
	}
}

static struct node *find(const struct cache *c, const struct api_node *node)
{
	return node->meta.name == NULL ? NULL
				       : cluster_node_find(c->cluster, str_of(node->meta.name));
}

/* Pods for which no node was found may fit one of this shape. */
static void try_again(struct cluster *c)
{
	for (size_t i = 0; i < c->podgroups.n; i++) {
		if (c->podgroups.v[i] != NULL) {
			cluster_podgroup_try_again(c, c->podgroups.v[i]);
		}
	}
}

int cache_node_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED,
		      struct err *err)
{
	const struct api_node *node = m->object;
	uint64_t before = c->cluster->nodes_gen;

	if (from_api_node(c->cluster, node, err) < 0) {
		return -ERR_INVALID;
	}
	if (c->cluster->nodes_gen != before) {
		reconcile_pods(c, find(c, node));
		if (cache_shapes_add(c, node)) {
			try_again(c->cluster);
		}
	}
	cache_resources_changed(c);
	/* Heartbeats change nothing that matters. */
	c->dirty |= c->cluster->nodes_gen != before;
	return 0;
}

void cache_node_keep(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED)
{
	const struct api_node *node = m->object;
	struct node *n = find(c, node);
	struct res same;

	if (n == NULL || !n->exists || n->unschedulable) {
		return;
	}
	same = n->allocatable;
	/* Its resources and the pods on it stay in the accounts; the next version that can be read
	 * takes this back. */
	n->unschedulable = true;
	cluster_node_changed(c->cluster, n, &same, true);
	c->dirty = true;
}

void cache_node_remove(struct cache *c, const struct sched_msg *m)
{
	struct node *n = cluster_node_find(c->cluster, m->key);
	struct res old;

	if (n == NULL || !n->exists) {
		return;
	}
	old = n->allocatable;
	n->exists = false;
	n->unschedulable = false;
	res_fill(&n->allocatable, 0);
	vec_finish(&n->labels);
	vec_finish(&n->taints);
	images_set_node(c->cluster, n, NULL, 0);
	cluster_node_changed(c->cluster, n, &old, true);
	cluster_node_prune(c->cluster, n);
	c->dirty = true;
}
