#include <stdlib.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/meta/status.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "scheduler/workloads/forest/precedence.h"
#include "scheduler/workloads/ingest/from_kueue.h"
#include "scheduler/workloads/ingest/workload_cache_priv.h"
#include "scheduler/workloads/pending/pending.h"
#include "scheduler/workloads/pending/usage.h"
#include "scheduler/workloads/status/workload_status_flags.h"
#include "scheduler/workloads/status/workload_status_pack.h"

/* Pauses after a status that could not be written. They hold up one Workload only, and are longer
 * than those of a pool (kube/pool.h), which are about the API server. */
#define RETRY_MIN_NS CLOCK_NS_PER_S
#define RETRY_MAX_NS (60 * CLOCK_NS_PER_S)
#define RETRY_INVALID_MAX_NS (600 * CLOCK_NS_PER_S) /* an invalid status stays invalid for long */
#define RETRY_MAX_DOUBLINGS 10

static void drop_before(struct workload_state *s)
{
	free(s->before);
	s->before = NULL;
}

static void drop_sent(struct workload_state *s)
{
	free(s->sent_status);
	s->sent_status = NULL;
}

static void drop_deferred(struct workload_state *s)
{
	message_free(s->deferred);
	s->deferred = NULL;
}

void workload_cache_workload_free(struct workload_state *s)
{
	if (s == NULL) {
		return;
	}
	drop_before(s);
	drop_deferred(s);
	drop_sent(s);
	free(s->status);
	free(s);
}

static void add_state(struct workload *w)
{
	w->state = xmalloc_zero(1, sizeof(*w->state));
	w->state->retry_at = MODEL_TIME_NONE;
}

static bool is_being_written(const struct workload_state *s)
{
	return s->dirty || s->in_flight;
}

static bool is_same(const struct workload *w, const char *uid)
{
	return str_streq(w->object.uid, uid == NULL ? "" : uid);
}

/* --- where it belongs --------------------------------------------------------------------------*/

/* Quota that it held is free for others. */
static void release(struct workload_cache *c, struct workload *w, int64_t now)
{
	if (w->holding.node != MODEL_NONE) {
		workload_cache_settle_nodes(c);
		/* Before the release, which forgets the node. */
		workload_cache_want_flush(c, w->holding.node, now);
		forest_release(c->forest, w);
	}
}

/* A Workload leaves its queue for good. No quota comes free, but the Workloads behind it are tried
 * again, as in Kueue. */
static void leave(struct workload_cache *c, const struct workload *w, int64_t now)
{
	if (w->pending.where != QUOTA_NOWHERE) {
		workload_cache_want_flush(c, w->pending.queue, now);
	}
}

/* It holds the quota that its status shows, if the ClusterQueue exists; otherwise it waits. */
static void place(struct workload_cache *c, struct workload *w, bool changed, int64_t now)
{
	const char *queue = w->state->queue;
	const struct quota_node *n;

	if (w->holding.node != MODEL_NONE) {
		return;
	}
	if (queue == NULL) {
		pending_update(c->q, w, changed, now);
		return;
	}
	n = quota_queue_find(c->q, str_of(queue));
	pending_remove(c->q, w);
	if (n != NULL && n->exists) {
		/* forest_hold charges the tree as it is now. */
		workload_cache_settle_nodes(c);
		forest_hold(c->forest, w, n->id);
	}
}

void workload_cache_workload_place_all(struct workload_cache *c, int64_t now)
{
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		if (c->q->workloads.v[i] != NULL) {
			place(c, c->q->workloads.v[i], true, now);
			/* An amount that is not known makes the ClusterQueue inactive, which
			 * quota_nodes_changed finds. */
			c->nodes_stale |= c->q->workloads.v[i]->object.usage_unknown;
		}
	}
}

void workload_cache_workload_place_again(struct workload_cache *c, int64_t now)
{
	/* Takes Workloads out of deleted queues before the nodes of those are dropped. */
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		struct workload *w = c->q->workloads.v[i];

		if (w != NULL && w->holding.node == MODEL_NONE && w->state->queue == NULL) {
			pending_update(c->q, w, false, now);
		}
	}
	workload_cache_settle_nodes(c);
	for (size_t i = 0; i < c->q->workloads.n; i++) {
		struct workload *w = c->q->workloads.v[i];

		if (w != NULL && w->holding.node == MODEL_NONE && w->state->queue != NULL) {
			place(c, w, false, now);
		}
	}
}

/* --- objects -----------------------------------------------------------------------------------*/

/* The listener may ask for the cohorts above the queue, also while the first lists come in. */
static void report_status(struct workload_cache *c, const struct workload *w,
			  const struct workload_status *before, const struct workload_status *after)
{
	workload_cache_settle_nodes(c);
	if (c->listener.on_status != NULL) {
		c->listener.on_status(c->listener.ctx, w, before, after);
	}
}

static void take_status(struct workload_cache *c, const struct workload *w,
			const struct workload_status *fresh)
{
	struct workload_state *s = w->state;

	if (s->status != NULL && !s->finished) {
		report_status(c, w, workload_cache_unpack(c, s->status, WORKLOAD_CACHE_BEFORE),
			      fresh);
	}
	free(s->status);
	s->finished = w->flags.finished;
	s->requeued = false;
	/* Of a finished Workload only this condition is asked for later, and finished ones may be
	 * kept for long. */
	s->status = w->flags.finished && !c->keeps_finished
			    ? workload_status_pack_one(fresh, KUEUE_FINISHED)
			    : workload_status_pack_make(fresh);
}

static struct workload *find_or_add(struct workload_cache *c, struct str key, const char *uid,
				    int64_t now)
{
	struct workload *w = quota_workload_find(c->q, key);

	if (w != NULL && !is_same(w, uid)) {
		workload_cache_workload_remove(c, key, now);
		w = NULL;
	}
	if (w == NULL) {
		w = quota_workload_add(c->q, key);
		add_state(w);
	}
	return w;
}

static void bad(struct workload_cache *c, struct str key, const char *text)
{
	if (c->listener.on_bad_object != NULL) {
		c->listener.on_bad_object(c->listener.ctx, SCHED_WORKLOADS, key, text);
	}
}

/* The usage of a Workload has become known or unknown, which may activate its ClusterQueue or not.
 */
static void note_unknown(struct workload_cache *c, bool unknown)
{
	c->nodes_stale |= unknown;
	c->pending_stale |= unknown;
}

/* Reads an update that counts; status: its status. -ERR_INVALID: it cannot be used.
 * 1. One that cannot be used changes nothing here: the caller keeps what is held.
 * 2. Another UID is another Workload, and takes the place of the old one.
 * 3. Quota is released that the update does not show any more. After a write with an unknown
 *    outcome it stays until a status has been read that is newer than the one the write was refused
 *    for.
 * 4. A holder of another priority may be a victim now, and one that leaves the queue lets the
 *    others be tried again: their trees are flushed.
 * 5. The Workload gets the new contents, and is placed by them.
 * 6. The listener is called last: it may read the model. */
static int take_with(struct workload_cache *c, struct sched_msg *m,
		     const struct workload_status *status, int64_t now)
{
	const struct api_workload *aw = m->object;
	struct from_kueue_workload read;
	struct workload_state *s;
	struct err err = ERR_INIT;
	struct workload *w;
	bool holds, changed, unknown, outdated;

	if (from_kueue_workload_read(c->q, c->rules, aw, status, &read, &err) < 0) {
		bad(c, m->key, err.text);
		return -ERR_INVALID;
	}
	w = find_or_add(c, m->key, aw->meta.uid, now);
	s = w->state;
	unknown = w->object.usage_unknown;
	holds = from_kueue_workload_holds(c->q, &read, w);
	outdated = s->outdated && !m->reread && m->resource_version <= s->stale_up_to;
	if (!holds && !(s->unacknowledged && outdated)) {
		if (s->unacknowledged) {
			usage_revoke(c->q, w);
		}
		release(c, w, now);
	}
	s->unacknowledged &= outdated;
	s->outdated = outdated;
	s->queue = read.queue;
	if (w->holding.node != MODEL_NONE &&
	    workload_priority(c->q, &read.w) != workload_priority(c->q, w)) {
		workload_cache_want_flush(c, w->holding.node, now);
	}
	if (read.w.flags.finished || !read.w.object.active) {
		leave(c, w, now);
	}
	changed = from_kueue_workload_apply(&read, w) || s->requeued;
	from_kueue_workload_finish(&read);
	take_status(c, w, status);
	s->read = m->resource_version;
	s->retry_at = MODEL_TIME_NONE;
	if (c->placed) {
		place(c, w, changed || !holds, now);
		c->dirty = true;
	}
	note_unknown(c, unknown);
	c->changes++;
	if (c->listener.on_workload != NULL) {
		c->listener.on_workload(c->listener.ctx, w->id, m->key, m);
	}
	return 0;
}

static void settle_gates(const struct workload_cache *c, const struct sched_msg *m,
			 struct workload_status *fresh)
{
	const struct api_workload *aw = m->object;
	const struct workload *w = quota_workload_find(c->q, m->key);

	if (w != NULL && is_same(w, aw->meta.uid) && fresh->gates.n > 0) {
		workload_status_settle_gates(
			fresh, workload_cache_unpack(c, w->state->status, WORKLOAD_CACHE_BEFORE));
	}
}

static void take(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(1024);
	CLEANUP(workload_status_finish) struct workload_status status = { .arena = arena };

	from_kueue_status(c->q, m->object, &status);
	settle_gates(c, m, &status);
	if (take_with(c, m, &status, now) < 0) {
		workload_cache_workload_keep(c, m, now);
	}
}

/* A new Workload that is not valid holds its quota, as far as that can be read. */
static void keep_new(struct workload_cache *c, const struct sched_msg *m, int64_t now)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(1024);
	CLEANUP(workload_status_finish) struct workload_status status = { .arena = arena };
	const struct api_workload *aw = m->object;
	struct from_kueue_workload read;
	struct workload *w;

	from_kueue_status(c->q, aw, &status);
	if (from_kueue_workload_keep(c->q, aw, &status, &read) < 0) {
		return;
	}
	w = find_or_add(c, m->key, aw->meta.uid, now);
	/* No listener is called: nothing is to be decided or written about it. */
	w->state->queue = read.queue;
	(void)from_kueue_workload_apply(&read, w);
	from_kueue_workload_finish(&read);
	take_status(c, w, &status);
	w->state->read = m->resource_version;
	if (c->placed) {
		place(c, w, true, now);
		c->dirty = true;
	}
	note_unknown(c, w->object.usage_unknown);
	c->changes++;
}

/* A known Workload stays as it was, except that Finished counts; an unknown one holds its quota,
 * and nothing else is done with it. */
void workload_cache_workload_keep(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	const struct api_workload *aw = m->object;
	const struct workload *w = quota_workload_find(c->q, m->key);

	if (w != NULL && !w->object.unreadable &&
	    (aw->meta.uid == NULL || is_same(w, aw->meta.uid))) {
		if (m->kind == SCHED_MSG_BAD_OBJECT && !w->flags.finished &&
		    kueue_workload_stage(aw) == KUEUE_WORKLOAD_FINISHED &&
		    !is_being_written(w->state)) {
			take(c, m, now);
		}
		return;
	}
	if (w != NULL) {
		workload_cache_workload_remove(c, m->key, now);
	}
	keep_new(c, m, now);
}

/* The watch and the answers of GETs overtake each other: a version is old if it is below that of
 * our last write, of the object as it was read, or of the object that waits to be read. */
static bool is_old(const struct workload_state *s, const struct sched_msg *m)
{
	int64_t version = m->resource_version;

	return version != 0 && (version < s->version || version < s->read ||
				(s->deferred != NULL && version < s->deferred->resource_version));
}

void workload_cache_workload_upsert(struct workload_cache *c, struct sched_msg *m, int64_t now)
{
	const struct api_workload *aw = m->object;
	struct workload *w = quota_workload_find(c->q, m->key);
	struct workload_state *s = w == NULL ? NULL : w->state;

	if (m->reread && (s == NULL || !is_same(w, aw->meta.uid))) {
		return; /* the watch has delivered the deletion since, or another Workload */
	}
	if (s != NULL && is_same(w, aw->meta.uid)) {
		if (is_old(s, m)) {
			return;
		}
		/* The answer of the write decides what becomes of the update: see the header. */
		if (is_being_written(s)) {
			drop_deferred(s);
			s->deferred = message_ref(m);
			return;
		}
	}
	take(c, m, now);
}

void workload_cache_workload_remove(struct workload_cache *c, struct str key, int64_t now)
{
	struct workload *w = quota_workload_find(c->q, key);
	struct workload_state *state;
	uint32_t id;
	bool unknown;

	if (w == NULL) {
		return;
	}
	id = w->id;
	state = w->state;
	unknown = w->object.usage_unknown;
	leave(c, w, now);
	pending_remove(c->q, w);
	release(c, w, now);
	quota_workload_remove(c->q, w);
	note_unknown(c, unknown);
	workload_cache_workload_free(state);
	c->dirty = true;
	c->changes++;
	if (c->listener.on_workload != NULL) {
		c->listener.on_workload(c->listener.ctx, id, key, NULL);
	}
}

void workload_cache_workload_give_back(struct workload_cache *c, struct workload *w, int64_t now)
{
	w->state->queue = NULL;
	release(c, w, now);
	place(c, w, true, now);
}

/* --- outcomes of writes ------------------------------------------------------------------------*/

void workload_cache_workload_flags(struct workload *w, const struct workload_status *status)
{
	struct workload_state *s = w->state;
	bool waited = w->flags.requeued_false;

	workload_status_flags(status, w);
	s->requeued |= waited && !w->flags.requeued_false;
	/* After a refused write it waits in its queue like one with a backoff. */
	if (s->queue == NULL && s->retry_at != MODEL_TIME_NONE) {
		w->flags.requeue_at = s->retry_at;
	}
}

static void put_off(struct workload_cache *c, struct workload *w, int status, int64_t now)
{
	struct workload_state *s = w->state;
	unsigned doublings = s->failures < RETRY_MAX_DOUBLINGS ? s->failures : RETRY_MAX_DOUBLINGS;
	int64_t wait = RETRY_MIN_NS << doublings;
	int64_t most = status == STATUS_INVALID ? RETRY_INVALID_MAX_NS : RETRY_MAX_NS;

	s->failures++;
	s->retry_at = now + (wait < most ? wait : most);
	/* Until then it must not be chosen as a victim again: the eviction could not be written
	 * either. */
	if (s->queue != NULL) {
		w->object.unwritable = true;
		vec_push(&c->refused, w->id);
	}
}

int64_t workload_cache_workload_retry(struct workload_cache *c, int64_t now)
{
	int64_t next = INT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < c->refused.n; i++) {
		uint32_t id = c->refused.v[i];
		struct workload *w = id < c->q->workloads.n ? c->q->workloads.v[id] : NULL;
		int64_t at = w == NULL ? MODEL_TIME_NONE : w->state->retry_at;

		if (w == NULL || !w->object.unwritable) {
			continue; /* gone, or read again */
		}
		if (at > now) {
			c->refused.v[kept++] = id;
			next = at < next ? at : next;
			continue;
		}
		w->object.unwritable = false;
		if (w->holding.node != MODEL_NONE) {
			workload_cache_want_flush(c, w->holding.node, now);
		}
	}
	c->refused.n = kept;
	return next;
}

/* Takes a decision back when its write failed: the status is as before, and is tried again after a
 * backoff, or at once when only the object changed meanwhile. An earlier write of ours that was
 * never answered may have changed it, so the quota stays with it until it has been read. */
static void take_back(struct workload_cache *c, struct workload *w, const struct sched_msg *m,
		      int64_t now)
{
	struct workload_state *s = w->state;
	bool stale = m->outcome == SCHED_STALE;
	bool was_preempted = w->flags.evicted && w->flags.preempted_at == w->flags.evicted_at;

	free(s->status);
	s->status = s->before;
	s->before = NULL;
	if (s->queue == NULL && w->holding.node != MODEL_NONE && stale) {
		s->unacknowledged = w->object.unwritable = true;
	} else if (s->queue == NULL && w->holding.node != MODEL_NONE) {
		usage_revoke(c->q, w);
		release(c, w, now);
	}
	if (!stale) {
		put_off(c, w, m->status, now);
	} else {
		/* Another client wrote: only a newer status says how it stands. It is read at once,
		 * since the watch may be behind. */
		s->outdated = true;
		s->stale_up_to = s->read > s->version ? s->read : s->version;
		vec_push(&c->unread, w->id);
	}
	workload_cache_workload_flags(w,
				      workload_cache_unpack(c, s->status, WORKLOAD_CACHE_BEFORE));
	if (was_preempted && !w->flags.evicted) {
		precedence_revoke(c->q, w);
	}
	pending_unblock(c->q, w); /* a cycle is to give the reason again why it does not fit */
	place(c, w, true, now);
}

static void take_deferred(struct workload_cache *c, struct workload_state *s, int64_t now)
{
	struct sched_msg *m = s->deferred;

	s->deferred = NULL;
	if (m != NULL && !is_old(s, m)) {
		take(c, m, now);
	}
	message_free(m);
}

/* The API has what was sent. */
static void take_done(struct workload_cache *c, const struct sched_msg *m, const struct workload *w)
{
	struct workload_state *s = w->state;
	const struct workload_status *sent = workload_cache_unpack(
		c, s->dirty ? s->sent_status : s->status, WORKLOAD_CACHE_AFTER);

	s->version = m->resource_version > s->version ? m->resource_version : s->version;
	s->failures = 0;
	s->retry_at = MODEL_TIME_NONE;
	if (sent->queue != NULL) {
		s->queue = quota_name(c->q, str_of(sent->queue));
	}
	report_status(c, w, workload_cache_unpack(c, s->before, WORKLOAD_CACHE_BEFORE), sent);
	drop_before(s);
	if (s->dirty) {
		s->before = s->sent_status;
		s->sent_status = NULL;
	}
}

void workload_cache_workload_done(struct workload_cache *c, const struct sched_msg *m, int64_t now)
{
	struct workload *w = quota_workload_find(c->q, m->key);
	struct workload_state *s = w == NULL ? NULL : w->state;
	bool ok = m->outcome == SCHED_DONE;

	/* The answer to an earlier write, or about a deleted Workload of the same name, decides
	 * nothing. */
	if (s == NULL || !s->in_flight || m->version != s->sent ||
	    !str_streq(w->object.uid, m->uid)) {
		return;
	}
	s->in_flight = false;
	if (ok) {
		take_done(c, m, w);
	} else {
		s->dirty = false;
		/* Decisions that were made on top of a write that failed go with it. */
		drop_sent(s);
	}
	if (s->dirty) {
		/* More was decided meanwhile: it goes out first, and its answer settles both. The
		 * deferred update goes on waiting. */
		vec_push(&c->to_write, w->id);
		c->dirty = true;
		return;
	}
	if (m->outcome == SCHED_GONE) {
		drop_before(s); /* its deletion is on the way */
	} else if (!ok) {
		take_back(c, w, m, now);
	}
	if (c->listener.on_written != NULL) {
		c->listener.on_written(c->listener.ctx, w, m->outcome, m->text);
	}
	take_deferred(c, s, now);
	c->dirty = true;
	c->changes++;
}
