#include <assert.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/cluster.h"

/* No namespace is empty, so that no PodGroup that a pod may name has the key of one that is alone.
 */
void cluster_podgroup_key(struct str namespace_, struct str name, bool alone, struct strbuf *key)
{
	if (alone) {
		strbuf_add_ch(key, '/');
	}
	strbuf_add_str(key, namespace_);
	strbuf_add_ch(key, '/');
	strbuf_add_str(key, name);
}

struct podgroup *cluster_podgroup_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->podgroup_by_key, key);
}

static struct podgroup *get(struct cluster *c, struct str namespace_, struct str name, bool alone)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	uint32_t ns;
	struct podgroup *g;

	cluster_podgroup_key(namespace_, name, alone, &key);
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
	g->open_pos = MODEL_NONE;
	g->created = MODEL_TIME_NONE;
	g->id = slots_add(&c->podgroups, g);
	g->alone = alone;
	strmap_set(c->podgroup_by_key, strbuf_str(&key), g);
	return g;
}

struct podgroup *cluster_podgroup_get(struct cluster *c, struct str namespace_, struct str name)
{
	return get(c, namespace_, name, false);
}

struct podgroup *cluster_podgroup_get_alone(struct cluster *c, struct str namespace_,
					    struct str name)
{
	struct podgroup *g = get(c, namespace_, name, true);

	g->exists = true;
	g->min_member = 1;
	/* Its pod waits for quota alone. */
	g->phase = PODGROUP_INQUEUE;
	return g;
}

/* Pods of an unknown queue get a condition that says so: its placeholder is looked at like a queue.
 * NULL: it names none. */
static struct queue *queue_of(const struct cluster *c, const struct podgroup *g)
{
	if (g->queue != MODEL_NONE) {
		return c->queues.v[g->queue];
	}
	return g->queue_name == MODEL_NONE ? NULL
					   : queue_find(c, intern_str(c->names, g->queue_name));
}

bool cluster_podgroup_is_open(const struct podgroup *g)
{
	return g->by_status[TASK_PENDING] > 0 || g->refused > 0 ||
	       (g->exists && g->phase == PODGROUP_PENDING);
}

static void leave_open(struct cluster *c, struct queue *q, struct podgroup *g)
{
	if (g->open_pos == MODEL_NONE) {
		return;
	}
	vec_swap_remove(&q->open, g->open_pos);
	if (g->open_pos < q->open.n) {
		c->podgroups.v[q->open.v[g->open_pos]]->open_pos = g->open_pos;
	}
	g->open_pos = MODEL_NONE;
}

void cluster_podgroup_changed(struct cluster *c, struct podgroup *g)
{
	struct queue *q = queue_of(c, g);

	if (q == NULL) {
		return;
	}
	q->podgroups_gen++;
	if (!cluster_podgroup_is_open(g)) {
		leave_open(c, q, g);
	} else if (g->open_pos == MODEL_NONE) {
		g->open_pos = (uint32_t)q->open.n;
		vec_push(&q->open, g->id);
	}
	if (!g->changed) {
		g->changed = true;
		vec_push(&q->changed, g->id);
	}
}

void cluster_podgroup_drop_changed(struct cluster *c, struct queue *q, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t id = q->changed.v[i];
		struct podgroup *g = id < c->podgroups.n ? c->podgroups.v[id] : NULL;

		if (g != NULL && queue_of(c, g) == q) {
			g->changed = false;
		}
	}
	if (n > 0) {
		q->changed.n -= n;
		memmove(q->changed.v, q->changed.v + n, q->changed.n * sizeof(q->changed.v[0]));
	}
}

static void leave_queue(struct cluster *c, struct podgroup *g)
{
	struct queue *q;

	if (g->queue_name == MODEL_NONE) {
		return;
	}
	/* The id stays in the changed list: what is kept of its amounts there must go. */
	cluster_podgroup_changed(c, g);
	g->changed = false;
	c->demand_gen++;
	q = queue_find(c, intern_str(c->names, g->queue_name));
	leave_open(c, q, g);
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
	c->demand_gen++;
	cluster_podgroup_changed(c, g);
	(void)access_update_podgroup(c, g);
}

/* Whether enough of its pods have nodes for it to run: then it announces the same as while it was
 * Inqueue. */
static bool is_placed(const struct podgroup *g)
{
	return (int64_t)g->by_status[TASK_BINDING] + g->by_status[TASK_BOUND] +
		       g->by_status[TASK_RUNNING] >=
	       g->min_member;
}

static bool announces(const struct podgroup *g, enum podgroup_phase phase)
{
	return phase == PODGROUP_INQUEUE || (phase == PODGROUP_RUNNING && is_placed(g));
}

void cluster_podgroup_set_phase(struct cluster *c, struct podgroup *g, enum podgroup_phase phase)
{
	c->demand_gen += announces(g, (enum podgroup_phase)g->phase) != announces(g, phase);
	g->phase = (uint8_t)phase;
	cluster_podgroup_changed(c, g);
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

	if ((g->exists && !g->alone) || g->tasks.n > 0) {
		return;
	}
	leave_queue(c, g);
	cluster_podgroup_key(str_of(g->namespace_), str_of(g->name), g->alone, &key);
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
