#include "kube/recorder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/core/event.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "collections/strmap.h"
#include "enc/decode.h"
#include "enc/digest.h"
#include "enc/encode.h"
#include "kube/pool.h"
#include "kube/rest.h"

#define SLOTS 4
#define TIMEOUT_NS (10 * CLOCK_NS_PER_S)
#define BACKOFF_MIN_NS (CLOCK_NS_PER_S / 2) /* events may wait longer than other writes */
#define SENDS_MAX 10
#define INTERVAL_MIN_NS (60 * CLOCK_NS_PER_S)
#define INTERVAL_MAX_NS (16 * 60 * CLOCK_NS_PER_S)
#define NAME_MAX_BYTES 253
#define SUFFIX_BYTES 17 /* '.' and 16 digits */

/* One Event object at the server. It holds no texts: each item brings its own. */
struct entry {
	struct list_node node; /* in recent, newest first */
	const char *key;       /* of `entries` */
	uint64_t unique;       /* part of the Event's name */
	bool created;          /* the server has it: PATCH */
	int64_t count;
	int64_t first_wall, last_wall;
	int64_t sent_at, interval;
};

/* A queued write. It looks up its entry when it is sent, so that it carries the latest count. */
struct item {
	unsigned sends;
	bool is_patch, warning;
	char key[DIGEST_SHA1_HEX_SIZE];
	struct recorder_object about;
	const char *reason, *message;
	char texts[]; /* of all of these */
};

struct recorder {
	const struct clock *clock;
	char *component, *instance;
	struct pool *pool;
	pthread_mutex_t lock;   /* guards entries and recent */
	struct strmap *entries; /* by digest of object, reason and message; owned by recent */
	struct list_node recent;
	double hints;        /* tokens for hints that may be sent now; guarded, too */
	int64_t hints_since; /* when that was computed */
	_Atomic uint64_t dropped;
};

/* At most the first max bytes, without cutting a UTF-8 sequence. */
static struct str cut(const char *text, size_t max)
{
	size_t len = strlen(text);

	if (len > max) {
		len = max;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
			len--;
		}
	}
	return (struct str){ text, len };
}

/* A digest, because a message may be as long as RECORDER_MAX_MESSAGE and thousands are
 * remembered. */
static void make_key(const struct recorder_object *o, bool warning, const char *reason,
		     struct str message, char ret[DIGEST_SHA1_HEX_SIZE])
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text, "%s\n%s\n%s\n%s\n%d\n%s\n", o->kind,
		      o->namespace_ == NULL ? "" : o->namespace_, o->name,
		      o->uid == NULL ? "" : o->uid, warning, reason);
	strbuf_add_str(&text, message);
	digest_sha1_hex(strbuf_str(&text), ret);
}

static struct entry *new_entry(struct recorder *r, const char *key)
{
	struct entry *e = xmalloc_zero(1, sizeof(*e));

	e->first_wall = clock_wall(r->clock);
	e->interval = INTERVAL_MIN_NS;
	/* Differs between events at the same moment and between moments of the same event. */
	e->unique = (uint64_t)e->first_wall + str_hash(str_of(key));
	strmap_set(r->entries, str_of(key), e);
	e->key = strmap_key(r->entries, str_of(key));
	return e;
}

/* The entry may still have an item in the queue: start finds no entry then and ends it. */
static void evict(struct recorder *r)
{
	while (strmap_count(r->entries) > RECORDER_MAX_KNOWN) {
		struct entry *e = LIST_ENTRY(r->recent.prev, struct entry, node);

		list_remove(&e->node);
		strmap_remove(r->entries, str_of(e->key));
		free(e);
	}
}

/* Counts one occurrence; true: send it now. With the lock held. */
static bool count_event(struct recorder *r, const char *key)
{
	struct entry *e = strmap_get(r->entries, str_of(key));
	int64_t now = clock_mono(r->clock);

	if (e != NULL) {
		list_remove(&e->node);
	} else {
		e = new_entry(r, key);
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

/* A copy of the text at *at, which moves behind it. */
static const char *put_text(char **at, struct str text)
{
	char *copy = *at;

	if (text.p == NULL) {
		return NULL;
	}
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	*at += text.len + 1;
	return copy;
}

static struct item *new_item(const struct recorder_object *o, bool warning, const char *reason,
			     struct str message)
{
	const struct str texts[] = { str_of(o->api_version),
				     str_of(o->kind),
				     str_of(o->namespace_),
				     str_of(o->name),
				     str_of(o->uid),
				     str_of(reason),
				     message };
	size_t size = 0;
	struct item *it;
	char *at;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		size += texts[i].len + 1;
	}
	it = xmalloc_zero(1, sizeof(*it) + size);
	at = it->texts;
	it->warning = warning;
	it->about.api_version = put_text(&at, texts[0]);
	it->about.kind = put_text(&at, texts[1]);
	it->about.namespace_ = put_text(&at, texts[2]);
	it->about.name = put_text(&at, texts[3]);
	it->about.uid = put_text(&at, texts[4]);
	it->reason = put_text(&at, texts[5]);
	it->message = put_text(&at, texts[6]);
	return it;
}

static void drop(struct recorder *r)
{
	atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
}

/* The way of an event:
 *   1. Its entry counts it.
 *   2. The first one becomes an item of the pool at once, later ones only when the interval of the
 *      entry has passed: an event that is repeated each second costs a write in a minute, later in
 *      16.
 *   3. When the item is sent, start makes the request from the entry as it is then: a POST of a
 *      whole Event, or a PATCH of its count and time.
 *   4. finish notes in the entry whether the server has the Event. */
void recorder_event(struct recorder *r, const struct recorder_object *about, bool warning,
		    const char *reason, const char *message)
{
	struct str text = cut(message, RECORDER_MAX_MESSAGE);
	char key[DIGEST_SHA1_HEX_SIZE];
	struct item *item;
	bool send;

	make_key(about, warning, reason, text, key);
	pthread_mutex_lock(&r->lock);
	send = count_event(r, key);
	pthread_mutex_unlock(&r->lock);
	if (!send) {
		return;
	}
	item = new_item(about, warning, reason, text);
	/* The key is that of the entry: an item that still waits is replaced, and its count is not
	 * lost, because the request takes the count from the entry. */
	memcpy(item->key, key, sizeof(key));
	pool_add(r->pool, str_of(key), item);
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

static const char *namespace_of(const struct item *it)
{
	return it->about.namespace_ == NULL ? "default" : it->about.namespace_;
}

static void name_event(const struct item *it, const struct entry *e, char ret[NAME_MAX_BYTES + 1])
{
	struct str base = cut(it->about.name, NAME_MAX_BYTES - SUFFIX_BYTES);

	/* The part of a name before a '.' must not end with a '-' or '.', which the cut may
	 * leave. */
	while (base.len > 0 && strchr("-.", base.p[base.len - 1]) != NULL) {
		base.len--;
	}
	snprintf(ret, NAME_MAX_BYTES + 1, STR_FMT ".%016" PRIx64, STR_ARG(base), e->unique);
}

/* A patch of its count, or as a whole; name: that of the event. */
static void make_event(const struct recorder *r, const struct item *it, const struct entry *e,
		       const char *name, struct api_event *ret)
{
	decode_init(&event_fields, ret);
	ret->last = e->last_wall;
	/* Event.count is an int32 in the API. */
	ret->count = e->count > INT32_MAX ? INT32_MAX : (int32_t)e->count;
	/* The merge patch: members that decode_init left absent are not written. */
	if (e->created) {
		return;
	}
	ret->api_version = "v1";
	ret->kind = "Event";
	ret->meta.name = name;
	ret->meta.namespace_ = namespace_of(it);
	ret->about = (struct api_reference){ .api_version = it->about.api_version,
					     .kind = it->about.kind,
					     .namespace_ = it->about.namespace_,
					     .name = it->about.name,
					     .uid = it->about.uid };
	ret->type = it->warning ? "Warning" : "Normal";
	ret->reason = it->reason;
	ret->message = it->message;
	ret->source.component = r->component;
	ret->reporting_component = r->component;
	ret->reporting_instance = r->instance;
	ret->first = e->first_wall;
}

/* Writes path, NUL and body to scratch; returns the offset of the body. */
static size_t write_request(const struct recorder *r, const struct item *it, const struct entry *e,
			    struct strbuf *scratch)
{
	char name[NAME_MAX_BYTES + 1];
	struct api_event event;
	size_t body_at;

	name_event(it, e, name);
	rest_path(scratch, "", "v1", namespace_of(it), "events", e->created ? name : NULL, NULL);
	strbuf_add_ch(scratch, '\0');
	body_at = scratch->len;
	make_event(r, it, e, name, &event);
	encode_text(&event_fields, &event, scratch);
	return body_at;
}

static bool start(void *ctx, void *item, unsigned sends, struct http_call *call,
		  struct strbuf *scratch)
{
	struct recorder *r = ctx;
	struct item *it = item;
	const struct entry *e;
	size_t body_at = 0;

	/* finish does not get the number of attempts. */
	it->sends = sends + 1;
	pthread_mutex_lock(&r->lock);
	e = strmap_get(r->entries, str_of(it->key));
	if (e != NULL) {
		it->is_patch = e->created;
		body_at = write_request(r, it, e, scratch);
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
		/* A conflict on create: an earlier attempt reached the server. */
		set_created(r, it, true);
		return POOL_DONE;
	}
	if (code == -ERR_NOT_FOUND && it->is_patch) {
		/* The API server deletes Events after an hour; create it again. */
		set_created(r, it, false);
		return POOL_AGAIN;
	}
	/* Events are worth a few attempts, not an unlimited number. A refusal is final: the
	 * namespace may be ending, in which nothing can be created. */
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
	opt.backoff_max_ns = POOL_BACKOFF_MAX_NS;
	/* Events change no decision, so they may be sent without the lease. */
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
	/* First, because its workers use the entries. */
	pool_destroy(r->pool);
	LIST_FOR_EACH (node, &r->recent) {
		free(LIST_ENTRY(node, struct entry, node));
	}
	strmap_destroy(r->entries);
	pthread_mutex_destroy(&r->lock);
	free(r->component);
	free(r->instance);
	free(r);
}
