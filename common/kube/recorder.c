#include "kube/recorder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/list.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/xmalloc.h"
#include "enc/json_out.h"
#include "kube/pool.h"
#include "kube/rest.h"

#define SLOTS 4
#define TIMEOUT_NS (10 * CLOCK_NS_PER_S)
#define BACKOFF_MIN_NS (CLOCK_NS_PER_S / 2)
#define BACKOFF_MAX_NS (30 * CLOCK_NS_PER_S)
#define SENDS_MAX 10
#define INTERVAL_MIN_NS (60 * CLOCK_NS_PER_S)
#define INTERVAL_MAX_NS (16 * 60 * CLOCK_NS_PER_S)
#define NAME_MAX_BYTES 253
#define SUFFIX_BYTES 17 /* '.' and 16 digits */

/* One event object at the server. */
struct entry {
	struct list_node node; /* in recent, newest first */
	char *key;
	char *api_version, *kind, *namespace_, *name, *uid; /* of the object; may be NULL */
	char *reason, *message;
	char *event_name;
	bool warning;
	bool created; /* the server has it: PATCH */
	int64_t count;
	int64_t first_wall, last_wall;
	int64_t sent_at, interval;
};

/* What waits in the pool: it finds its entry when it is sent, so that it tells the newest count. */
struct item {
	unsigned sends;
	bool is_patch;
	char key[]; /* NUL-terminated */
};

struct recorder {
	const struct clock *clock;
	char *component, *instance;
	struct pool *pool;
	pthread_mutex_t lock;   /* guards entries and recent */
	struct strmap *entries; /* owned by recent */
	struct list_node recent;
	double hints;        /* that may be sent now; guarded, too */
	int64_t hints_since; /* when that was computed */
	_Atomic uint64_t dropped;
};

static void free_entry(struct entry *e)
{
	char *const owned[] = { e->key, e->api_version, e->kind,    e->namespace_, e->name,
				e->uid, e->reason,      e->message, e->event_name };

	for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
		free(owned[i]);
	}
	free(e);
}

static char *dup_or_null(const char *text)
{
	return text == NULL ? NULL : xmalloc_dup(text);
}

/* At most max bytes, not cutting a UTF-8 sequence in two. */
static char *dup_cut(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len > max) {
		len = max;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
			len--;
		}
	}
	return xmalloc_dup_n(text, len);
}

static char *make_key(const struct recorder_object *o, bool warning, const char *reason,
		      const char *message)
{
	return xmalloc_printf("%s\n%s\n%s\n%s\n%d\n%s\n%s", o->kind,
			      o->namespace_ == NULL ? "" : o->namespace_, o->name,
			      o->uid == NULL ? "" : o->uid, warning, reason, message);
}

static struct entry *new_entry(struct recorder *r, char *key_take, const struct recorder_object *o,
			       bool warning, const char *reason)
{
	struct entry *e = xmalloc_zero(1, sizeof(*e));
	CLEANUP(xmalloc_freep) char *base = dup_cut(o->name, NAME_MAX_BYTES - SUFFIX_BYTES);
	uint64_t unique;

	e->key = key_take;
	e->api_version = dup_or_null(o->api_version);
	e->kind = dup_or_null(o->kind);
	e->namespace_ = dup_or_null(o->namespace_);
	e->name = dup_or_null(o->name);
	e->uid = dup_or_null(o->uid);
	e->reason = xmalloc_dup(reason);
	e->warning = warning;
	e->first_wall = clock_wall(r->clock);
	e->interval = INTERVAL_MIN_NS;
	/* Differs between events of one moment and between moments of one event. */
	unique = (uint64_t)e->first_wall + str_hash(str_of(e->key));
	e->event_name = xmalloc_printf("%s.%016" PRIx64, base, unique);
	return e;
}

static void evict(struct recorder *r)
{
	while (strmap_count(r->entries) > RECORDER_MAX_KNOWN) {
		struct entry *e = LIST_ENTRY(r->recent.prev, struct entry, node);

		list_remove(&e->node);
		strmap_remove(r->entries, str_of(e->key));
		free_entry(e);
	}
}

/* Counts one occurrence; true: it is to be sent now. With the lock held; takes key. */
static bool count_event(struct recorder *r, char *key_take, const struct recorder_object *about,
			bool warning, const char *reason, const char *message)
{
	struct entry *e = strmap_get(r->entries, str_of(key_take));
	int64_t now = clock_mono(r->clock);

	if (e != NULL) {
		free(key_take);
		list_remove(&e->node);
	} else {
		e = new_entry(r, key_take, about, warning, reason);
		e->message = xmalloc_dup(message);
		strmap_set(r->entries, str_of(e->key), e);
	}
	list_prepend(&r->recent, &e->node);
	evict(r);
	e->count++;
	e->last_wall = clock_wall(r->clock);
	if (e->count > 1) {
		if (now - e->sent_at < e->interval) {
			return false;
		}
		e->interval = e->interval * 2 < INTERVAL_MAX_NS ? e->interval * 2 : INTERVAL_MAX_NS;
	}
	e->sent_at = now;
	return true;
}

static void drop(struct recorder *r)
{
	atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
}

void recorder_event(struct recorder *r, const struct recorder_object *about, bool warning,
		    const char *reason, const char *message)
{
	CLEANUP(xmalloc_freep) char *cut = dup_cut(message, RECORDER_MAX_MESSAGE);
	char *key = make_key(about, warning, reason, cut);
	size_t len = strlen(key);
	struct item *item = xmalloc_zero(1, sizeof(*item) + len + 1);
	bool send;

	memcpy(item->key, key, len + 1);
	pthread_mutex_lock(&r->lock);
	send = count_event(r, key, about, warning, reason, cut);
	pthread_mutex_unlock(&r->lock);
	if (!send) {
		free(item);
		return;
	}
	pool_add(r->pool, (struct str){ item->key, len }, item);
	while (pool_waiting(r->pool) > RECORDER_MAX_WAITING && pool_drop_oldest(r->pool)) {
		drop(r);
	}
}

static bool take_hint(struct recorder *r)
{
	int64_t now = clock_mono(r->clock);
	bool taken;

	pthread_mutex_lock(&r->lock);
	r->hints += (double)(now - r->hints_since) / (double)CLOCK_NS_PER_S * RECORDER_HINTS_PER_S;
	r->hints_since = now;
	if (r->hints > RECORDER_MAX_HINTS) {
		r->hints = RECORDER_MAX_HINTS;
	}
	taken = r->hints >= 1;
	if (taken) {
		r->hints -= 1;
	}
	pthread_mutex_unlock(&r->lock);
	return taken;
}

void recorder_hint(struct recorder *r, const struct recorder_object *about, const char *reason,
		   const char *message)
{
	if (pool_waiting(r->pool) >= RECORDER_MAX_HINTS || !take_hint(r)) {
		drop(r);
		return;
	}
	recorder_event(r, about, false, reason, message);
}

static void write_about(struct json_out *o, const struct entry *e)
{
	json_out_key(o, "involvedObject");
	json_out_object(o);
	if (e->api_version != NULL) {
		json_out_kv(o, "apiVersion", e->api_version);
	}
	json_out_kv(o, "kind", e->kind);
	if (e->namespace_ != NULL) {
		json_out_kv(o, "namespace", e->namespace_);
	}
	json_out_kv(o, "name", e->name);
	if (e->uid != NULL) {
		json_out_kv(o, "uid", e->uid);
	}
	json_out_object_end(o);
}

static const char *namespace_of(const struct entry *e)
{
	return e->namespace_ == NULL ? "default" : e->namespace_;
}

static void write_event(const struct recorder *r, const struct entry *e, struct json_out *o)
{
	char first[CLOCK_RFC3339_MAX], last[CLOCK_RFC3339_MAX];

	clock_format_time(e->first_wall, first);
	clock_format_time(e->last_wall, last);
	json_out_kv(o, "apiVersion", "v1");
	json_out_kv(o, "kind", "Event");
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "name", e->event_name);
	json_out_kv(o, "namespace", namespace_of(e));
	json_out_object_end(o);
	write_about(o, e);
	json_out_kv(o, "type", e->warning ? "Warning" : "Normal");
	json_out_kv(o, "reason", e->reason);
	json_out_kv(o, "message", e->message);
	json_out_key(o, "source");
	json_out_object(o);
	json_out_kv(o, "component", r->component);
	json_out_object_end(o);
	json_out_kv(o, "reportingComponent", r->component);
	json_out_kv(o, "reportingInstance", r->instance);
	json_out_kv(o, "firstTimestamp", first);
	json_out_kv(o, "lastTimestamp", last);
	json_out_kv_int(o, "count", e->count);
}

static void write_count(const struct entry *e, struct json_out *o)
{
	char last[CLOCK_RFC3339_MAX];

	clock_format_time(e->last_wall, last);
	json_out_kv(o, "lastTimestamp", last);
	json_out_kv_int(o, "count", e->count);
}

/* Path, NUL, body go to scratch; the path's length tells where the body begins. */
static size_t write_request(const struct recorder *r, const struct entry *e, struct strbuf *scratch)
{
	struct json_out o;
	size_t body_at;

	rest_path(scratch, "", "v1", namespace_of(e), "events", e->created ? e->event_name : NULL,
		  NULL);
	strbuf_add_ch(scratch, '\0');
	body_at = scratch->len;
	json_out_init(&o, scratch);
	json_out_object(&o);
	if (e->created) {
		write_count(e, &o);
	} else {
		write_event(r, e, &o);
	}
	json_out_object_end(&o);
	json_out_end(&o);
	return body_at;
}

static bool start(void *ctx, void *item, unsigned sends, struct http_call *call,
		  struct strbuf *scratch)
{
	struct recorder *r = ctx;
	struct item *it = item;
	const struct entry *e;
	size_t body_at = 0;

	it->sends = sends + 1;
	pthread_mutex_lock(&r->lock);
	e = strmap_get(r->entries, str_of(it->key));
	if (e != NULL) {
		it->is_patch = e->created;
		body_at = write_request(r, e, scratch);
	}
	pthread_mutex_unlock(&r->lock);
	if (e == NULL) {
		return false;
	}
	call->method = it->is_patch ? HTTP_PATCH : HTTP_POST;
	call->url = scratch->p;
	call->content_type = it->is_patch ? "application/merge-patch+json" : "application/json";
	call->body = (struct str){ scratch->p + body_at, scratch->len - body_at };
	return true;
}

static void set_created(struct recorder *r, const struct item *it, bool created)
{
	struct entry *e;

	pthread_mutex_lock(&r->lock);
	e = strmap_get(r->entries, str_of(it->key));
	if (e != NULL) {
		e->created = created;
	}
	pthread_mutex_unlock(&r->lock);
}

static enum pool_verdict finish(void *ctx, void *item, const struct http_result *result)
{
	struct recorder *r = ctx;
	struct item *it = item;
	int code = rest_result(result, NULL);

	if (code == 0 || (code == -ERR_CONFLICT && !it->is_patch)) {
		/* A conflict: an earlier attempt of ours did reach the server. */
		set_created(r, it, true);
		return POOL_DONE;
	}
	if (code == -ERR_NOT_FOUND && it->is_patch) {
		/* Events live for an hour; then the tale begins anew. */
		set_created(r, it, false);
		return POOL_AGAIN;
	}
	if ((code == -ERR_UNAVAILABLE || code == -ERR_TIMEOUT || code == -ERR_IO) &&
	    it->sends < SENDS_MAX) {
		return POOL_RETRY;
	}
	drop(r);
	return POOL_DONE;
}

static const struct pool_ops ops = { .start = start, .finish = finish, .free_item = free };

struct recorder *recorder_create(const struct pool_options *base, const char *component,
				 const char *instance)
{
	struct recorder *r = xmalloc_zero(1, sizeof(*r));
	struct pool_options opt = *base;

	r->clock = base->clock;
	r->component = xmalloc_dup(component);
	r->instance = xmalloc_dup(instance);
	pthread_mutex_init(&r->lock, NULL);
	r->entries = strmap_create(NULL);
	list_init(&r->recent);
	r->hints = RECORDER_MAX_HINTS;
	r->hints_since = clock_mono(r->clock);
	opt.name = "events";
	opt.ops = &ops;
	opt.ctx = r;
	opt.slots = SLOTS;
	opt.timeout_ns = TIMEOUT_NS;
	opt.backoff_min_ns = BACKOFF_MIN_NS;
	opt.backoff_max_ns = BACKOFF_MAX_NS;
	opt.may_send = NULL;
	r->pool = pool_create(&opt);
	return r;
}

struct pool *recorder_pool(struct recorder *r)
{
	return r->pool;
}

uint64_t recorder_dropped(const struct recorder *r)
{
	return r->dropped;
}

void recorder_destroy(struct recorder *r)
{
	if (r == NULL) {
		return;
	}
	pool_destroy(r->pool);
	LIST_FOR_EACH (node, &r->recent) {
		free_entry(LIST_ENTRY(node, struct entry, node));
	}
	strmap_destroy(r->entries);
	pthread_mutex_destroy(&r->lock);
	free(r->component);
	free(r->instance);
	free(r);
}
