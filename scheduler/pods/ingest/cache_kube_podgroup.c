#include <stdlib.h>

#include "api/core/kube_pod_group.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"

/* NULL: not known. */
static struct podgroup *find(const struct cache *c, struct str namespace_, struct str name)
{
	const struct podgroup_key k = { namespace_, name, .kind = PODGROUP_KUBE };
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	cluster_podgroup_key(&k, &key);
	return cluster_podgroup_find(c->cluster, strbuf_str(&key));
}

/* Charges stay where they were granted. That of a pod which was created on its node before the
 * PodGroup goes to its own queue now. */
static void parts_changed(struct cache *c, const struct podgroup *whole)
{
	const struct cluster *cl = c->cluster;

	for (uint32_t id = whole->next_part; id != MODEL_NONE;
	     id = cl->podgroups.v[id]->next_part) {
		cache_charge_reconcile_podgroup(c, cl->podgroups.v[id]);
	}
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_reconcile(c);
	}
	c->dirty = true;
}

int cache_kube_podgroup_upsert(struct cache *c, const struct sched_msg *m,
			       struct cache_time time UNUSED, struct err *err)
{
	const struct api_kube_pod_group *group = m->object;
	const struct api_meta *meta = &group->meta;
	struct podgroup *g = find(c, str_of(meta->namespace_), str_of(meta->name));
	int64_t version = meta_version(meta);

	if (g != NULL && g->exists && version != 0 && version < g->resource_version) {
		return 0;
	}
	if (from_api_kube_podgroup(c->cluster, group, err) < 0) {
		return -ERR_INVALID;
	}
	parts_changed(c, find(c, str_of(meta->namespace_), str_of(meta->name)));
	return 0;
}

void cache_kube_podgroup_keep(struct cache *c, const struct sched_msg *m,
			      struct cache_time time UNUSED)
{
	const struct api_kube_pod_group *group = m->object;
	const struct api_meta *meta = &group->meta;
	struct podgroup *g = find(c, str_of(meta->namespace_), str_of(meta->name));

	/* The last version that could be read stays. */
	if (g != NULL && g->exists && (meta->uid == NULL || str_streq(g->uid, meta->uid))) {
		return;
	}
	if (from_api_kube_podgroup_keep(c->cluster, group, NULL) == 0) {
		parts_changed(c, find(c, str_of(meta->namespace_), str_of(meta->name)));
	}
}

void cache_kube_podgroup_remove(struct cache *c, const struct sched_msg *m)
{
	struct str name = m->key, namespace_ = str_next(&name, '/');
	struct podgroup *g = find(c, namespace_, name);

	if (g == NULL || !g->exists) {
		return;
	}
	g->exists = false;
	g->min_member = g->priority = 0;
	g->created = MODEL_TIME_NONE;
	g->resource_version = 0;
	free(g->uid);
	g->uid = NULL;
	cluster_podgroup_kube_changed(c->cluster, g);
	for (uint32_t id = g->next_part; id != MODEL_NONE && c->listener.on_podgroup != NULL;
	     id = c->cluster->podgroups.v[id]->next_part) {
		c->listener.on_podgroup(c->listener.ctx, c->cluster->podgroups.v[id], NULL);
	}
	parts_changed(c, g);
	cluster_podgroup_prune(c->cluster, g);
}
