#include "scheduler/multikueue/records/fleet_workload.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/xmalloc.h"
#include "collections/heap.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/records/fleet_managed.h"

struct fleet_workload *fleet_workload_create(struct str key)
{
	struct fleet_workload *w = xmalloc_zero(1, sizeof(*w));

	w->key = xmalloc_dup_n(key.p, key.len);
	w->token.lost_at = REPLICA_NOT_SEEN;
	w->signal_at = REPLICA_NOT_SEEN;
	w->grant_cost = REPLICA_COST_UNKNOWN;
	w->wake_at = CLOCK_NEVER;
	w->wake_place = SIZE_MAX;
	return w;
}

static void free_replica(struct fleet_replica *r)
{
	free(r->queue);
	free(r->sent_to);
	variants_free(r->self);
	variants_finish(&r->variants);
	free(r);
}

void fleet_workload_forget_promises(struct fleet_workload *w)
{
	for (size_t i = 0; i < w->promised.n; i++) {
		free(w->promised.v[i]);
	}
	vec_clear(&w->promised);
}

void fleet_workload_destroy(void *value)
{
	struct fleet_workload *w = value;

	if (w == NULL) {
		return;
	}
	for (size_t i = 0; i < w->replicas.n; i++) {
		free_replica(w->replicas.v[i]);
	}
	vec_finish(&w->replicas);
	fleet_workload_forget_promises(w);
	vec_finish(&w->promised);
	fleet_managed_destroy(w->managed);
	message_free(w->local);
	arena_destroy(w->arena);
	free(w->token_text);
	free(w->grant_reason);
	free(w->key);
	free(w);
}

const struct api_workload *fleet_workload_local(const struct fleet_workload *w)
{
	return w->local == NULL ? NULL : w->local->object;
}

/* A text is parsed once, so that one that cannot be read is lost since the time at which it was
 * seen first. */
static int take_token(struct fleet_workload *w, const char *text, int64_t now, struct err *err)
{
	if (str_streq(w->token_text, text)) {
		return 0;
	}
	arena_destroy(w->arena);
	w->arena = arena_create(0);
	free(w->token_text);
	w->token_text = text == NULL ? NULL : xmalloc_dup(text);
	return token_parse(str_of(text == NULL ? "" : w->token_text), now, w->arena, &w->token,
			   err);
}

int fleet_workload_set_local(struct fleet_workload *w, struct sched_msg *m, int64_t now,
			     struct err *err)
{
	const struct api_workload *before = fleet_workload_local(w), *local;
	const enum token_phase phase = w->token.phase;
	const int64_t epoch = w->token.epoch;
	int r;

	local = m == NULL ? NULL : m->object;
	/* Another object of this name has no history. */
	if (local == NULL || before == NULL || !str_streq(before->meta.uid, local->meta.uid)) {
		w->token_in_flight = false;
		w->token_written = w->token_pause_until = 0;
		if (w->managed != NULL) {
			fleet_managed_renew(w->managed);
		}
	}
	if (m != NULL) {
		(void)message_ref(m);
	}
	message_free(w->local);
	w->local = m;
	r = take_token(
		w, local == NULL ? NULL : field_map_get(&local->meta.annotations, TOKEN_ANNOTATION),
		now, err);
	/* Which variant goes first depends on the attempt. */
	for (size_t i = 0;
	     (w->token.phase != phase || w->token.epoch != epoch) && i < w->replicas.n; i++) {
		fleet_workload_written(w, w->replicas.v[i], now);
	}
	return r;
}

struct fleet_replica *fleet_workload_find(const struct fleet_workload *w, const char *cluster)
{
	for (size_t i = 0; i < w->replicas.n; i++) {
		if (strcmp(w->replicas.v[i]->cluster, cluster) == 0) {
			return w->replicas.v[i];
		}
	}
	return NULL;
}

struct fleet_replica *fleet_workload_replica(struct fleet_workload *w, const char *cluster)
{
	struct fleet_replica *r = fleet_workload_find(w, cluster);

	if (r == NULL) {
		r = xmalloc_zero(1, sizeof(*r));
		r->cluster = cluster;
		observe_init(&r->seen, cluster);
		r->evicted_at = REPLICA_NOT_SEEN;
		vec_push(&w->replicas, r);
	}
	return r;
}

struct variant *fleet_workload_sent_to(const struct fleet_replica *r)
{
	for (size_t i = 0; i < r->variants.n; i++) {
		if (str_streq(r->sent_to, r->variants.v[i]->uid)) {
			return r->variants.v[i];
		}
	}
	return r->self != NULL && (r->sent_to == NULL || str_streq(r->sent_to, r->self->uid))
		       ? r->self
		       : NULL;
}

/* The latest eviction of the replica and its variants. It does not go back when one of them is
 * deleted, which would look like another eviction. */
static int64_t follow_evictions(struct fleet_replica *r, int64_t evicted_at)
{
	if (!str_streq(r->seen.uid, r->self->uid)) {
		r->evicted_at = REPLICA_NOT_SEEN;
	}
	r->evicted_at = clock_later(r->evicted_at, evicted_at);
	return r->self->parent ? r->evicted_at : evicted_at;
}

/* After each change of the replica, of a variant, or of the token. Of one that is gone, no write is
 * waited for. */
static void refresh(struct fleet_workload *w, struct fleet_replica *r, int64_t now)
{
	int64_t epoch = w->token.phase == TOKEN_GRANTED ? w->token.epoch : VARIANTS_NO_EPOCH;
	struct observation seen;

	r->target = r->stray = NULL;
	r->seen.replica.unanswered = false;
	if (r->self == NULL) {
		observe_replica(&r->seen, NULL, NULL, now, &w->signals);
		return;
	}
	if (fleet_workload_sent_to(r) == NULL) {
		r->in_flight = false;
		r->written = 0;
	}
	r->target = variants_choose(&r->variants, r->self, r->closed_first, epoch);
	r->stray = variants_stray(&r->variants, r->self, r->target);
	seen = variants_observe(&r->variants, r->self, r->target, &r->seen.replica.unanswered);
	seen.evicted_at = follow_evictions(r, seen.evicted_at);
	observe_replica(&r->seen, r->self->uid, &seen, now, &w->signals);
}

void fleet_workload_observe(struct fleet_workload *w, struct fleet_replica *r,
			    const struct api_workload *replica, uint64_t source, int64_t now)
{
	/* A write to another replica, or by another connection, is not waited for. */
	if (replica == NULL || r->source != source || !str_streq(r->seen.uid, replica->meta.uid)) {
		r->in_flight = false;
		r->written = 0;
	}
	free(r->queue);
	variants_free(r->self);
	r->queue = replica == NULL || replica->spec.queue_name == NULL
			   ? NULL
			   : xmalloc_printf("%s/%s", replica->meta.namespace_,
					    replica->spec.queue_name);
	r->self = replica == NULL ? NULL : variants_read(str_of(w->key), replica, source);
	r->source = source;
	refresh(w, r, now);
}

void fleet_workload_observe_variant(struct fleet_workload *w, struct fleet_replica *r,
				    struct str key, const struct api_workload *variant,
				    uint64_t source, int64_t now)
{
	const char *uid = r->self == NULL ? NULL : r->self->uid;

	if (variant == NULL) {
		variants_remove(&r->variants, key);
	} else if (!variants_adopt(&r->variants, variants_read(key, variant, source), uid,
				   &w->signals)) {
		if (!r->is_full) {
			log_warn("replica has too many variants: the others do not count",
				 LOG_STR("workload", w->key), LOG_STR("cluster", r->cluster),
				 LOG_INT("limit", VARIANTS_MAX));
		}
		r->is_full = true;
	}
	refresh(w, r, now);
}

static void take_unreadable(struct fleet_replica *r, const struct sched_msg *m, bool is_variant)
{
	log_warn("replica of a Workload cannot be read", LOG_SLICE("workload", m->key),
		 LOG_STR("cluster", r->cluster), LOG_STR("error", m->text));
	if (is_variant) {
		variants_show(&r->variants, m->key, m->source);
	} else {
		r->source = m->source;
	}
	observe_unreachable(&r->seen);
}

void fleet_workload_take(struct fleet_workload *w, struct fleet_replica *r,
			 const struct sched_msg *m, bool is_variant, int64_t now)
{
	const struct api_workload *object = m->kind == SCHED_MSG_UPSERT ? m->object : NULL;

	if (m->kind == SCHED_MSG_BAD_OBJECT) {
		take_unreadable(r, m, is_variant);
	} else if (is_variant) {
		fleet_workload_observe_variant(w, r, m->key, object, m->source, now);
	} else {
		fleet_workload_observe(w, r, object, m->source, now);
	}
}

void fleet_workload_reach(struct fleet_workload *w, struct fleet_replica *r, uint64_t source,
			  int64_t now)
{
	variants_keep(&r->variants, source);
	if (r->source != source) {
		fleet_workload_observe(w, r, NULL, source, now);
	} else {
		refresh(w, r, now);
	}
}

void fleet_workload_written(struct fleet_workload *w, struct fleet_replica *r, int64_t now)
{
	bool reachable = r->seen.replica.reachable;

	refresh(w, r, now);
	if (!reachable) {
		observe_unreachable(&r->seen);
	}
}

void fleet_workload_open_all(struct fleet_workload *w, struct fleet_replica *r, int64_t now)
{
	if (!r->closed_first) {
		r->closed_first = true;
		fleet_workload_written(w, r, now);
	}
}

/* REPLICA_NOT_SEEN is earlier than any time. */
void fleet_workload_set_clock_back(struct fleet_workload *w, int64_t now)
{
	w->signal_at = clock_earlier(w->signal_at, now);
	for (size_t i = 0; i < w->replicas.n; i++) {
		struct replica *r = &w->replicas.v[i]->seen.replica;

		r->signal_seen = clock_earlier(r->signal_seen, now);
		r->open_seen = clock_earlier(r->open_seen, now);
		r->ahead_seen = clock_earlier(r->ahead_seen, now);
	}
}

void fleet_workload_drop(struct fleet_workload *w, const char *cluster)
{
	for (size_t i = 0; i < w->replicas.n; i++) {
		if (strcmp(w->replicas.v[i]->cluster, cluster) == 0) {
			free_replica(w->replicas.v[i]);
			vec_swap_remove(&w->replicas, i);
			return;
		}
	}
}

bool fleet_workload_awaits_token(const struct fleet_workload *w)
{
	return w->token_in_flight ||
	       (w->local != NULL && w->local->resource_version < w->token_written);
}

static bool awaits_gate(const struct fleet_replica *r)
{
	const struct variant *v = fleet_workload_sent_to(r);

	return r->in_flight || (v != NULL && v->version_n < r->written);
}

/* A replica that cannot be reached does not show anything: nothing of it is waited for. */
bool fleet_workload_is_waiting(const struct fleet_workload *w, int64_t now)
{
	if (fleet_workload_awaits_token(w) ||
	    (w->managed != NULL && w->local != NULL &&
	     fleet_managed_awaits(&w->managed->workload_write, w->local->resource_version, now))) {
		return true;
	}
	for (size_t i = 0; i < w->replicas.n; i++) {
		if (w->replicas.v[i]->seen.replica.reachable && awaits_gate(w->replicas.v[i])) {
			return true;
		}
	}
	return false;
}

bool fleet_workload_is_gone(const struct fleet_workload *w)
{
	for (size_t i = 0; i < w->replicas.n; i++) {
		if (w->replicas.v[i]->seen.replica.uid != NULL ||
		    w->replicas.v[i]->variants.n > 0) {
			return false;
		}
	}
	return w->local == NULL && (w->managed == NULL || fleet_managed_is_gone(w->managed));
}

static int by_wake(const void *a, const void *b, const void *ctx UNUSED)
{
	const struct fleet_workload *x = a, *y = b;

	if (x->wake_at != y->wake_at) {
		return x->wake_at < y->wake_at ? -1 : 1;
	}
	return strcmp(x->key, y->key);
}

static void on_wake_moved(void *elem, size_t place)
{
	struct fleet_workload *w = elem;

	w->wake_place = place;
}

void fleet_workload_init_waking(struct heap *waking)
{
	heap_init(waking, by_wake, on_wake_moved, NULL);
}

void fleet_workload_set_wake(struct fleet_workload *w, struct heap *waking, int64_t at)
{
	if (w->wake_place != SIZE_MAX) {
		heap_remove(waking, w->wake_place);
	}
	w->wake_at = at;
	if (at != CLOCK_NEVER) {
		heap_push(waking, w);
	}
}

static int32_t priority_of(const struct api_workload *w)
{
	return w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
}

int fleet_workload_compare(const void *a, const void *b)
{
	const struct fleet_workload *x = *(struct fleet_workload *const *)a,
				    *y = *(struct fleet_workload *const *)b;
	const struct api_workload *p = fleet_workload_local(x), *q = fleet_workload_local(y);
	int64_t by;

	if (p == NULL || q == NULL) {
		return p == NULL ? q != NULL : -1;
	}
	by = (int64_t)priority_of(q) - priority_of(p);
	by = by != 0                             ? by
	     : p->meta.created < q->meta.created ? -1
						 : p->meta.created > q->meta.created;
	return by != 0 ? (by > 0) - (by < 0) : strcmp(x->key, y->key);
}
