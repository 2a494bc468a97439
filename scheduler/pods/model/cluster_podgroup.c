#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "collections/strmap.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/cluster.h"

/* No namespace is empty and no name has a slash, so that no PodGroup that a pod may name has the
 * key of another kind. */
void cluster_podgroup_key(const struct podgroup_key *k, struct strbuf *out)
{
	static const char *const prefixes[PODGROUP_KIND_COUNT_] = {
		[PODGROUP_VOLCANO] = "",
		[PODGROUP_ALONE] = "/",
		[PODGROUP_KUBE] = "//",
		[PODGROUP_PART] = "//",
	};

	assert(k->kind < PODGROUP_KIND_COUNT_);
	strbuf_add_str(out, str_of(prefixes[k->kind]));
	strbuf_add_str(out, k->namespace_);
	strbuf_add_ch(out, '/');
	strbuf_add_str(out, k->name);
	if (k->kind == PODGROUP_PART) {
		strbuf_add_ch(out, '/');
		strbuf_add_str(out, k->queue);
	}
}

struct podgroup_key cluster_podgroup_key_of(const struct cluster *c, const struct podgroup *g)
{
	return (struct podgroup_key){
		.namespace_ = str_of(g->namespace_),
		.name = str_of(g->name),
		.kind = (enum podgroup_kind)g->kind,
		.queue = g->part_queue == MODEL_NONE ? str_of(NULL)
						     : intern_str(c->names, g->part_queue),
	};
}

struct podgroup *cluster_podgroup_find(const struct cluster *c, struct str key)
{
	return strmap_get(c->podgroup_by_key, key);
}

static uint32_t intern(struct cluster *c, struct str name)
{
	uint32_t id = intern_id(c->names, name);

	assert(id != INTERN_NONE);
	return id;
}

struct podgroup *cluster_podgroup_add(struct cluster *c, const struct podgroup_key *k)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct podgroup *g = xmalloc_zero(1, sizeof(*g));

	cluster_podgroup_key(k, &key);
	g->namespace_ = intern_name(c->names, intern(c, k->namespace_));
	g->name = xmalloc_dup_n(k->name.p, k->name.len);
	g->queue = g->queue_name = g->priority_class = g->barred_by = MODEL_NONE;
	g->open_pos = g->whole = g->next_part = g->prev_part = MODEL_NONE;
	g->part_queue = k->kind == PODGROUP_PART ? intern(c, k->queue) : MODEL_NONE;
	g->created = MODEL_TIME_NONE;
	g->id = slots_add(&c->podgroups, g);
	g->kind = (uint8_t)k->kind;
	strmap_set(c->podgroup_by_key, strbuf_str(&key), g);
	return g;
}

static struct podgroup *find(const struct cluster *c, const struct podgroup_key *k)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;

	cluster_podgroup_key(k, &key);
	return cluster_podgroup_find(c, strbuf_str(&key));
}

static struct podgroup *get(struct cluster *c, const struct podgroup_key *k)
{
	struct podgroup *g = find(c, k);

	return g != NULL ? g : cluster_podgroup_add(c, k);
}

struct podgroup *cluster_podgroup_get(struct cluster *c, struct str namespace_, struct str name)
{
	return get(c, &(struct podgroup_key){ namespace_, name, .kind = PODGROUP_VOLCANO });
}

struct podgroup *cluster_podgroup_get_alone(struct cluster *c, struct str namespace_,
					    struct str name)
{
	struct podgroup *g =
		get(c, &(struct podgroup_key){ namespace_, name, .kind = PODGROUP_ALONE });

	g->exists = true;
	g->min_member = 1;
	/* Its pod waits for quota alone. */
	g->phase = PODGROUP_INQUEUE;
	return g;
}

struct podgroup *cluster_podgroup_get_kube(struct cluster *c, struct str namespace_,
					   struct str name)
{
	struct podgroup *g =
		get(c, &(struct podgroup_key){ namespace_, name, .kind = PODGROUP_KUBE });

	g->phase = PODGROUP_INQUEUE;
	return g;
}

static void follow(struct cluster *c, const struct podgroup *whole, struct podgroup *part)
{
	c->demand_gen += part->exists != whole->exists || part->min_member != whole->min_member;
	part->exists = whole->exists;
	part->min_member = whole->min_member;
	part->priority = whole->priority;
	part->created = whole->created;
	free(part->uid);
	part->uid = whole->uid == NULL ? NULL : xmalloc_dup(whole->uid);
	cluster_podgroup_set_queue(
		c, part, whole->exists ? intern_str(c->names, part->part_queue) : str_of(NULL));
	cluster_podgroup_changed(c, part);
}

void cluster_podgroup_link_part(struct cluster *c, struct podgroup *whole, struct podgroup *part)
{
	part->whole = whole->id;
	part->next_part = whole->next_part;
	if (part->next_part != MODEL_NONE) {
		c->podgroups.v[part->next_part]->prev_part = part->id;
	}
	whole->next_part = part->id;
}

struct podgroup *cluster_podgroup_get_part(struct cluster *c, struct str namespace_,
					   struct str name, struct str queue)
{
	const struct podgroup_key key = { namespace_, name, PODGROUP_PART, queue };
	struct podgroup *part = find(c, &key), *whole;

	if (part != NULL) {
		return part;
	}
	whole = cluster_podgroup_get_kube(c, namespace_, name);
	part = cluster_podgroup_add(c, &key);
	part->phase = PODGROUP_INQUEUE;
	cluster_podgroup_link_part(c, whole, part);
	follow(c, whole, part);
	return part;
}

void cluster_podgroup_kube_changed(struct cluster *c, const struct podgroup *whole)
{
	for (uint32_t id = whole->next_part; id != MODEL_NONE; id = c->podgroups.v[id]->next_part) {
		follow(c, whole, c->podgroups.v[id]);
	}
}

static void unlink_part(struct cluster *c, const struct podgroup *part)
{
	struct podgroup *whole = c->podgroups.v[part->whole];

	if (part->next_part != MODEL_NONE) {
		c->podgroups.v[part->next_part]->prev_part = part->prev_part;
	}
	if (part->prev_part != MODEL_NONE) {
		c->podgroups.v[part->prev_part]->next_part = part->next_part;
	} else {
		whole->next_part = part->next_part;
	}
	cluster_podgroup_prune(c, whole);
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

void cluster_podgroup_try_again(struct cluster *c, struct podgroup *g)
{
	if (g->unplaced == 0) {
		return;
	}
	for (size_t i = 0; i < g->tasks.n; i++) {
		struct task *t = c->tasks.v[g->tasks.v[i]];

		if (t->retry_at == MODEL_TIME_NEVER) {
			cluster_task_set_retry(c, t, MODEL_TIME_NONE);
		}
	}
	cluster_podgroup_changed(c, g);
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
	cluster_podgroup_try_again(c, g);
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

const struct podgroup *cluster_podgroup_rival(const struct cluster *c,
					      const struct podgroup_rival *r)
{
	const struct podgroup *g =
		r->podgroup < c->podgroups.n ? c->podgroups.v[r->podgroup] : NULL;

	return g != NULL && g->uid != NULL && r->queues_gen == c->queues_gen &&
			       r->name == str_hash(str_of(g->uid))
		       ? g
		       : NULL;
}

/* Keeps the rivals that still have an effect, without `by`. */
static void keep_rivals(const struct cluster *c, struct podgroup *g, const struct podgroup *by)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->rivals.n; i++) {
		const struct podgroup *rival = cluster_podgroup_rival(c, &g->rivals.v[i]);

		if (rival != NULL && rival != by) {
			g->rivals.v[kept++] = g->rivals.v[i];
		}
	}
	g->rivals.n = kept;
}

void cluster_podgroup_note_rival(struct cluster *c, struct podgroup *g, const struct podgroup *by)
{
	struct podgroup_rival now = { .podgroup = by->id, .queues_gen = c->queues_gen };

	if (g == by || by->uid == NULL) {
		return;
	}
	now.name = str_hash(str_of(by->uid));
	keep_rivals(c, g, by);
	if (g->rivals.n == PODGROUP_RIVALS_MAX) {
		g->rivals.n--;
		memmove(&g->rivals.v[0], &g->rivals.v[1], g->rivals.n * sizeof(now));
	}
	vec_push(&g->rivals, now);
}

/* Whether anything but its pods keeps it. */
static bool is_kept(const struct podgroup *g)
{
	switch ((enum podgroup_kind)g->kind) {
	case PODGROUP_VOLCANO:
		return g->exists;
	case PODGROUP_KUBE:
		return g->exists || g->next_part != MODEL_NONE;
	case PODGROUP_ALONE:
	case PODGROUP_PART:
	case PODGROUP_KIND_COUNT_:
		break;
	}
	return false;
}

void cluster_podgroup_prune(struct cluster *c, struct podgroup *g)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	const struct podgroup_key parts = cluster_podgroup_key_of(c, g);

	if (is_kept(g) || g->tasks.n > 0) {
		return;
	}
	leave_queue(c, g);
	if (g->kind == PODGROUP_PART) {
		unlink_part(c, g);
	}
	cluster_podgroup_key(&parts, &key);
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
