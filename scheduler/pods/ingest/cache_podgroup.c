#include <stdlib.h>

#include "api/keys.h"
#include "api/scheduling.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"

static struct job *find(const struct cache *c, const struct api_meta *m)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	strbuf_add_str(&key, str_of(m->namespace_));
	strbuf_add_ch(&key, '/');
	strbuf_add_str(&key, str_of(m->name));
	return cluster_job_find(c->cluster, strbuf_str(&key));
}

/* Everything that was remembered of a PodGroup and is not that of another one by the same name. */
static void forget_group(struct job *j)
{
	free(j->uid);
	j->uid = NULL;
	j->status_hash = 0;
	j->phase = JOB_PENDING;
	j->min_member = 0;
	j->priority = 0;
	j->priority_class = MODEL_NONE;
	j->has_min_resources = false;
	res_fill(&j->min_resources, 0);
	unoffered_finish(&j->min_unoffered);
	vec_clear(&j->role_min);
	j->created = MODEL_TIME_NONE;
	j->resource_version = 0;
	j->status_running = j->status_succeeded = j->status_failed = 0;
}

/* A PodGroup that our controller made for one pod has its member at once: that the pod names it
 * need not be written before the pod is bound. */
static void adopt(struct cache *c, struct job *j, const struct api_pod_group *group)
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
	if (t == NULL || t->job != MODEL_NONE || t->status != TASK_PENDING ||
	    !str_streq(t->uid, owner->uid) || !cluster_task_may_be_adopted(t)) {
		return;
	}
	cluster_task_set_job(c->cluster, t, j);
	t->flags |= TASK_ADOPTED;
	cluster_task_changed(c->cluster, t);
}

/* j: as it is now. known: it was there before. */
static void took(struct cache *c, struct job *j, const struct api_pod_group *group, bool known)
{
	adopt(c, j, group);
	cache_charge_settle_job(c, j);
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_settle(c);
	}
	c->dirty = true;
	if (!known) {
		cache_foreign_podgroup(c, j, group);
	}
	if (c->listener.on_podgroup != NULL) {
		c->listener.on_podgroup(c->listener.ctx, j, group);
	}
}

int cache_podgroup_upsert(struct cache *c, const struct api_pod_group *group, struct err *err)
{
	const struct api_meta *m = &group->meta;
	struct job *j = m->name == NULL || m->namespace_ == NULL ? NULL : find(c, m);
	int64_t version = meta_version(m);
	bool known;

	if (j != NULL && j->has_group && version != 0 && version < j->resource_version) {
		return 0;
	}
	known = j != NULL && j->has_group && str_streq(j->uid, m->uid);
	if (from_api_podgroup(c->cluster, group, str_of(c->default_queue), err) < 0) {
		return -ERR_INVALID;
	}
	took(c, find(c, m), group, known);
	return 0;
}

void cache_podgroup_keep(struct cache *c, const struct api_pod_group *group)
{
	const struct api_meta *m = &group->meta;
	struct job *j = m->name == NULL || m->namespace_ == NULL ? NULL : find(c, m);

	/* The last version that could be read stays. */
	if (j != NULL && j->has_group && (m->uid == NULL || str_streq(j->uid, m->uid))) {
		return;
	}
	if (from_api_podgroup_keep(c->cluster, group, str_of(c->default_queue), NULL) == 0) {
		took(c, find(c, m), group, false);
	}
}

void cache_podgroup_remove(struct cache *c, struct str key)
{
	struct job *j = cluster_job_find(c->cluster, key);

	if (j == NULL || !j->has_group) {
		return;
	}
	if (c->listener.on_podgroup != NULL) {
		c->listener.on_podgroup(c->listener.ctx, j, NULL);
	}
	cache_foreign_forget(c, key);
	j->has_group = false;
	forget_group(j);
	cluster_job_changed(c->cluster, j);
	cluster_job_set_queue(c->cluster, j, str_of(NULL));
	cache_charge_settle_job(c, j);
	cluster_job_prune(c->cluster, j);
	c->dirty = true;
	if (c->queues_stale && c->synced[SCHED_QUEUES]) {
		cache_queue_settle(c);
	}
}
