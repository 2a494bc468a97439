#include <assert.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/cluster.h"

static void podgroup_key(struct strbuf *key, struct str namespace_, struct str name)
{
	strbuf_add_str(key, namespace_);
	strbuf_add_ch(key, '/');
	strbuf_add_str(key, name);
}

struct podgroup *cluster_podgroup_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->podgroup_by_key, key);
}

struct podgroup *cluster_podgroup_get(struct cluster *c, struct str namespace_, struct str name)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	uint32_t ns;
	struct podgroup *g;

	podgroup_key(&key, namespace_, name);
	g = cluster_podgroup_find(c, strbuf_str(&key));
	if (g != NULL) {
		return g;
	}
	ns = intern_id(c->names, namespace_);
	assert(ns != INTERN_NONE);
	g = xmalloc_zero(1, sizeof(*g));
	g->namespace_ = intern_name(c->names, ns);
	g->name = xmalloc_dup_n(name.p, name.len);
	g->queue = g->queue_name = g->priority_class = g->barred_by = MODEL_NONE;
	g->created = MODEL_TIME_NONE;
	g->id = slots_add(&c->podgroups, g);
	strmap_set(c->podgroup_by_key, strbuf_str(&key), g);
	return g;
}

void cluster_podgroup_changed(struct cluster *c, struct podgroup *g)
{
	struct queue *q = NULL;

	if (g->queue != MODEL_NONE) {
		q = c->queues.v[g->queue];
	} else if (g->queue_name != MODEL_NONE) {
		/* Pods of an unknown queue get a condition that says so: its placeholder is looked
		 * at like a queue. */
		q = queue_find(c, intern_str(c->names, g->queue_name));
	}
	if (q != NULL) {
		q->podgroups_gen++;
	}
}

static void leave_queue(struct cluster *c, struct podgroup *g)
{
	struct queue *q;

	if (g->queue_name == MODEL_NONE) {
		return;
	}
	cluster_podgroup_changed(c, g);
	q = queue_find(c, intern_str(c->names, g->queue_name));
	if (g->queue != MODEL_NONE) {
		vec_swap_remove(&q->podgroups, g->queue_pos);
		if (g->queue_pos < q->podgroups.n) {
			c->podgroups.v[q->podgroups.v[g->queue_pos]]->queue_pos = g->queue_pos;
		}
	} else {
		vec_swap_remove(&q->waiting, g->queue_pos);
		if (g->queue_pos < q->waiting.n) {
			c->podgroups.v[q->waiting.v[g->queue_pos]]->queue_pos = g->queue_pos;
		}
	}
	g->queue = g->queue_name = MODEL_NONE;
	/* The queue may have been known by this PodGroup alone. */
	queue_prune(c, q);
}

void cluster_podgroup_set_queue(struct cluster *c, struct podgroup *g, struct str queue_name)
{
	struct queue *q;
	uint32_t id = MODEL_NONE;

	if (queue_name.len > 0) {
		id = intern_id(c->names, queue_name);
		assert(id != INTERN_NONE);
	}
	/* The same name may be that of a queue which came or went: queue_topology_changed moves its
	 * PodGroups. */
	if (id == g->queue_name) {
		return;
	}
	leave_queue(c, g);
	if (id == MODEL_NONE) {
		return;
	}
	g->queue_name = id;
	q = queue_get(c, queue_name);
	if (q->exists) {
		g->queue = q->id;
		g->queue_pos = (uint32_t)q->podgroups.n;
		vec_push(&q->podgroups, g->id);
	} else {
		g->queue_pos = (uint32_t)q->waiting.n;
		vec_push(&q->waiting, g->id);
	}
	cluster_podgroup_changed(c, g);
	(void)access_update_podgroup(c, g);
}

const char *cluster_podgroup_unsupported(const struct podgroup *g)
{
	switch ((enum podgroup_unsupported)g->unsupported) {
	case PODGROUP_HARD_TOPOLOGY:
		return "spec.networkTopology of the PodGroup has mode hard, which Headgate cannot "
		       "keep: its pods are not started; set mode soft, which lets them run "
		       "anywhere, "
		       "or remove the field";
	case PODGROUP_SUB_GROUPS:
		return "spec.subGroupPolicy of the PodGroup is not supported by Headgate: its pods "
		       "are not started; remove the field";
	case PODGROUP_SUPPORTED:
	case PODGROUP_UNSUPPORTED_COUNT_:
		break;
	}
	return NULL;
}

void cluster_podgroup_prune(struct cluster *c, struct podgroup *g)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	if (g->exists || g->tasks.n > 0) {
		return;
	}
	leave_queue(c, g);
	podgroup_key(&key, str_of(g->namespace_), str_of(g->name));
	strmap_remove(c->podgroup_by_key, strbuf_str(&key));
	slots_remove(&c->podgroups, g->id);
	unoffered_finish(&g->min_unoffered);
	vec_finish(&g->role_min);
	vec_finish(&g->tasks);
	vec_finish(&g->rivals);
	free(g->name);
	free(g->uid);
	free(g);
}
