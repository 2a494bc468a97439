#include "kube/reflector/reflector.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/reflector/reflector_private.h"
#include "kube/reflector/seen.h"
#include "kube/transport.h"
#include "kube/wakeup.h"

/* kube-apiserver ends a request that is not a watch after a minute (--request-timeout). */
#define PAGE_TIMEOUT_NS (60 * CLOCK_NS_PER_S)
#define WATCH_TIMEOUT_S 300
/* Watches of different resources begin together, and should not end together. */
#define WATCH_JITTER_S 60
/* kube-apiserver sends a bookmark about once a minute. */
#define SILENCE_NS (90 * CLOCK_NS_PER_S)
#define SILENCE_MARGIN_NS (10 * CLOCK_NS_PER_S)
/* How long a refresh of a large resource waits for the open stream before it lists. */
#define CATCH_UP_NS (500 * CLOCK_NS_PER_MS)
#define MISSING_RETRY_NS (30 * CLOCK_NS_PER_S)
/* Both as in client-go's reflector. */
#define BACKOFF_MIN_NS (800 * CLOCK_NS_PER_MS)
#define BACKOFF_MAX_NS (30 * CLOCK_NS_PER_S)
#define BACKOFF_JITTER 0.2
#define RETRY_AFTER_MAX_S 120

static void dispatch(struct reflector *r, enum reflector_event_id event);

/* ---- requests ---- */

static void free_fetch(struct reflector_fetch *f)
{
	watch_frame_finish(&f->frames);
	free(f);
}

/* Cancels a request in flight and ignores its answer; its on_done frees it. */
static void abandon(struct reflector *r, struct reflector_fetch **at)
{
	struct reflector_fetch *f = *at;

	if (f != NULL) {
		*at = NULL;
		f->owner = NULL;
		transport_cancel(r->opt.transport, f->id);
	}
}

static void drop_fetch(struct reflector *r)
{
	abandon(r, &r->fetch);
	abandon(r, &r->probe);
}

static void on_data(void *ctx, struct str bytes)
{
	struct reflector_fetch *f = ctx;
	struct reflector *r = f->owner;
	enum reflector_event_id verdict;

	if (r == NULL) {
		return;
	}
	/* Any byte counts as a sign of life, also part of a frame: a large object may take
	 * long. */
	wakeup_set(r->timer, clock_mono(r->opt.clock) + r->watch_limit_ns);
	verdict = reflector_answer_data(f, bytes);
	if (verdict != EVENT_COUNT_) {
		/* The rest of the stream is of no use; the answer to the cancellation is
		 * ignored. */
		drop_fetch(r);
		dispatch(r, verdict);
	}
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct reflector_fetch *f = ctx;
	struct reflector *r = f->owner;
	enum reflector_event_id event;

	if (r == NULL) {
		free_fetch(f);
		return;
	}
	r->retry_after_s = result->retry_after_s;
	event = reflector_answer_judge(r, f, result);
	/* Before the dispatch, since the action may submit the next request. */
	r->fetch = NULL;
	free_fetch(f);
	dispatch(r, event);
	r->retry_after_s = -1;
}

static struct reflector_fetch *submit(struct reflector *r, struct http_call *call)
{
	struct reflector_fetch *f = xmalloc_zero(1, sizeof(*f));

	f->owner = r;
	f->is_watch = call->on_data != NULL;
	f->verdict = EVENT_COUNT_;
	f->opened_at = clock_mono(r->opt.clock);
	watch_frame_init(&f->frames, 0);
	call->method = HTTP_GET;
	call->url = r->url.p;
	call->ctx = f;
	f->id = transport_submit(r->opt.transport, call);
	return f;
}

/* ---- actions of the table ---- */

static void act_stop(struct reflector *r)
{
	wakeup_set(r->timer, CLOCK_NEVER);
	wakeup_set(r->catch_up, CLOCK_NEVER);
}

static void act_nothing(struct reflector *r)
{
	(void)r;
}

/* Requests the page at the continue token, without resourceVersion, so that the list is consistent.
 */
static void act_request_page(struct reflector *r)
{
	struct http_call call = { .timeout_ns = PAGE_TIMEOUT_NS,
				  .max_body = page_size_budget(&r->page),
				  .on_done = on_done };

	wakeup_set(r->timer, CLOCK_NEVER);
	strbuf_reset(&r->url);
	rest_list_query(&r->url, &r->what, r->page.limit, strbuf_str(&r->next));
	r->fetch = submit(r, &call);
}

/* Requests the next page. The first page of a list gives the list its number, by which the sweep at
 * its end finds the keys that it has not shown. */
static void act_page(struct reflector *r)
{
	if (r->next.len == 0) {
		r->list_no++;
		atomic_fetch_add(&r->lists, 1);
		reflector_report_list(&r->report, atomic_load(&r->synced));
	}
	act_request_page(r);
}

/* Lists from the first page on, whatever is in flight. */
static void act_relist(struct reflector *r)
{
	drop_fetch(r);
	strbuf_reset(&r->next);
	act_page(r);
}

/* The list that waits for its retry will start from the first page. */
static void act_forget_pages(struct reflector *r)
{
	strbuf_reset(&r->next);
}

static void on_probed(void *ctx, const struct http_result *result);

static void act_probe(struct reflector *r)
{
	struct http_call call = { .timeout_ns = PAGE_TIMEOUT_NS, .on_done = on_probed };

	/* An earlier probe may have found an older version than this refresh needs. */
	abandon(r, &r->probe);
	strbuf_reset(&r->url);
	rest_list_query(&r->url, &r->what, 1, (struct str){ NULL, 0 });
	r->probe = submit(r, &call);
}

static void act_watch(struct reflector *r)
{
	int64_t timeout_s = r->opt.watch_timeout_s;
	struct http_call call = { .on_data = on_data, .on_done = on_done };

	if (timeout_s == 0) {
		timeout_s = WATCH_TIMEOUT_S + (int64_t)rng_below(&r->rng, WATCH_JITTER_S);
	}
	atomic_fetch_add(&r->watches, 1);
	reflector_report_watch(&r->report);
	strbuf_reset(&r->url);
	rest_watch_query(&r->url, &r->what, strbuf_str(&r->position), timeout_s);
	/* The transport cuts a silent stream first, since it can drop the dead connection with it;
	 * our own timer is for transports that do not. */
	call.silence_ns = r->opt.silence_ns;
	r->watch_limit_ns = call.silence_ns + SILENCE_MARGIN_NS;
	wakeup_set(r->timer, clock_mono(r->opt.clock) + r->watch_limit_ns);
	r->fetch = submit(r, &call);
}

static void act_listed(struct reflector *r)
{
	reflector_answer_listed(r);
	act_watch(r);
}

static void act_resume(struct reflector *r)
{
	abandon(r, &r->fetch);
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

/* The same page would be refused again: the next attempt starts from the first one. */
static void act_restart(struct reflector *r)
{
	strbuf_reset(&r->next);
	act_backoff(r);
}

/* A version that is gone is no error and leads to a new LIST at once; repeated without any progress
 * in between it is one. */
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
	reflector_answer_missing(r);
	wakeup_set(r->timer, clock_mono(r->opt.clock) + MISSING_RETRY_NS +
				     (int64_t)rng_below(&r->rng, MISSING_RETRY_NS / 4));
	if (r->opt.on_missing != NULL) {
		r->opt.on_missing(r->opt.ctx);
	}
}

/* ---- the table ---- */

struct transition {
	enum reflector_state next;
	void (*act)(struct reflector *r); /* NULL: cannot happen */
};

/* The rows that are not obvious:
 *   * A list is a refresh if its first page was read after the request. So a list in flight starts
 *     again, and one that waits for its retry forgets its pages; in both waiting states the time of
 *     the timer, which is the backoff, stays.
 *   * A watch that is refused, or of a resource that is absent, leads to a list: the same watch
 *     would be refused again, and the list shows whether the resource still exists.
 *   * EVENT_CLOSED is an answer, so it does not occur where nothing is in flight; timers do not
 *     fire while the transport stops. */
static const struct transition table[STATE_COUNT_][EVENT_COUNT_] = {
	[STATE_IDLE] = {
		[EVENT_START]   = { STATE_LISTING,    act_page },
		[EVENT_REFRESH] = { STATE_IDLE,       act_nothing },
	},
	[STATE_LISTING] = {
		[EVENT_PAGE]    = { STATE_LISTING,    act_page },
		[EVENT_BULKY]   = { STATE_LISTING,    act_request_page },
		[EVENT_LISTED]  = { STATE_WATCHING,   act_listed },
		[EVENT_GONE]    = { STATE_WAIT_LIST,  act_gone },
		[EVENT_ABSENT]  = { STATE_MISSING,    act_missing },
		[EVENT_FAILED]  = { STATE_WAIT_LIST,  act_backoff },
		[EVENT_REFUSED] = { STATE_WAIT_LIST,  act_restart },
		[EVENT_REFRESH] = { STATE_LISTING,    act_relist },
		[EVENT_CLOSED]  = { STATE_IDLE,       act_stop },
	},
	[STATE_WAIT_LIST] = {
		[EVENT_TIMER]   = { STATE_LISTING,    act_page },
		[EVENT_REFRESH] = { STATE_WAIT_LIST,  act_forget_pages },
	},
	[STATE_WATCHING] = {
		[EVENT_ENDED]   = { STATE_WATCHING,   act_watch },
		[EVENT_GONE]    = { STATE_WAIT_LIST,  act_gone },
		[EVENT_ABSENT]  = { STATE_WAIT_LIST,  act_restart },
		[EVENT_FAILED]  = { STATE_WAIT_WATCH, act_backoff },
		[EVENT_REFUSED] = { STATE_WAIT_LIST,  act_restart },
		[EVENT_SILENT_ONCE]  = { STATE_WATCHING,   act_resume },
		[EVENT_SILENT_TWICE]    = { STATE_LISTING,    act_relist },
		[EVENT_REFRESH] = { STATE_LISTING,    act_relist },
		[EVENT_PROBE]   = { STATE_WATCHING,   act_probe },
		[EVENT_CLOSED]  = { STATE_IDLE,       act_stop },
	},
	[STATE_WAIT_WATCH] = {
		[EVENT_TIMER]   = { STATE_WATCHING,   act_watch },
		[EVENT_REFRESH] = { STATE_WAIT_LIST,  act_forget_pages },
	},
	[STATE_MISSING] = {
		[EVENT_TIMER]   = { STATE_LISTING,    act_page },
		[EVENT_REFRESH] = { STATE_LISTING,    act_page },
	},
};

static void dispatch(struct reflector *r, enum reflector_event_id event)
{
	const struct transition *t = &table[r->state][event];

	assert(t->act != NULL);
	/* Set the state first: act may submit. */
	r->state = t->next;
	t->act(r);
}

static void on_timer(void *ctx)
{
	struct reflector *r = ctx;

	dispatch(r, r->state == STATE_WATCHING ? reflector_answer_silence(r) : EVENT_TIMER);
}

/* ---- refresh ---- */

static void on_catch_up(void *ctx)
{
	struct reflector *r = ctx;

	if (r->refreshing) {
		dispatch(r, EVENT_REFRESH);
	}
}

/* The current version is known: the refresh ends when the stream reaches it. */
static void on_probed(void *ctx, const struct http_result *result)
{
	struct reflector_fetch *f = ctx;
	struct reflector *r = f->owner;

	free_fetch(f);
	if (r == NULL) {
		return;
	}
	r->probe = NULL;
	/* A list that was made meanwhile may have completed the refresh. */
	if (!r->refreshing || result->error == ERR_CANCELLED) {
		return;
	}
	if (!reflector_answer_probe(r, result)) {
		dispatch(r, EVENT_REFRESH);
	} else if (r->refreshing) {
		wakeup_set(r->catch_up, clock_mono(r->opt.clock) + CATCH_UP_NS);
	}
}

void reflector_refresh(struct reflector *r)
{
	bool is_large = seen_count(r->seen) > r->opt.page_size;

	r->refreshing = true;
	r->probed_n = 0;
	dispatch(r, r->state == STATE_WATCHING && is_large ? EVENT_PROBE : EVENT_REFRESH);
}

bool reflector_offer(struct reflector *r, struct str object)
{
	return reflector_answer_offer(r, object);
}

/* ---- life ---- */

struct reflector *reflector_create(const struct reflector_options *opt)
{
	struct reflector *r = xmalloc_zero(1, sizeof(*r));

	r->opt = *opt;
	r->path = xmalloc_dup(opt->path);
	r->label_selector = xmalloc_dup_or_null(opt->label_selector);
	r->field_selector = xmalloc_dup_or_null(opt->field_selector);
	r->what = (struct rest_what){ r->path, r->label_selector, r->field_selector };
	r->opt.page_size = opt->page_size == 0 ? PAGE_SIZE_MOST : opt->page_size;
	page_size_init(&r->page, r->opt.page_size);
	reflector_report_init(&r->report, opt->resource, opt->counters, opt->clock);
	r->report.on_health = opt->on_health;
	r->report.ctx = opt->ctx;
	r->opt.silence_ns = opt->silence_ns == 0 ? SILENCE_NS : opt->silence_ns;
	r->retry_after_s = -1;
	rng_init(&r->rng, opt->seed);
	backoff_init(&r->backoff, BACKOFF_MIN_NS, BACKOFF_MAX_NS, BACKOFF_JITTER);
	r->timer = wakeup_create(opt->transport, opt->clock, on_timer, r);
	r->catch_up = wakeup_create(opt->transport, opt->clock, on_catch_up, r);
	r->seen = seen_create();
	strbuf_init(&r->next);
	strbuf_init(&r->position);
	strbuf_init(&r->url);
	strbuf_init(&r->key);
	return r;
}

static void on_start(void *ctx)
{
	struct reflector_starter *s = ctx;
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
	struct reflector_starter *s = xmalloc_zero(1, sizeof(*s));

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
	wakeup_destroy(r->catch_up);
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
					 .pages = r->pages,
					 .watches = r->watches,
					 .relists_gone = r->relists_gone,
					 .cuts = r->cuts,
					 .errors = r->errors,
					 .events = r->events,
					 .objects = r->objects,
					 .synced = r->synced };
}

int64_t reflector_stale_since(const struct reflector *r, int64_t now)
{
	int64_t at = reflector_report_silent_since(&r->report);

	return at != CLOCK_NEVER && now - at >= r->opt.silence_ns ? at : CLOCK_NEVER;
}
