#include "scheduler/pods/writes/queue_controller.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/core/resource_amount.h"
#include "api/volcano/keys.h"
#include "api/volcano/scheduling.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "kube/pool.h"
#include "scheduler/base/object_write.h"
#include "scheduler/pods/ledger/totals.h"
#include "scheduler/pods/model/model.h"

struct known {
	char *state;
	int64_t version;
	bool has_parent, closed_by_parent;
	int64_t moved_from; /* the version for which a move was sent, -1: none */
	bool written;       /* the amounts were sent */
	struct res sent_allocated, sent_held;
	uint64_t res_swept; /* cluster->res_swept when it was sent */
};

struct queue_controller {
	char *default_queue;
	struct object_write_target target;
	struct pool *pool;
	struct strmap *known;
	bool asked_root, asked_default; /* a create is in flight */
};

static void known_free(void *value)
{
	struct known *k = value;

	free(k->state);
	free(k);
}

struct queue_controller *queue_controller_create(const struct pool_options *base,
						 const char *default_queue,
						 void (*post)(void *ctx, struct sched_msg *msg))
{
	struct queue_controller *s = xmalloc_zero(1, sizeof(*s));

	s->default_queue = xmalloc_dup(default_queue);
	s->known = strmap_create(known_free);
	s->pool = object_write_pool(base, "queue-status", 32, post, &s->target);
	return s;
}

struct pool *queue_controller_pool(struct queue_controller *s)
{
	return s->pool;
}

void queue_controller_destroy(struct queue_controller *s)
{
	if (s == NULL) {
		return;
	}
	pool_destroy(s->pool);
	strmap_destroy(s->known);
	free(s->default_queue);
	free(s);
}

void queue_controller_queue_changed(struct queue_controller *s, struct str name,
				    const struct queue_seen *seen)
{
	struct known *k = strmap_get(s->known, name);

	if (k == NULL) {
		k = xmalloc_zero(1, sizeof(*k));
		k->moved_from = -1;
		strmap_set(s->known, name, k);
	}
	free(k->state);
	k->state = xmalloc_dup(seen->state);
	k->version = seen->version;
	k->has_parent = seen->has_parent;
	k->closed_by_parent = seen->closed_by_parent;
}

/* root and default are created again by the next run. */
void queue_controller_queue_deleted(struct queue_controller *s, struct str name)
{
	strmap_remove(s->known, name);
	if (str_eq_c(name, "root")) {
		s->asked_root = false;
	}
	if (str_eq_c(name, s->default_queue)) {
		s->asked_default = false;
	}
}

void queue_controller_request_done(struct queue_controller *s, const struct sched_msg *m)
{
	struct str name = m->key;
	struct known *k;

	(void)str_next(&name, '/');
	k = strmap_get(s->known, name);
	if (k != NULL && (m->outcome == SCHED_STALE || m->outcome == SCHED_CANCELLED)) {
		/* The amounts did not get there: they are sent with the next run. */
		k->written = false;
	}
	if (k != NULL && m->outcome == SCHED_CANCELLED) {
		k->moved_from = -1; /* it was never sent, so no new version shows its effect */
	}
}

/* Each kind of write has a key of its own, so that one which waits is not replaced by another. */
static void send(struct queue_controller *s, enum http_method method, const char *key,
		 const char *path, struct str body)
{
	struct object_write_spec spec = {
		.request = SCHED_REQ_QUEUE,
		.resource = SCHED_QUEUES,
		.method = method,
		.key = str_of(key),
		.path = path,
		.content_type =
			method == HTTP_POST ? "application/json" : "application/merge-patch+json",
		.body = body,
		.retries_refused = true,
		.names_version = true,
	};

	pool_add(s->pool, spec.key, object_write_new(&spec));
}

static void create_queue(struct queue_controller *s, const char *name, bool reclaimable)
{
	CLEANUP(strbuf_finish)
	struct strbuf body = STRBUF_INIT, key = STRBUF_INIT, path = STRBUF_INIT;
	struct api_queue o;

	decode_init(&scheduling_queue_fields, &o);
	o.api_version = KEYS_VOLCANO_API_VERSION;
	o.kind = "Queue";
	o.meta.name = name;
	o.spec.weight = 1;
	o.spec.reclaimable = reclaimable;
	encode_text(&scheduling_queue_fields, &o, &body);
	strbuf_printf(&key, "queue-create/%s", name);
	sched_kinds_path(SCHED_QUEUES, NULL, NULL, NULL, &path);
	send(s, HTTP_POST, key.p, path.p, strbuf_str(&body));
}

static void patch_parent(struct queue_controller *s, const struct queue *q)
{
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, key = STRBUF_INIT, body = STRBUF_INIT;
	struct api_queue patch;

	decode_init(&scheduling_queue_fields, &patch);
	patch.spec.parent = KEYS_ROOT_QUEUE;
	encode_text(&scheduling_queue_fields, &patch, &body);
	sched_kinds_path(SCHED_QUEUES, NULL, q->name, NULL, &path);
	strbuf_printf(&key, "queue-parent/%s", q->name);
	send(s, HTTP_PATCH, key.p, path.p, strbuf_str(&body));
}

/* NULL without a version. */
static const char *version_of(const struct known *k, struct arena *arena)
{
	return k->version == 0 ? NULL : arena_printf(arena, "%" PRId64, k->version);
}

static void patch_closed_by_parent(struct queue_controller *s, const struct queue *q,
				   struct known *k, bool closed)
{
	CLEANUP(strbuf_finish)
	struct strbuf path = STRBUF_INIT, key = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct field_pair mark = { KEYS_CLOSED_BY_PARENT, closed ? "true" : NULL };
	struct api_queue patch;

	decode_init(&scheduling_queue_fields, &patch);
	patch.meta.resource_version = version_of(k, arena);
	patch.meta.annotations = (struct field_map){ &mark, 1 };
	encode_text(&scheduling_queue_fields, &patch, &body);
	sched_kinds_path(SCHED_QUEUES, NULL, q->name, NULL, &path);
	strbuf_printf(&key, "queue-mark/%s", q->name);
	send(s, HTTP_PATCH, key.p, path.p, strbuf_str(&body));
	k->moved_from = k->version;
}

/* An amount that was written before and is none now is written as 0, since a merge patch keeps the
 * rest. */
static struct field_resources amounts(const struct cluster *c, const struct res *now,
				      const struct res *before, struct arena *arena)
{
	struct field_resource *v = arena_zero(arena, res_names_count(c->res), sizeof(*v));
	size_t n = 0;

	for (unsigned d = 0; d < res_names_count(c->res); d++) {
		if (d <= RES_MEMORY || res_get(now, d) != 0 || res_get(before, d) != 0) {
			v[n].name = res_names_get(c->res, d);
			v[n].amount = resource_amount_quantity(v[n].name, res_get(now, d));
			n++;
		}
	}
	return (struct field_resources){ v, n };
}

/* state: NULL leaves it as it is. */
static void write_status(struct queue_controller *s, const struct cluster *c, const struct queue *q,
			 struct known *k, const char *state, const struct queue_totals *totals)
{
	CLEANUP(strbuf_finish)
	struct strbuf body = STRBUF_INIT, path = STRBUF_INIT, key = STRBUF_INIT;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_queue patch;

	decode_init(&scheduling_queue_fields, &patch);
	if (state != NULL) {
		patch.meta.resource_version = version_of(k, arena);
		patch.status.state = state;
		/* No other move is sent until a newer version shows what became of this one. */
		k->moved_from = k->version;
	}
	/* Amounts go along with a change of state: it is one write either way. */
	patch.status.allocated = amounts(c, &totals->allocated, &k->sent_allocated, arena);
	patch.status.reservation.resource = amounts(c, &totals->held, &k->sent_held, arena);
	encode_text(&scheduling_queue_fields, &patch, &body);
	sched_kinds_path(SCHED_QUEUES, NULL, q->name, "status", &path);
	strbuf_printf(&key, "queue-status/%s", q->name);
	send(s, HTTP_PATCH, key.p, path.p, strbuf_str(&body));
	k->sent_allocated = totals->allocated;
	k->sent_held = totals->held;
	k->res_swept = c->res_swept;
	k->written = true;
}

static bool is_closed(const char *state)
{
	return str_streq(state, "Closed") || str_streq(state, "Closing");
}

static bool parent_is_closed(const struct queue_controller *s, const struct cluster *c,
			     const struct queue *q)
{
	const struct known *parent;

	if (q->parent == MODEL_NONE) {
		return false;
	}
	parent = strmap_get(s->known, str_of(c->queues.v[q->parent]->name));
	return parent != NULL && is_closed(parent->state);
}

/* Pods that are in no PodGroup of Volcano keep a queue from being closed, too. */
static const char *closing_state(const struct queue_totals *totals)
{
	if (totals->request.v[RES_PODS] > 0 || totals->held.v[RES_PODS] > 0) {
		return "Closing";
	}
	for (unsigned i = 0; i < PODGROUP_PHASE_COUNT_; i++) {
		if (totals->podgroups[i] > 0) {
			return "Closing";
		}
	}
	return "Closed";
}

/* The transition table of Volcano's queue controller for SyncQueue, with the rules between parent
 * and child. */
static const char *next_state(const struct known *k, const struct queue *q, bool above_closed,
			      const struct queue_totals *totals)
{
	/* Closing root would close every queue. */
	if (str_streq(q->name, "root")) {
		return "Open";
	}
	if (is_closed(k->state)) {
		if (k->closed_by_parent && !above_closed) {
			return "Open";
		}
		return str_streq(k->state, "Closing") ? closing_state(totals) : "Closed";
	}
	return above_closed && k->closed_by_parent ? closing_state(totals) : "Open";
}

/* The mark shows that the state is not what a user chose: it is set before the queue is closed and
 * removed after it is open again, so that a controller that ends in between leaves nothing closed
 * for ever. */
static bool mark_is_due(const struct known *k, const struct queue *q, bool above_closed)
{
	return !str_streq(q->name, "root") && !is_closed(k->state) &&
	       k->closed_by_parent != above_closed;
}

static void run_queue(struct queue_controller *s, const struct cluster *c, const struct queue *q,
		      const struct queue_totals *totals)
{
	struct known *k = strmap_get(s->known, str_of(q->name));
	bool above_closed, may_move;
	const char *state;

	if (k == NULL) {
		return;
	}
	/* The further dimensions of what was sent may have been freed: they count as 0, and are
	 * sent once more. */
	if (k->res_swept != c->res_swept) {
		k->sent_allocated.more = k->sent_held.more = NULL;
	}
	if (!k->has_parent && !str_streq(q->name, "root")) {
		patch_parent(s, q);
		k->has_parent = true; /* a write sets it; the next update of the object shows it */
	}
	above_closed = parent_is_closed(s, c, q);
	state = next_state(k, q, above_closed, totals);
	state = str_streq(state, k->state) ? NULL : state;
	may_move = k->moved_from != k->version;
	if ((state != NULL && may_move) || !k->written ||
	    !res_eq(&totals->allocated, &k->sent_allocated) ||
	    !res_eq(&totals->held, &k->sent_held)) {
		write_status(s, c, q, k, state, totals);
	} else if (state == NULL && may_move && mark_is_due(k, q, above_closed)) {
		patch_closed_by_parent(s, q, k, above_closed);
	}
}

void queue_controller_run(struct queue_controller *s, const struct cluster *c,
			  const struct queue_totals *totals)
{
	/* As in Volcano: pods of root are not reclaimed, those of default are. The object shows
	 * that a create has had its effect; until then it is not sent again. */
	if (!strmap_has(s->known, STR_LIT("root")) && !s->asked_root) {
		s->asked_root = true;
		create_queue(s, "root", false);
	}
	if (!strmap_has(s->known, str_of(s->default_queue)) && !s->asked_default) {
		s->asked_default = true;
		create_queue(s, s->default_queue, true);
	}
	for (size_t i = 0; i < c->queues.n; i++) {
		const struct queue *q = c->queues.v[i];

		if (q != NULL && q->exists) {
			run_queue(s, c, q, &totals[i]);
		}
	}
}
