#include <stdlib.h>

#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/err.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/model/access.h"

static void settle_podgroups(struct cache *c)
{
	for (size_t i = 0; i < c->cluster->podgroups.n; i++) {
		if (c->cluster->podgroups.v[i] != NULL) {
			cache_charge_reconcile_podgroup(c, c->cluster->podgroups.v[i]);
		}
	}
}

static void prune(struct cache *c)
{
	for (size_t i = 0; i < c->cluster->queues.n; i++) {
		if (c->cluster->queues.v[i] != NULL) {
			queue_prune(c->cluster, c->cluster->queues.v[i]);
		}
	}
}

/* Settling may book on a queue that does not exist, or take the last charge from one: the tree
 * changes once more then, and no further, since the second pass finds every charge in its place. */
void cache_queue_reconcile(struct cache *c)
{
	for (int pass = 0; c->queues_stale && pass < 3; pass++) {
		c->queues_stale = false;
		/* Charges were rolled up along the old parents. */
		if (queue_topology_changed(c->cluster)) {
			ledger_rebuild_sums(c->cluster);
		}
		settle_podgroups(c);
	}
	prune(c);
}

int cache_queue_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED,
		       struct err *err)
{
	const struct api_queue *queue = m->object;
	const struct queue *known =
		queue->meta.name == NULL ? NULL : queue_find(c->cluster, str_of(queue->meta.name));
	int64_t version = meta_version(&queue->meta);
	bool changed = false;

	if (known != NULL && known->exists && version != 0 && version < known->resource_version) {
		return 0;
	}
	if (from_api_queue(c->cluster, queue, &changed, err) < 0) {
		return -ERR_INVALID;
	}
	cache_resources_changed(c);
	if (changed) {
		c->queues_stale = true;
		c->dirty = true;
	}
	/* While the first LIST comes in, one settlement at its end does for all. */
	if (c->synced[SCHED_QUEUES] && c->queues_stale) {
		cache_queue_reconcile(c);
	}
	if (c->listener.on_queue != NULL) {
		c->listener.on_queue(c->listener.ctx,
				     queue_find(c->cluster, str_of(queue->meta.name)), queue);
	}
	/* Everything else of it holds. */
	return access_check_queue(c->cluster, str_of(queue->meta.name), err);
}

void cache_queue_remove(struct cache *c, const struct sched_msg *m)
{
	struct queue *q = queue_find(c->cluster, m->key);

	if (q == NULL || !q->exists) {
		return;
	}
	if (c->listener.on_queue != NULL) {
		c->listener.on_queue(c->listener.ctx, q, NULL);
	}
	/* Its parent stays: while pods are charged to it the ancestors count them. */
	q->exists = false;
	q->state = QUEUE_OPEN;
	q->weight = 1;
	q->priority = 0;
	q->reclaimable = q->id != c->cluster->root_queue;
	q->resource_version = 0;
	free(q->uid);
	q->uid = NULL;
	res_fill(&q->capability, RES_UNLIMITED);
	res_fill(&q->guarantee, 0);
	res_fill(&q->deserved, 0);
	(void)access_set_queue(c->cluster, m->key, NULL);
	c->queues_stale = true;
	c->dirty = true;
	cache_queue_reconcile(c);
}
