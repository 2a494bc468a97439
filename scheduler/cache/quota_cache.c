#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "cache/quota_cache_priv.h"
#include "cache/quota_cache_status.h"
#include "conf/quota_conf.h"
#include "model/from_api_quota.h"
#include "quota/conditions_pack.h"
#include "quota/conditions_same.h"
#include "quota/queues.h"
#include "quota/usage.h"

static struct quota_cache_statuses *new_statuses(void)
{
	struct quota_cache_statuses *s = xmalloc_zero(1, sizeof(*s));

	for (size_t i = 0; i < ARRAY_LEN(s->of); i++) {
		s->of[i].arena = arena_create(0);
	}
	return s;
}

static void free_statuses(struct quota_cache_statuses *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->of); i++) {
		arena_destroy(s->of[i].arena);
		conditions_finish(&s->of[i]);
	}
	free(s);
}

const struct conditions *quota_cache_unpack(const struct quota_cache *c,
					    const struct conditions_pack *from,
					    enum quota_cache_use use)
{
	struct conditions *to = &c->statuses->of[use];

	if (from == NULL) {
		return NULL;
	}
	conditions_pack_read(from, to);
	return to;
}

struct quota_cache *quota_cache_create(const struct quota_conf *conf,
				       const struct quota_cache_listener *listener)
{
	struct quota_cache *c = xmalloc_zero(1, sizeof(*c));

	c->conf = conf;
	c->listener = *listener;
	c->q = quota_create();
	c->q->options = conf->options;
	c->forest = forest_create(c->q);
	c->rules = from_api_quota_rules_create(&conf->resources);
	c->seen = quota_cache_objects_seen();
	c->statuses = new_statuses();
	c->flush_at = c->timers_at = INT64_MAX;
	c->nodes_stale = true;
	return c;
}

void quota_cache_destroy(struct quota_cache *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < c->states.n; i++) {
		quota_cache_workload_free(c->states.v[i]);
	}
	for (size_t i = 0; i < c->early.n; i++) {
		message_free(c->early.v[i]);
	}
	free_statuses(c->statuses);
	strmap_destroy(c->seen);
	forest_destroy(c->forest);
	quota_destroy(c->q);
	from_api_quota_rules_destroy(c->rules);
	vec_finish(&c->states);
	vec_finish(&c->wanted);
	vec_finish(&c->unread);
	vec_finish(&c->refused);
	vec_finish(&c->flushes);
	vec_finish(&c->early);
	free(c);
}

struct quota *quota_cache_world(const struct quota_cache *c)
{
	return c->q;
}

struct forest *quota_cache_forest(const struct quota_cache *c)
{
	return c->forest;
}

struct workload_state *quota_cache_state(const struct quota_cache *c, const struct workload *w)
{
	return c->states.v[w->id];
}

/* --- what is due -------------------------------------------------------------------------------*/

void quota_cache_settle_nodes(struct quota_cache *c)
{
	if (c->nodes_stale) {
		c->nodes_stale = false;
		quota_nodes_changed(c->q);
		forest_sync(c->forest);
	}
}

static void set_flush(struct quota_cache *c, int64_t now)
{
	int64_t wait = (int64_t)c->flushed * QUOTA_CACHE_FLUSH_EACH_NS;

	if (c->flush_at == INT64_MAX) {
		wait = clock_later(wait, QUOTA_CACHE_FLUSH_NS);
		c->flush_at = now + clock_earlier(wait, QUOTA_CACHE_FLUSH_MOST_NS);
	}
}

void quota_cache_want_flush(struct quota_cache *c, uint32_t node, int64_t now)
{
	for (size_t i = 0; i < c->flushes.n; i++) {
		if (c->flushes.v[i] == node) {
			return;
		}
	}
	vec_push(&c->flushes, node);
	set_flush(c, now);
}

void quota_cache_want_flush_all(struct quota_cache *c, int64_t now)
{
	c->flush_all = true;
	c->changes++;
	set_flush(c, now);
}

/* A flush is of the whole tree: one is enough, however many of its queues want it. */
static void flush_trees(struct quota_cache *c, int64_t now)
{
	CLEANUP(xmalloc_freep) bool *done = xmalloc_zero(c->q->nodes.n, sizeof(*done));

	for (size_t i = 0; i < c->flushes.n; i++) {
		uint32_t id = c->flushes.v[i], root;

		if (id >= c->q->nodes.n || c->q->nodes.v[id] == NULL) {
			continue;
		}
		root = forest_root(c->forest, id);
		if (!done[root]) {
			done[root] = true;
			c->flushed += queues_flush(c->q, c->forest, id, now);
		}
	}
}

static void flush_queues(struct quota_cache *c, int64_t now)
{
	c->flushed = 0;
	for (uint32_t i = 0; c->flush_all && i < c->q->nodes.n; i++) {
		const struct quota_node *n = c->q->nodes.v[i];

		if (n != NULL && forest_parent(c->forest, i) == MODEL_NONE) {
			c->flushed += queues_flush(c->q, c->forest, i, now);
		}
	}
	if (!c->flush_all) {
		flush_trees(c, now);
	}
	vec_clear(&c->flushes);
	c->flush_all = false;
	c->flush_at = INT64_MAX;
	c->dirty = true;
}

int64_t quota_cache_settle(struct quota_cache *c, int64_t now)
{
	int64_t retry;

	if (!c->placed) {
		return INT64_MAX;
	}
	if (c->pending_stale || c->nodes_stale) {
		c->pending_stale = false;
		quota_cache_workload_place_again(c, now);
		c->dirty = true;
	}
	retry = quota_cache_workload_retry(c, now);
	if (c->flush_at <= now) {
		flush_queues(c, now);
	}
	if (c->timers_at <= now) {
		c->dirty = true;
	}
	c->timers_at = queues_timers(c->q, now);
	return clock_earlier(retry, clock_earlier(c->flush_at, c->timers_at));
}

bool quota_cache_take_dirty(struct quota_cache *c)
{
	bool dirty = c->dirty;

	c->dirty = false;
	return dirty;
}

uint64_t quota_cache_changes(const struct quota_cache *c)
{
	return c->changes;
}

uint64_t quota_cache_specs(const struct quota_cache *c)
{
	return c->specs;
}

/* --- messages ----------------------------------------------------------------------------------*/

static bool is_ours(enum sched_resource r)
{
	return r == SCHED_NAMESPACES || r >= SCHED_BASIC_COUNT_;
}

/* What a Workload asks for depends on other objects: those come first. */
static bool knows_rules(const struct quota_cache *c)
{
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		if (is_ours((enum sched_resource)r) && r != SCHED_WORKLOADS && r != SCHED_JOBS &&
		    !c->synced[r]) {
			return false;
		}
	}
	return true;
}

static bool upsert(struct quota_cache *c, struct sched_msg *m, int64_t now)
{
	struct err err = ERR_INIT;

	if (m->resource == SCHED_WORKLOADS) {
		return quota_cache_workload_upsert(c, m, now);
	}
	if (quota_cache_objects_upsert(c, m, now, &err) < 0 && c->listener.on_bad_object != NULL) {
		c->listener.on_bad_object(c->listener.ctx, m->resource, m->key, err.text);
	}
	return false;
}

static void take_early(struct quota_cache *c, int64_t now)
{
	for (size_t i = 0; i < c->early.n; i++) {
		struct sched_msg *m = c->early.v[i];

		if (m->kind == SCHED_MSG_DELETE) {
			quota_cache_workload_remove(c, m->key, now);
		} else if (m->kind == SCHED_MSG_BAD_OBJECT) {
			quota_cache_workload_keep(c, m, now);
		} else {
			(void)quota_cache_workload_upsert(c, m, now);
		}
		message_free(m);
	}
	vec_finish(&c->early);
}

static void on_synced(struct quota_cache *c, enum sched_resource r, int64_t now)
{
	c->synced[r] = true;
	if (!c->placed && knows_rules(c)) {
		take_early(c, now);
		if (c->synced[SCHED_WORKLOADS]) {
			quota_cache_workload_place_all(c, now);
			c->placed = true;
			c->dirty = true;
			c->changes++;
		}
	}
}

static bool apply_object(struct quota_cache *c, struct sched_msg *m, int64_t now)
{
	if (m->resource == SCHED_WORKLOADS && !knows_rules(c)) {
		vec_push(&c->early, m);
		return true;
	}
	if (m->kind == SCHED_MSG_UPSERT) {
		return upsert(c, m, now);
	}
	if (m->kind == SCHED_MSG_BAD_OBJECT) {
		quota_cache_workload_keep(c, m, now);
		return false;
	}
	if (m->resource == SCHED_WORKLOADS) {
		quota_cache_workload_remove(c, m->key, now);
	} else {
		quota_cache_objects_remove(c, m, now);
	}
	return false;
}

static bool apply(struct quota_cache *c, struct sched_msg *m, int64_t now)
{
	switch (m->kind) {
	case SCHED_MSG_UPSERT:
	case SCHED_MSG_DELETE:
		return is_ours(m->resource) && apply_object(c, m, now);
	case SCHED_MSG_SYNCED:
		if (is_ours(m->resource)) {
			on_synced(c, m->resource, now);
		}
		break;
	case SCHED_MSG_REQUEST_DONE:
		if (m->request == SCHED_REQ_WORKLOAD) {
			quota_cache_workload_done(c, m, now);
		}
		break;
	case SCHED_MSG_REFRESHED:
	case SCHED_MSG_LEASE:
		c->samples = false;
		break;
	case SCHED_MSG_BAD_OBJECT:
		return m->resource == SCHED_WORKLOADS && m->object != NULL &&
		       apply_object(c, m, now);
	case SCHED_MSG_CONF:
	case SCHED_MSG_SNAPSHOT:
	case SCHED_MSG_STOP:
	case SCHED_MSG_KIND_COUNT_:
		break;
	}
	return false;
}

bool quota_cache_apply(struct quota_cache *c, struct sched_msg *m, int64_t now)
{
	bool took = apply(c, m, now);

	quota_names_sweep(c->q);
	return took;
}

int64_t quota_cache_sample(struct quota_cache *c, int64_t now)
{
	if (!c->q->options.admission_fair_sharing) {
		return INT64_MAX;
	}
	c->samples = true;
	if (now >= c->sample_at) {
		c->sample_at = usage_sample(c->q, now);
		c->changes++;
		c->dirty = true;
	}
	return c->sample_at;
}

bool quota_cache_is_synced(const struct quota_cache *c)
{
	return c->placed;
}

bool quota_cache_next_unread(struct quota_cache *c, const struct workload **ret)
{
	while (c->unread.n > 0) {
		uint32_t id = vec_pop(&c->unread);

		if (id < c->q->workloads.n && c->q->workloads.v[id] != NULL) {
			*ret = c->q->workloads.v[id];
			return true;
		}
	}
	return false;
}

/* --- statuses ----------------------------------------------------------------------------------*/

const struct conditions *quota_cache_status(const struct quota_cache *c, const struct workload *w)
{
	return quota_cache_unpack(c, quota_cache_state(c, w)->status, QUOTA_CACHE_SHOWN);
}

bool quota_cache_is_outdated(const struct quota_cache *c, const struct workload *w)
{
	return quota_cache_state(c, w)->outdated;
}

int64_t quota_cache_retry_at(const struct quota_cache *c, const struct workload *w)
{
	return quota_cache_state(c, w)->retry_at;
}

const char *quota_cache_queue(const struct quota_cache *c, const struct workload *w)
{
	return quota_cache_state(c, w)->queue;
}

struct conditions *quota_cache_edit(struct quota_cache *c, const struct workload *w)
{
	struct conditions *draft = &c->statuses->of[QUOTA_CACHE_DRAFT];

	conditions_pack_read(quota_cache_state(c, w)->status, draft);
	return draft;
}

bool quota_cache_commit(struct quota_cache *c, const struct workload *w)
{
	struct workload_state *s = quota_cache_state(c, w);
	const struct conditions *draft = &c->statuses->of[QUOTA_CACHE_DRAFT];
	struct conditions_pack *packed;

	if (s->finished || w->unreadable ||
	    conditions_same(quota_cache_unpack(c, s->status, QUOTA_CACHE_BEFORE), draft)) {
		return false;
	}
	/* A cycle must know of an eviction that was decided since the last one. */
	quota_cache_status_flags(draft, c->q->workloads.v[w->id]);
	packed = conditions_pack_make(draft); /* the draft's texts are those of the status */
	if (s->flies && !s->wanted) {
		s->sent_status = s->status;
	} else if (s->out) {
		free(s->status);
	} else {
		s->before = s->status;
	}
	s->status = packed;
	s->out = true;
	if (!s->wanted && !s->flies) {
		vec_push(&c->wanted, w->id);
	}
	s->wanted = true;
	return true;
}

bool quota_cache_next_write(struct quota_cache *c, struct quota_cache_write *ret)
{
	while (c->wanted.n > 0) {
		uint32_t id = vec_pop(&c->wanted);
		struct workload_state *s = id < c->states.n ? c->states.v[id] : NULL;

		if (s == NULL || !s->wanted) {
			continue; /* it is gone */
		}
		s->wanted = false;
		s->flies = true;
		s->sent = ++c->writes;
		*ret = (struct quota_cache_write){
			.workload = c->q->workloads.v[id],
			.status = quota_cache_unpack(c, s->status, QUOTA_CACHE_AFTER),
			.before = quota_cache_unpack(c, s->before, QUOTA_CACHE_BEFORE),
			.resource_version = s->read > s->version ? s->read : s->version,
			.version = s->sent
		};
		return true;
	}
	return false;
}
