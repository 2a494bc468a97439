#include "kube/reflector.h"

#include <assert.h>
#include <stdlib.h>

#include "api/status.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/list_page.h"
#include "kube/rest.h"
#include "kube/seen.h"
#include "kube/transport.h"
#include "kube/wakeup.h"
#include "kube/watch_frame.h"

#define PAGE_SIZE 500
#define PAGE_TIMEOUT_NS (60 * CLOCK_NS_PER_S)
#define WATCH_TIMEOUT_S 300
#define WATCH_JITTER_S 60
#define SILENCE_NS (30 * CLOCK_NS_PER_S)
#define MISSING_RETRY_NS (30 * CLOCK_NS_PER_S)
#define BACKOFF_MIN_NS (800 * CLOCK_NS_PER_MS)
#define BACKOFF_MAX_NS (30 * CLOCK_NS_PER_S)
#define BACKOFF_JITTER 0.2
#define RETRY_AFTER_MAX_S 120
/* A stream that ends sooner than this without a frame has told nothing; a server (or proxy) that
 * does it more than a few times in a row is not working. */
#define QUICK_END_NS CLOCK_NS_PER_S
#define QUICK_ENDS_MAX 3

enum state {
	STATE_IDLE,       /* not started, or the transport went away */
	STATE_LISTING,    /* a page is under way */
	STATE_WAIT_LIST,  /* a page is to be asked for later */
	STATE_WATCHING,   /* a stream is open */
	STATE_WAIT_WATCH, /* the stream is to be resumed later */
	STATE_MISSING,    /* the resource does not exist; look again later */
	STATE_COUNT_
};

enum event {
	EVENT_START,
	EVENT_PAGE,    /* a page arrived, more follow */
	EVENT_LISTED,  /* the last page arrived */
	EVENT_ENDED,   /* the stream ended as streams do */
	EVENT_GONE,    /* 410: continue token or resource version too old */
	EVENT_ABSENT,  /* 404 where that is allowed */
	EVENT_FAILED,  /* no answer, cut, 408, 429, 5xx: the same again may work */
	EVENT_REFUSED, /* another answer: the same again will not work */
	EVENT_TIMER,
	EVENT_CLOSED, /* the transport goes away */
	EVENT_COUNT_
};

/* A request under way. It outlives the reflector when that is destroyed first. */
struct fetch {
	struct reflector *owner; /* NULL: nobody is interested any more */
	uint64_t id;
	struct watch_frame_splitter frames;
	bool is_watch;
	bool had_frame;
	enum event verdict; /* what a frame or its lack said; EVENT_COUNT_: nothing */
	int64_t opened_at;
};

/* reflector_start under way to the transport's thread. */
struct starter {
	struct reflector *owner;
};

struct reflector {
	struct reflector_options opt;
	struct rest_what what;
	char *path, *label_selector, *field_selector; /* behind what */
	enum state state;
	struct rng rng;
	struct backoff backoff;
	int retry_after_s; /* of the answer at hand, -1: none */
	unsigned gone_streak, quick_ends;
	struct wakeup *timer;
	struct fetch *fetch;
	struct starter *starter;
	struct seen *seen;
	uint32_t list_no;       /* counts LISTs, marks what each has shown */
	struct strbuf next;     /* continue token; empty: the first page */
	struct strbuf position; /* resourceVersion to watch from */
	int64_t position_n;     /* the same as a number, 0: it is none */
	struct strbuf url, key;
	bool missing;
	int64_t watch_limit_ns; /* silence allowed to the open stream */
	_Atomic uint64_t lists, watches, relists_gone, cuts, errors, events;
	atomic_bool synced;
};

static void dispatch(struct reflector *r, enum event event);

/* ---- what consumers see ---- */

static void emit(struct reflector *r, enum reflector_event_kind kind, struct str key,
		 struct str object, int64_t version)
{
	const struct reflector_event e = {
		.kind = kind, .key = key, .object = object, .resource_version = version
	};

	atomic_fetch_add_explicit(&r->events, 1, memory_order_relaxed);
	r->opt.on_event(r->opt.ctx, &e);
}

static void emit_complete(struct reflector *r)
{
	const struct str none = { NULL, 0 };
	bool first = !atomic_exchange(&r->synced, true);

	emit(r, first ? REFLECTOR_SYNCED : REFLECTOR_RELISTED, none, none, r->position_n);
}

static void on_swept(void *ctx, struct str key)
{
	emit(ctx, REFLECTOR_DELETE, key, (struct str){ NULL, 0 }, 0);
}

static int64_t number_of(struct str version)
{
	int64_t n;

	return json_cut_int(version, &n) && n > 0 ? n : 0;
}

static void set_text(struct strbuf *to, struct str raw)
{
	strbuf_reset(to);
	if (!json_cut_unescape(raw, to)) {
		strbuf_reset(to);
	}
}

static void set_position(struct reflector *r, struct str version)
{
	set_text(&r->position, version);
	r->position_n = number_of(strbuf_str(&r->position));
}

static struct str make_key(struct reflector *r, const struct json_cut_meta *meta)
{
	strbuf_reset(&r->key);
	if (meta->namespace_.len > 0) {
		json_cut_unescape(meta->namespace_, &r->key);
		strbuf_add_ch(&r->key, '/');
	}
	json_cut_unescape(meta->name, &r->key);
	return strbuf_str(&r->key);
}

static void on_item(void *ctx, struct str object, const struct json_cut_meta *meta)
{
	struct reflector *r = ctx;
	struct str key = make_key(r, meta);
	int64_t version = number_of(meta->resource_version), known;
	bool same = seen_get(r->seen, key, &known) && known == version && version != 0;

	seen_set(r->seen, key, version, r->list_no);
	if (!same) {
		emit(r, REFLECTOR_UPSERT, key, object, version);
	}
}

/* A change that the stream tells. Versions only grow along a watch: what is not newer than where we
 * are has been told before. */
static void on_change(struct reflector *r, const struct watch_frame *f)
{
	int64_t version = number_of(f->meta.resource_version);
	struct str key = make_key(r, &f->meta);

	if (version != 0 && version <= r->position_n) {
		return;
	}
	if (f->type == WATCH_FRAME_DELETED) {
		if (seen_remove(r->seen, key)) {
			emit(r, REFLECTOR_DELETE, key, f->object, version);
		}
	} else {
		seen_set(r->seen, key, version, r->list_no);
		emit(r, REFLECTOR_UPSERT, key, f->object, version);
	}
	set_position(r, f->meta.resource_version);
}

static enum event event_of_code(const struct reflector *r, int code)
{
	enum err_code err = status_to_err(code);

	if (err == ERR_GONE) {
		return EVENT_GONE;
	}
	if (err == ERR_NOT_FOUND && r->opt.missing_ok) {
		return EVENT_ABSENT;
	}
	return err == ERR_TIMEOUT || err == ERR_UNAVAILABLE ? EVENT_FAILED : EVENT_REFUSED;
}

static void note_progress(struct reflector *r)
{
	backoff_reset(&r->backoff);
	r->gone_streak = 0;
	r->quick_ends = 0;
}

static bool on_frame(void *ctx, const struct watch_frame *f)
{
	struct fetch *fetch = ctx;
	struct reflector *r = fetch->owner;

	if (f->type == WATCH_FRAME_ERROR) {
		fetch->verdict = event_of_code(r, f->code);
		return false;
	}
	fetch->had_frame = true;
	note_progress(r);
	if (f->type == WATCH_FRAME_BOOKMARK) {
		if (number_of(f->meta.resource_version) >= r->position_n) {
			set_position(r, f->meta.resource_version);
		}
	} else if (f->meta.name.len > 0) {
		on_change(r, f);
	}
	return true;
}

/* ---- requests ---- */

static void free_fetch(struct fetch *f)
{
	watch_frame_finish(&f->frames);
	free(f);
}

/* Lets go of the request under way; its on_done frees it. */
static void drop_fetch(struct reflector *r)
{
	struct fetch *f = r->fetch;

	if (f != NULL) {
		r->fetch = NULL;
		f->owner = NULL;
		transport_cancel(r->opt.transport, f->id);
	}
}

static void on_data(void *ctx, struct str bytes)
{
	struct fetch *f = ctx;
	struct reflector *r = f->owner;
	enum event verdict;

	if (r == NULL) {
		return;
	}
	wakeup_set(r->timer, clock_mono(r->opt.clock) + r->watch_limit_ns);
	if (watch_frame_feed(&f->frames, bytes, on_frame, f, NULL) < 0) {
		f->verdict = EVENT_REFUSED;
	}
	verdict = f->verdict;
	if (verdict != EVENT_COUNT_) {
		drop_fetch(r);
		dispatch(r, verdict);
	}
}

static enum event judge_watch_end(struct reflector *r, const struct fetch *f)
{
	if (watch_frame_is_partial(&f->frames)) {
		return EVENT_FAILED;
	}
	if (f->had_frame) {
		return EVENT_ENDED;
	}
	if (clock_mono(r->opt.clock) - f->opened_at >= QUICK_END_NS) {
		note_progress(r);
		return EVENT_ENDED;
	}
	return ++r->quick_ends > QUICK_ENDS_MAX ? EVENT_FAILED : EVENT_ENDED;
}

static enum event judge_page(struct reflector *r, struct str body)
{
	struct list_page page;

	if (list_page_cut(body, on_item, r, &page, NULL) < 0) {
		return EVENT_FAILED;
	}
	set_text(&r->next, page.continue_);
	if (r->next.len > 0) {
		return EVENT_PAGE;
	}
	set_position(r, page.resource_version);
	return EVENT_LISTED;
}

static enum event judge(struct reflector *r, const struct fetch *f,
			const struct http_result *result)
{
	if (result->error == ERR_CANCELLED) {
		return EVENT_CLOSED;
	}
	if (result->error != 0 || result->status == 0) {
		if (f->is_watch && result->error == ERR_TIMEOUT) {
			atomic_fetch_add(&r->cuts, 1);
		}
		return EVENT_FAILED;
	}
	if (f->is_watch && rest_is_version_ahead(result)) {
		/* Only a new LIST leads out of that. */
		return EVENT_GONE;
	}
	if (!status_is_success(result->status)) {
		return event_of_code(r, result->status);
	}
	return f->is_watch ? judge_watch_end(r, f) : judge_page(r, result->body);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct fetch *f = ctx;
	struct reflector *r = f->owner;
	enum event event;

	if (r == NULL) {
		free_fetch(f);
		return;
	}
	r->retry_after_s = result->retry_after_s;
	event = judge(r, f, result);
	r->fetch = NULL;
	free_fetch(f);
	dispatch(r, event);
	r->retry_after_s = -1;
}

static void submit(struct reflector *r, struct http_call *call, bool is_watch)
{
	struct fetch *f = xmalloc_zero(1, sizeof(*f));

	f->owner = r;
	f->is_watch = is_watch;
	f->verdict = EVENT_COUNT_;
	f->opened_at = clock_mono(r->opt.clock);
	watch_frame_init(&f->frames, 0);
	call->method = HTTP_GET;
	call->url = r->url.p;
	call->on_done = on_done;
	call->ctx = f;
	r->fetch = f;
	f->id = transport_submit(r->opt.transport, call);
}

/* ---- actions of the table ---- */

static void act_stop(struct reflector *r)
{
	wakeup_set(r->timer, CLOCK_NEVER);
}

/* Asks for the page at the continue token: no resourceVersion, so that the list is consistent. */
static void act_page(struct reflector *r)
{
	struct http_call call = { .timeout_ns = PAGE_TIMEOUT_NS };

	if (r->next.len == 0) {
		r->list_no++;
		atomic_fetch_add(&r->lists, 1);
	}
	strbuf_reset(&r->url);
	rest_list_query(&r->url, &r->what, r->opt.page_size, strbuf_str(&r->next));
	submit(r, &call, false);
}

static void act_watch(struct reflector *r)
{
	int64_t timeout_s = r->opt.watch_timeout_s;
	struct http_call call = { .on_data = on_data };

	if (timeout_s == 0) {
		timeout_s = WATCH_TIMEOUT_S + (int64_t)rng_below(&r->rng, WATCH_JITTER_S);
	}
	atomic_fetch_add(&r->watches, 1);
	strbuf_reset(&r->url);
	rest_watch_query(&r->url, &r->what, strbuf_str(&r->position), timeout_s);
	/* The transport cuts first, since it can drop the dead connection with the stream; our own
	 * timer is for transports that do not. */
	call.silence_ns = timeout_s * CLOCK_NS_PER_S + r->opt.silence_ns;
	r->watch_limit_ns = call.silence_ns + r->opt.silence_ns;
	wakeup_set(r->timer, clock_mono(r->opt.clock) + r->watch_limit_ns);
	submit(r, &call, true);
}

static void act_listed(struct reflector *r)
{
	r->missing = false;
	seen_sweep(r->seen, r->list_no, on_swept, r);
	emit_complete(r);
	act_watch(r);
}

static void act_cut(struct reflector *r)
{
	atomic_fetch_add(&r->cuts, 1);
	drop_fetch(r);
	act_watch(r);
}

static void act_backoff(struct reflector *r)
{
	int64_t delay = backoff_next(&r->backoff, &r->rng);
	int64_t asked = r->retry_after_s < RETRY_AFTER_MAX_S ? r->retry_after_s : RETRY_AFTER_MAX_S;

	atomic_fetch_add(&r->errors, 1);
	if (asked > 0 && delay < asked * CLOCK_NS_PER_S) {
		delay = asked * CLOCK_NS_PER_S;
	}
	wakeup_set(r->timer, clock_mono(r->opt.clock) + delay);
}

static void act_restart(struct reflector *r)
{
	strbuf_reset(&r->next);
	act_backoff(r);
}

/* A version that is gone is nobody's fault and leads to a new LIST at once; again and again without
 * any progress in between it is an error. */
static void act_gone(struct reflector *r)
{
	atomic_fetch_add(&r->relists_gone, 1);
	if (r->gone_streak++ > 0) {
		act_restart(r);
		return;
	}
	strbuf_reset(&r->next);
	wakeup_set(r->timer, clock_mono(r->opt.clock));
}

static void act_missing(struct reflector *r)
{
	strbuf_reset(&r->next);
	r->position_n = 0;
	seen_sweep(r->seen, ++r->list_no, on_swept, r);
	if (!r->missing) {
		r->missing = true;
		emit_complete(r);
	}
	wakeup_set(r->timer, clock_mono(r->opt.clock) + MISSING_RETRY_NS +
				     (int64_t)rng_below(&r->rng, MISSING_RETRY_NS / 4));
}

/* ---- the table ---- */

struct transition {
	enum state next;
	void (*act)(struct reflector *r); /* NULL: cannot happen */
};

static const struct transition table[STATE_COUNT_][EVENT_COUNT_] = {
	[STATE_IDLE] = {
		[EVENT_START]   = { STATE_LISTING,    act_page },
	},
	[STATE_LISTING] = {
		[EVENT_PAGE]    = { STATE_LISTING,    act_page },
		[EVENT_LISTED]  = { STATE_WATCHING,   act_listed },
		[EVENT_GONE]    = { STATE_WAIT_LIST,  act_gone },
		[EVENT_ABSENT]  = { STATE_MISSING,    act_missing },
		[EVENT_FAILED]  = { STATE_WAIT_LIST,  act_backoff },
		[EVENT_REFUSED] = { STATE_WAIT_LIST,  act_restart },
		[EVENT_CLOSED]  = { STATE_IDLE,       act_stop },
	},
	[STATE_WAIT_LIST] = {
		[EVENT_TIMER]   = { STATE_LISTING,    act_page },
	},
	[STATE_WATCHING] = {
		[EVENT_ENDED]   = { STATE_WATCHING,   act_watch },
		[EVENT_GONE]    = { STATE_WAIT_LIST,  act_gone },
		[EVENT_ABSENT]  = { STATE_WAIT_LIST,  act_restart },
		[EVENT_FAILED]  = { STATE_WAIT_WATCH, act_backoff },
		[EVENT_REFUSED] = { STATE_WAIT_LIST,  act_restart },
		[EVENT_TIMER]   = { STATE_WATCHING,   act_cut },
		[EVENT_CLOSED]  = { STATE_IDLE,       act_stop },
	},
	[STATE_WAIT_WATCH] = {
		[EVENT_TIMER]   = { STATE_WATCHING,   act_watch },
	},
	[STATE_MISSING] = {
		[EVENT_TIMER]   = { STATE_LISTING,    act_page },
	},
};

static void dispatch(struct reflector *r, enum event event)
{
	const struct transition *t = &table[r->state][event];

	assert(t->act != NULL);
	/* The state first: act may submit. */
	r->state = t->next;
	t->act(r);
}

static void on_timer(void *ctx)
{
	dispatch(ctx, EVENT_TIMER);
}

/* ---- life ---- */

static char *dup_or_null(const char *text)
{
	return text == NULL || text[0] == '\0' ? NULL : xmalloc_dup(text);
}

struct reflector *reflector_create(const struct reflector_options *opt)
{
	struct reflector *r = xmalloc_zero(1, sizeof(*r));

	r->opt = *opt;
	r->path = xmalloc_dup(opt->path);
	r->label_selector = dup_or_null(opt->label_selector);
	r->field_selector = dup_or_null(opt->field_selector);
	r->what = (struct rest_what){ r->path, r->label_selector, r->field_selector };
	r->opt.page_size = opt->page_size == 0 ? PAGE_SIZE : opt->page_size;
	r->opt.silence_ns = opt->silence_ns == 0 ? SILENCE_NS : opt->silence_ns;
	r->retry_after_s = -1;
	rng_init(&r->rng, opt->seed);
	backoff_init(&r->backoff, BACKOFF_MIN_NS, BACKOFF_MAX_NS, BACKOFF_JITTER);
	r->timer = wakeup_create(opt->transport, opt->clock, on_timer, r);
	r->seen = seen_create();
	strbuf_init(&r->next);
	strbuf_init(&r->position);
	strbuf_init(&r->url);
	strbuf_init(&r->key);
	return r;
}

static void on_start(void *ctx)
{
	struct starter *s = ctx;
	struct reflector *r = s->owner;

	free(s);
	if (r == NULL) {
		return;
	}
	r->starter = NULL;
	if (!atomic_load(&r->opt.transport->stopping)) {
		dispatch(r, EVENT_START);
	}
}

void reflector_start(struct reflector *r)
{
	struct starter *s = xmalloc_zero(1, sizeof(*s));

	assert(r->starter == NULL && r->state == STATE_IDLE);
	s->owner = r;
	r->starter = s;
	transport_call(r->opt.transport, 0, on_start, s);
}

void reflector_destroy(struct reflector *r)
{
	if (r == NULL) {
		return;
	}
	if (r->starter != NULL) {
		r->starter->owner = NULL;
	}
	wakeup_destroy(r->timer);
	drop_fetch(r);
	seen_destroy(r->seen);
	strbuf_finish(&r->next);
	strbuf_finish(&r->position);
	strbuf_finish(&r->url);
	strbuf_finish(&r->key);
	free(r->path);
	free(r->label_selector);
	free(r->field_selector);
	free(r);
}

struct reflector_stats reflector_stats(const struct reflector *r)
{
	return (struct reflector_stats){ .lists = r->lists,
					 .watches = r->watches,
					 .relists_gone = r->relists_gone,
					 .cuts = r->cuts,
					 .errors = r->errors,
					 .events = r->events,
					 .synced = r->synced };
}
