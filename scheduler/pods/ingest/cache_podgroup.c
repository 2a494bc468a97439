#include <stdlib.h>

#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"

static struct podgroup *find(const struct cache *c, const struct api_meta *m)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	strbuf_add_str(&key, str_of(m->namespace_));
	strbuf_add_ch(&key, '/');
	strbuf_add_str(&key, str_of(m->name));
	return cluster_podgroup_find(c->cluster, strbuf_str(&key));
}

/* Everything that was remembered of a PodGroup and is not that of another one by the same name. */
static void forget_group(struct podgroup *g)
{
	free(g->uid);
	g->uid = NULL;
	g->status_hash = 0;
	g->phase = PODGROUP_PENDING;
	g->unsupported = PODGROUP_SUPPORTED;
	g->min_member = 0;
	g->priority = 0;
	g->priority_class = MODEL_NONE;
	g->has_min_resources = false;
	res_fill(&g->min_resources, 0);
	unoffered_finish(&g->min_unoffered);
	vec_clear(&g->role_min);
	g->created = MODEL_TIME_NONE;
	g->resource_version = 0;
	g->status_running = g->status_succeeded = g->status_failed = 0;
}

static bool has_own_podgroup(const struct cluster *c, const struct task *t)
{
	return t->podgroup != MODEL_NONE && c->podgroups.v[t->podgroup]->kind != PODGROUP_ALONE;
}

/* A PodGroup that our controller made for one pod has its member at once: that the pod names it
 * need not be written before the pod is bound. */
static void adopt(struct cache *c, struct podgroup *g, const struct api_pod_group *group)
{
	const struct api_owner *owner = meta_controller(&group->meta);
	const char *maker = field_map_get(&group->meta.annotations, KEYS_MADE_BY);
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct task *t;

	if (owner == NULL || !str_streq(owner->kind, "Pod") || owner->name == NULL ||
	    !str_streq(maker, KEYS_COMPONENT)) {
		return;
	}
	strbuf_printf(&key, "%s/%s", group->meta.namespace_, owner->name);
	t = cluster_task_find(c->cluster, strbuf_str(&key));
	/* One that was made earlier, by a process with --podgroup-per-pod, takes the place of the
	 * record that the pod has alone. */
	if (t == NULL || has_own_podgroup(c->cluster, t) || t->status != TASK_PENDING ||
	    !str_streq(t->uid, owner->uid) || !cluster_task_may_be_adopted(t)) {
		return;
	}
	cluster_task_set_podgroup(c->cluster, t, g);
	t->flags |= TASK_ADOPTED;
	cluster_task_changed(c->cluster, t);
}

/* g: as it is now. known: it was there before. */
static void took(struct cache *c, struct podgroup *g, const struct api_pod_group *group, bool known)
{
	/* First: a pod that is adopted now is one of the members, and their charges follow. */
	adopt(c, g, group);
	cache_charge_reconcile_podgroup(c, g);
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_reconcile(c);
	}
	c->dirty = true;
	if (!known) {
		cache_foreign_podgroup(c, g, group);
	}
	if (c->listener.on_podgroup != NULL) {
		c->listener.on_podgroup(c->listener.ctx, g, group);
	}
}

int cache_podgroup_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED,
			  struct err *err)
{
	const struct api_pod_group *group = m->object;
	const struct api_meta *meta = &group->meta;
	struct podgroup *g = meta->name == NULL || meta->namespace_ == NULL ? NULL : find(c, meta);
	int64_t version = meta_version(meta);
	bool known;

	if (g != NULL && g->exists && version != 0 && version < g->resource_version) {
		return 0;
	}
	known = g != NULL && g->exists && str_streq(g->uid, meta->uid);
	if (from_api_podgroup(c->cluster, group, str_of(c->default_queue), err) < 0) {
		return -ERR_INVALID;
	}
	took(c, find(c, meta), group, known);
	return 0;
}

void cache_podgroup_keep(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED)
{
	const struct api_pod_group *group = m->object;
	const struct api_meta *meta = &group->meta;
	struct podgroup *g = meta->name == NULL || meta->namespace_ == NULL ? NULL : find(c, meta);

	/* The last version that could be read stays. */
	if (g != NULL && g->exists && (meta->uid == NULL || str_streq(g->uid, meta->uid))) {
		return;
	}
	if (from_api_podgroup_keep(c->cluster, group, str_of(c->default_queue), NULL) == 0) {
		took(c, find(c, meta), group, false);
	}
}

void cache_podgroup_remove(struct cache *c, const struct sched_msg *m)
{
	struct podgroup *g = cluster_podgroup_find(c->cluster, m->key);

	if (g == NULL || !g->exists) {
		return;
	}
	/* The listener still sees the spec and the pods of the PodGroup that is gone. */
	g->exists = false;
	c->cluster->demand_gen++;
	if (c->listener.on_podgroup != NULL) {
		c->listener.on_podgroup(c->listener.ctx, g, NULL);
	}
	cache_foreign_forget(c, m->key);
	forget_group(g);
	cluster_podgroup_changed(c->cluster, g);
	/* Pods that name it keep its record, so that they have it when the PodGroup is created
	 * again. */
	cluster_podgroup_set_queue(c->cluster, g, str_of(NULL));
	cache_charge_reconcile_podgroup(c, g);
	cluster_podgroup_prune(c->cluster, g);
	c->dirty = true;
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_reconcile(c);
	}
}
