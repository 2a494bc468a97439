#include <assert.h>
#include <stdlib.h>

#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache_priv.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/pending/usage.h"
#include "scheduler/workloads/status/workload_status_pack.h"
#include "scheduler/workloads/status/workload_status_same.h"

/* Statuses are kept packed; one for each use is unpacked at a time, into lists that are used
 * again. */
static struct workload_cache_statuses *new_statuses(void)
{
	struct workload_cache_statuses *s = xmalloc_zero(1, sizeof(*s));

	for (size_t i = 0; i < ARRAY_LEN(s->of); i++) {
		s->of[i].arena = arena_create(0);
	}
	return s;
}

static void free_statuses(struct workload_cache_statuses *s)
{
	for (size_t i = 0; i < ARRAY_LEN(s->of); i++) {
		arena_destroy(s->of[i].arena);
		workload_status_finish(&s->of[i]);
	}
	free(s);
}

const struct workload_status *workload_cache_unpack(const struct workload_cache *c,
						    const struct workload_status_pack *from,
						    enum workload_cache_use use)
{
	struct workload_status *to = &c->statuses->of[use];

	if (from == NULL) {
		return NULL;
	}
	workload_status_pack_read(from, to);
	return to;
}

struct workload_cache *workload_cache_create(const struct kueue_conf *conf,
					     const struct workload_cache_listener *listener)
{
	struct workload_cache *c = xmalloc_zero(1, sizeof(*c));

	c->conf = conf;
	c->listener = *listener;
	c->q = quota_create();
	c->q->options = conf->options;
	workload_cache_serve_gates(c, 0);
	c->forest = forest_create(c->q);
	c->rules = from_kueue_rules_create(&conf->resources);
	c->seen = workload_cache_objects_seen();
	c->statuses = new_statuses();
	c->flush_at = c->timers_at = INT64_MAX;
	/* The forest has not been built yet. */
	c->nodes_stale = true;
	return c;
}

void workload_cache_serve_gates(struct workload_cache *c, unsigned served)
{
	c->q->options.gate_fields = preemption_gate_fields(c->conf->gate_dialect, served);
	c->q->options.gate_signal = preemption_gate_signal(c->conf->gate_dialect, served);
}

void workload_cache_destroy(struct workload_cache *c)
{
	if (c == NULL) {
		return;
	}
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		if (c->q->workloads.v[i] != NULL) {
			workload_cache_workload_free(c->q->workloads.v[i]->state);
		}
	}
	for (size_t i = 0; i < c->early.n; i++) {
		message_free(c->early.v[i]);
	}
	free_statuses(c->statuses);
	strmap_destroy(c->seen);
	forest_destroy(c->forest);
	quota_destroy(c->q);
	from_kueue_rules_destroy(c->rules);
	vec_finish(&c->to_write);
	vec_finish(&c->unread);
	vec_finish(&c->refused);
	vec_finish(&c->flushes);
	vec_finish(&c->early);
	free(c);
}

void workload_cache_keep_finished(struct workload_cache *c)
{
	c->keeps_finished = true;
}

struct quota_model *workload_cache_model(const struct workload_cache *c)
{
	return c->q;
}

struct forest *workload_cache_forest(const struct workload_cache *c)
{
	return c->forest;
}

/* --- what is due -------------------------------------------------------------------------------*/

void workload_cache_settle_nodes(struct workload_cache *c)
{
	if (c->nodes_stale) {
		c->nodes_stale = false;
		quota_nodes_changed(c->q);
		forest_sync(c->forest);
	}
}

/* The first request sets the time, so that later ones cannot put it off forever. Where the last
 * flush moved many Workloads, the next one waits longer: the cost of flushes stays a small part of
 * the time. */
static void set_flush(struct workload_cache *c, int64_t now)
{
	int64_t wait = (int64_t)c->n_woken_last_flush * WORKLOAD_CACHE_FLUSH_EACH_NS;

	if (c->flush_at == INT64_MAX) {
		wait = clock_later(wait, WORKLOAD_CACHE_FLUSH_NS);
		c->flush_at = now + clock_earlier(wait, WORKLOAD_CACHE_FLUSH_MOST_NS);
	}
}

void workload_cache_want_flush(struct workload_cache *c, uint32_t node, int64_t now)
{
	for (size_t i = 0; i < c->flushes.n; i++) {
		if (c->flushes.v[i] == node) {
			return;
		}
	}
	vec_push(&c->flushes, node);
	set_flush(c, now);
}

void workload_cache_want_flush_all(struct workload_cache *c, int64_t now)
{
	c->flush_all = true;
	c->changes++;
	set_flush(c, now);
}

/* A flush is of the whole tree: one is enough, however many of its queues want it. */
static void flush_trees(struct workload_cache *c, int64_t now)
{
	CLEANUP(xmalloc_freep) bool *done = xmalloc_zero(c->q->nodes.n, sizeof(*done));

	for (size_t i = 0; i < c->flushes.n; i++) {
		uint32_t id = c->flushes.v[i], root;

		/* Removed since its flush was asked for. */
		if (id >= c->q->nodes.n || c->q->nodes.v[id] == NULL) {
			continue;
		}
		root = forest_root(c->forest, id);
		if (!done[root]) {
			done[root] = true;
			c->n_woken_last_flush += pending_flush(c->q, c->forest, id, now);
		}
	}
}

static void flush_queues(struct workload_cache *c, int64_t now)
{
	c->n_woken_last_flush = 0;
	/* Of each tree the root: pending_flush goes down from there. */
	for (uint32_t i = 0; c->flush_all && i < c->q->nodes.n; i++) {
		const struct quota_node *n = c->q->nodes.v[i];

		if (n != NULL && forest_parent(c->forest, i) == MODEL_NONE) {
			c->n_woken_last_flush += pending_flush(c->q, c->forest, i, now);
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

/* 1. Workloads go to the queues that their LocalQueues name now, before anything is moved within
 *    queues.
 * 2. A refused write with a pause that is over may ask for a flush, so it comes first.
 * 3. Flushes that were gathered take place when their time has come.
 * 4. Ends of backoffs bring Workloads back to the heaps. */
int64_t workload_cache_settle(struct workload_cache *c, int64_t now)
{
	int64_t retry;

	if (!c->placed) {
		return INT64_MAX;
	}
	if (c->pending_stale || c->nodes_stale) {
		c->pending_stale = false;
		workload_cache_workload_place_again(c, now);
		c->dirty = true;
	}
	retry = workload_cache_workload_retry(c, now);
	if (c->flush_at <= now) {
		flush_queues(c, now);
	}
	if (c->timers_at <= now) {
		c->dirty = true;
	}
	c->timers_at = pending_timers(c->q, now);
	return clock_earlier(retry, clock_earlier(c->flush_at, c->timers_at));
}

/* A clock that stands still never reaches the time of a flush: it is brought forward. */
void workload_cache_settle_at_once(struct workload_cache *c, int64_t now)
{
	c->flush_at = c->flush_at == INT64_MAX ? INT64_MAX : now;
	(void)workload_cache_settle(c, now);
}

bool workload_cache_take_dirty(struct workload_cache *c)
{
	bool dirty = c->dirty;

	c->dirty = false;
	return dirty;
}

uint64_t workload_cache_changes(const struct workload_cache *c)
{
	return c->changes;
}

uint64_t workload_cache_specs(const struct workload_cache *c)
{
	return c->specs;
}

/* --- messages ----------------------------------------------------------------------------------*/

static bool is_ours(enum sched_resource r)
{
	return (sched_kinds_get(r)->wings & SCHED_WING_WORKLOADS) != 0;
}

bool workload_cache_reads(enum sched_resource r)
{
	return r == SCHED_WORKLOADS || workload_cache_objects_reads(r);
}

/* Workloads are read after all other kinds, on which their requests depend. Jobs do not count:
 * owners are looked at by the controller of owners. */
static bool knows_rules(const struct workload_cache *c)
{
	for (unsigned r = 0; r < sched_kinds_watched(true); r++) {
		if (is_ours((enum sched_resource)r) && r != SCHED_WORKLOADS && r != SCHED_JOBS &&
		    !c->synced[r]) {
			return false;
		}
	}
	return true;
}

static void upsert(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	struct err err = ERR_INIT;

	if (m->resource == SCHED_WORKLOADS) {
		workload_cache_workload_upsert(c, m, now);
	} else if (workload_cache_objects_upsert(c, m, now, &err) < 0 &&
		   c->listener.on_bad_object != NULL) {
		c->listener.on_bad_object(c->listener.ctx, m->resource, m->key, err.text);
	}
}

/* Workloads that came before the kinds on which their requests depend, in the order in which they
 * came: a deletion may follow its object. */
static void take_early(struct workload_cache *c, int64_t now)
{
	for (size_t i = 0; i < c->early.n; i++) {
		struct sched_msg *m = c->early.v[i];

		if (m->kind == SCHED_MSG_DELETE) {
			workload_cache_workload_remove(c, m->key, now);
		} else if (m->kind == SCHED_MSG_BAD_OBJECT) {
			workload_cache_workload_keep(c, m, now);
		} else {
			workload_cache_workload_upsert(c, m, now);
		}
		message_free(m);
	}
	vec_finish(&c->early);
}

static void on_synced(struct workload_cache *c, enum sched_resource r, int64_t now)
{
	c->synced[r] = true;
	if (!c->placed && knows_rules(c)) {
		take_early(c, now);
		/* Not before: the quota of those that are still to come would be given away. */
		if (c->synced[SCHED_WORKLOADS]) {
			workload_cache_workload_place_all(c, now);
			c->placed = true;
			c->dirty = true;
			c->changes++;
		}
	}
}

static void apply_object(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	if (m->resource == SCHED_WORKLOADS && !knows_rules(c)) {
		vec_push(&c->early, message_ref(m));
	} else if (m->kind == SCHED_MSG_UPSERT) {
		upsert(c, m, now);
	} else if (m->kind == SCHED_MSG_BAD_OBJECT) {
		workload_cache_workload_keep(c, m, now);
	} else if (m->resource == SCHED_WORKLOADS) {
		workload_cache_workload_remove(c, m->key, now);
	} else {
		workload_cache_objects_remove(c, m, now);
	}
}

static void apply(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	switch (m->kind) {
	case SCHED_MSG_UPSERT:
	case SCHED_MSG_DELETE:
		if (is_ours(m->resource)) {
			apply_object(c, m, now);
		}
		break;
	case SCHED_MSG_SYNCED:
		if (is_ours(m->resource)) {
			on_synced(c, m->resource, now);
		}
		break;
	case SCHED_MSG_REQUEST_DONE:
		if (m->request == SCHED_REQ_WORKLOAD) {
			workload_cache_workload_done(c, m, now);
		}
		break;
	/* Another replica may have sampled since: what LocalQueues use is read from their statuses
	 * again, until the leader calls workload_cache_sample. */
	case SCHED_MSG_REFRESHED:
	case SCHED_MSG_LEASE:
		c->samples = false;
		break;
	case SCHED_MSG_BAD_OBJECT:
		if (m->resource == SCHED_WORKLOADS && m->object != NULL) {
			apply_object(c, m, now);
		}
		break;
	case SCHED_MSG_CONF:
	case SCHED_MSG_SNAPSHOT:
	case SCHED_MSG_GATE_FIELDS:
	case SCHED_MSG_WATCH:
	case SCHED_MSG_RESOURCE:
	case SCHED_MSG_SURVEY:
	case SCHED_MSG_STOP:
	case SCHED_MSG_KIND_COUNT_:
		break;
	}
}

static void mark_resource(void *q, uint32_t resource)
{
	quota_names_mark_resource(q, resource);
}

static void mark_status(const struct workload_cache *c, const struct workload_status_pack *status)
{
	if (status != NULL) {
		workload_status_pack_resources(status, mark_resource, c->q);
	}
}

/* A name may be dropped when no object of the model has it, nor any status that is kept: what is in
 * flight is unpacked again when the answer comes. */
static void sweep_names(const struct workload_cache *c)
{
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		const struct workload *w = c->q->workloads.v[i];

		if (w != NULL) {
			mark_status(c, w->state->status);
			mark_status(c, w->state->before);
			mark_status(c, w->state->sent_status);
		}
	}
	quota_names_sweep(c->q);
}

void workload_cache_apply(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	assert(!c->drafted); /* it would be of a status that is read again */
	apply(c, m, now);
	if (quota_names_wants_sweep(c->q)) {
		sweep_names(c);
	}
}

int64_t workload_cache_sample(struct workload_cache *c, int64_t now)
{
	if (!c->q->options.admission_fair_sharing) {
		return INT64_MAX;
	}
	/* From here on our samples count, and not those that come back in statuses. */
	c->samples = true;
	if (now >= c->sample_at) {
		c->sample_at = usage_sample(c->q, now);
		c->changes++;
		c->dirty = true;
	}
	return c->sample_at;
}

bool workload_cache_is_synced(const struct workload_cache *c)
{
	return c->placed;
}

bool workload_cache_next_unread(struct workload_cache *c, const struct workload **ret)
{
	while (c->unread.n > 0) {
		/* It may be listed several times: reads of one key are one request
		 * (workload_reread.h). */
		uint32_t id = vec_pop(&c->unread);

		if (id < c->q->workloads.n && c->q->workloads.v[id] != NULL) {
			*ret = c->q->workloads.v[id];
			return true;
		}
	}
	return false;
}

/* --- statuses ----------------------------------------------------------------------------------*/

const struct workload_status *workload_cache_status(const struct workload_cache *c,
						    const struct workload *w)
{
	return workload_cache_unpack(c, w->state->status, WORKLOAD_CACHE_SHOWN);
}

bool workload_cache_is_outdated(const struct workload *w)
{
	return w->state->outdated;
}

int64_t workload_cache_retry_at(const struct workload *w)
{
	return w->state->retry_at;
}

int64_t workload_cache_version(const struct workload *w)
{
	return w->state->read;
}

const char *workload_cache_queue(const struct workload *w)
{
	return w->state->queue;
}

const struct workload_status *workload_cache_written(const struct workload_cache *c,
						     const struct workload *w)
{
	const struct workload_state *s = w->state;
	const struct workload_status_pack *written = s->in_flight ? s->sent_status : s->before;

	return workload_cache_unpack(c, written, WORKLOAD_CACHE_BEFORE);
}

struct workload_status *workload_cache_edit(struct workload_cache *c, const struct workload *w)
{
	struct workload_status *draft = &c->statuses->of[WORKLOAD_CACHE_DRAFT];

	assert(!c->drafted);
	c->drafted = true;
	workload_status_pack_read(w->state->status, draft);
	return draft;
}

bool workload_cache_commit(struct workload_cache *c, const struct workload *w)
{
	struct workload_state *s = w->state;
	const struct workload_status *draft = &c->statuses->of[WORKLOAD_CACHE_DRAFT];
	struct workload *changed = c->q->workloads.v[w->id];
	struct workload_status_pack *packed;

	assert(c->drafted);
	c->drafted = false;
	if (s->finished || w->object.unreadable ||
	    workload_status_same(workload_cache_unpack(c, s->status, WORKLOAD_CACHE_BEFORE),
				 draft)) {
		return false;
	}
	/* A cycle must know of an eviction that was decided since the last one, and must not admit
	 * what has finished. */
	workload_cache_workload_flags(changed, draft);
	if (changed->flags.finished) {
		pending_remove(c->q, changed);
	}
	packed = workload_status_pack_make(draft); /* the draft's texts are those of the status */
	/* The status so far: the one in flight is kept for its answer; one that was
	 * never sent is not needed any more; one that was read is kept, to be returned to when the
	 * write fails. */
	if (s->in_flight && !s->dirty) {
		s->sent_status = s->status;
	} else if (s->dirty || s->in_flight) {
		free(s->status);
	} else {
		s->before = s->status;
	}
	s->status = packed;
	/* One in flight is put there again by its answer (workload_cache_workload_done). */
	if (!s->dirty && !s->in_flight) {
		vec_push(&c->to_write, w->id);
	}
	s->dirty = true;
	return true;
}

void workload_cache_give_back(struct workload_cache *c, const struct workload *w, int64_t now)
{
	workload_cache_workload_give_back(c, c->q->workloads.v[w->id], now);
	c->dirty = true;
	c->changes++;
}

bool workload_cache_next_write(struct workload_cache *c, struct workload_cache_write *ret)
{
	while (c->to_write.n > 0) {
		uint32_t id = vec_pop(&c->to_write);
		const struct workload *w = id < c->q->workloads.n ? c->q->workloads.v[id] : NULL;
		struct workload_state *s = w == NULL ? NULL : w->state;

		if (s == NULL || !s->dirty) {
			continue; /* it is gone */
		}
		s->dirty = false;
		s->in_flight = true;
		s->sent = ++c->writes;
		/* Our last write may be newer than what was read, as the watch is behind the
		 * answer. Without the version of it each write that follows at once would be
		 * refused. */
		*ret = (struct workload_cache_write){
			.workload = w,
			.status = workload_cache_unpack(c, s->status, WORKLOAD_CACHE_AFTER),
			.before = workload_cache_unpack(c, s->before, WORKLOAD_CACHE_BEFORE),
			.resource_version = s->read > s->version ? s->read : s->version,
			.version = s->sent,
			.refused = s->failures > 0
		};
		return true;
	}
	return false;
}
