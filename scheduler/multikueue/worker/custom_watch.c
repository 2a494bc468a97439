#include "scheduler/multikueue/worker/custom_watch.h"

#include <stdlib.h>

#include "api/kueue/custom_job.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/reflector/reflector.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "kube/wakeup.h"
#include "process/backoff.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/base/message_json.h"

#define ASK_NS (10 * CLOCK_NS_PER_S)
/* Of a list of the resources of one group and version. */
#define ASK_MAX_BYTES ((size_t)4 << 20)
#define BACKOFF_MIN_NS CLOCK_NS_PER_S
#define BACKOFF_JITTER 0.2

/* One kind. */
struct part {
	struct custom_watch *of;
	const struct custom_kind *kind;
	struct wakeup *timer;
	struct backoff backoff;
	struct reflector *reflector; /* NULL: how it is served is not known */
	char *plural;                /* of the reflector; NULL likewise */
	bool lost;                   /* the last answer to its list was 404 */
	bool asking;                 /* a question is in flight */
	bool fails;                  /* the last one was not answered */
	bool missing;                /* it was, and the kind cannot be used */
	bool refreshing;             /* REFRESHED is wanted */
	bool cut_off;                /* of its objects some are missing in the messages */
};

struct custom_watch {
	struct custom_watch_options opt;
	char *label_selector; /* of opt */
	struct rng rng;
	struct part *parts;
};

/* --- messages ----------------------------------------------------------------------------------*/

static void post_about(const struct part *p, struct sched_msg *m)
{
	m->resource = SCHED_CUSTOM;
	m->key = arena_str(m->arena, str_of(p->kind->name));
	p->of->opt.post(p->of->opt.ctx, m);
}

static void post_kind(const struct part *p, enum sched_msg_kind kind)
{
	post_about(p, message_new(kind));
}

static void post_health(const struct part *p, const struct reflector_health *h)
{
	struct sched_msg *m = message_new(SCHED_MSG_WATCH);

	m->reason = h->reason;
	m->status = h->status;
	m->text = arena_dup(m->arena, h->text);
	post_about(p, m);
}

static void fail(const struct part *p, enum reflector_reason reason, const char *text)
{
	const struct reflector_health h = { .reason = reason, .text = text };

	post_health(p, &h);
}

/* plural NULL: text says why the kind cannot be used. */
static void post_resource(const struct part *p, const char *plural, const char *text)
{
	struct sched_msg *m = message_new(SCHED_MSG_RESOURCE);

	m->plural = plural == NULL ? NULL : arena_dup(m->arena, plural);
	m->text = arena_dup(m->arena, text);
	post_about(p, m);
}

/* --- objects -----------------------------------------------------------------------------------*/

static void cut_off(struct part *p, const char *why)
{
	p->cut_off = true;
	fail(p, REFLECTOR_REASON_REFUSED, why);
}

/* The user may give spec any shape: without the expected one the object is not managed. */
static void mend(struct sched_msg *m)
{
	const struct api_custom_job *job = m->object;

	if (m->kind == SCHED_MSG_BAD_OBJECT && job->meta.name != NULL &&
	    job->meta.namespace_ != NULL) {
		m->kind = SCHED_MSG_UPSERT;
	}
}

static void keep_text(const struct custom_watch *w, struct sched_msg *m, struct str object)
{
	const struct api_custom_job *job = m->object;

	if (m->kind != SCHED_MSG_UPSERT || object.len > CUSTOM_WATCH_MAX_BYTES) {
		return;
	}
	if (!w->opt.whole) {
		message_json_keep_status(m, object);
	} else if (str_streq(job->spec.managed_by, KUEUE_MULTIKUEUE_CONTROLLER)) {
		message_json_keep(m, object);
	}
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct part *p = ctx;
	const struct custom_watch *w = p->of;
	bool is_object = event->kind == REFLECTOR_UPSERT || event->kind == REFLECTOR_DELETE;
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	struct reflector_event named = *event;
	struct sched_msg *m;

	if (!p->cut_off && w->opt.max_objects > 0 &&
	    reflector_stats(p->reflector).objects > w->opt.max_objects) {
		cut_off(p, "there are more objects than are allowed");
	}
	if (!p->cut_off && is_object && w->opt.has_room != NULL && !w->opt.has_room(w->opt.ctx)) {
		cut_off(p, "objects come faster than they can be handled");
	}
	if (p->cut_off) {
		return;
	}
	p->lost = false; /* of an empty list that is lost, on_missing follows */
	p->refreshing &= event->kind != REFLECTOR_REFRESHED;
	strbuf_add_c(&key, p->kind->name);
	if (is_object) {
		strbuf_printf(&key, "/" STR_FMT, STR_ARG(event->key));
	}
	named.key = strbuf_str(&key);
	m = message_decode_event(SCHED_CUSTOM, &named);
	if (m == NULL) {
		return;
	}
	mend(m);
	keep_text(w, m, event->object);
	if (!is_object) {
		post_about(p, m);
	} else {
		w->opt.post(w->opt.ctx, m);
	}
}

/* A version that is gone, or a page that is too large, is followed by the next request at once. */
static void on_health(void *ctx, const struct reflector_health *h)
{
	const struct part *p = ctx;

	if (!p->cut_off && h->reason != REFLECTOR_REASON_GONE &&
	    h->reason != REFLECTOR_REASON_TOO_LARGE) {
		post_health(p, h);
	}
}

/* The definition was removed, or is served under another name by now. The question is sent when
 * the reflector has finished with the answer. */
static void on_missing(void *ctx)
{
	struct part *p = ctx;

	p->lost = true;
	if (!p->asking) {
		wakeup_set(p->timer, clock_mono(p->of->opt.clock));
	}
}

static void end_watch(struct part *p)
{
	reflector_destroy(p->reflector);
	p->reflector = NULL;
	free(p->plural);
	p->plural = NULL;
}

/* A list of which the definition was removed is empty, so that nothing is left of it when it ends.
 */
static void begin_watch(struct part *p, const char *plural)
{
	struct custom_watch *w = p->of;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct reflector_options ro = {
		.label_selector = w->opt.label_selector,
		.resource = w->opt.counters == NULL ? NULL : p->kind->name,
		.counters = w->opt.counters,
		.transport = w->opt.transport,
		.clock = w->opt.clock,
		.on_event = on_event,
		.on_health = on_health,
		.on_missing = on_missing,
		.missing_ok = true,
		.ctx = p,
		.seed = rng_next(&w->rng),
	};

	rest_path(&path, p->kind->group, p->kind->version, NULL, plural, NULL, NULL);
	ro.path = path.p;
	p->plural = xmalloc_dup(plural);
	p->reflector = reflector_create(&ro);
	reflector_start(p->reflector);
	if (p->refreshing) {
		reflector_refresh(p->reflector);
	}
}

/* --- discovery ---------------------------------------------------------------------------------*/

static void be_missing(struct part *p, const char *why)
{
	bool was = p->missing;

	end_watch(p);
	p->missing = true;
	post_resource(p, NULL, why);
	if (!was) {
		post_kind(p, SCHED_MSG_SYNCED);
	}
	if (p->refreshing) {
		p->refreshing = false;
		post_kind(p, SCHED_MSG_REFRESHED);
	}
	wakeup_set(p->timer, clock_mono(p->of->opt.clock) + CUSTOM_WATCH_RETRY_NS);
}

static void retry(struct part *p, enum reflector_reason reason, const char *text)
{
	p->fails = true;
	fail(p, reason, text);
	wakeup_set(p->timer, clock_mono(p->of->opt.clock) + backoff_next(&p->backoff, &p->of->rng));
}

/* list NULL: group and version are not served. */
static void take_answer(struct part *p, const struct jdoc *list)
{
	const char *plural = NULL, *why = custom_kinds_problem(p->kind, list, &plural);

	if (p->fails) {
		p->fails = false;
		fail(p, REFLECTOR_REASON_NONE, "");
	}
	backoff_reset(&p->backoff);
	if (p->reflector != NULL && !p->lost) {
		return; /* it was found meanwhile */
	}
	if (why != NULL) {
		be_missing(p, why);
		return;
	}
	p->missing = false;
	if (str_streq(p->plural, plural)) {
		return; /* the list is tried again */
	}
	end_watch(p);
	post_resource(p, plural, "");
	begin_watch(p, plural);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct part *p = ctx;
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;
	struct err err = ERR_INIT;
	int code;

	p->asking = false;
	if (result->error == ERR_CANCELLED) {
		return; /* the transport is closing */
	}
	code = rest_result(result, &err);
	if (code == -ERR_NOT_FOUND) {
		take_answer(p, NULL);
	} else if (code < 0) {
		retry(p,
		      result->status == 0 || rest_is_transient(result->status)
			      ? REFLECTOR_REASON_UNREACHABLE
			      : REFLECTOR_REASON_REFUSED,
		      err.text);
	} else if (jdoc_parse(result->body, &list, &err) < 0) {
		retry(p, REFLECTOR_REASON_INVALID, err.text);
	} else {
		take_answer(p, list);
	}
}

static void ask(void *ctx)
{
	struct part *p = ctx;
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;
	struct http_call call = { .method = HTTP_GET,
				  .timeout_ns = ASK_NS,
				  .max_body = ASK_MAX_BYTES,
				  .on_done = on_done,
				  .ctx = p };

	if (atomic_load(&p->of->opt.transport->stopping)) {
		return;
	}
	strbuf_printf(&url, "/apis/%s", p->kind->api_version);
	call.url = url.p;
	p->asking = true;
	(void)transport_submit(p->of->opt.transport, &call);
}

/* --- life --------------------------------------------------------------------------------------*/

struct custom_watch *custom_watch_create(const struct custom_watch_options *opt)
{
	struct custom_watch *w = xmalloc_zero(1, sizeof(*w));

	w->opt = *opt;
	w->label_selector = xmalloc_dup_or_null(opt->label_selector);
	w->opt.label_selector = w->label_selector;
	rng_init(&w->rng, opt->seed);
	w->parts = xmalloc_zero(opt->kinds.n + 1, sizeof(*w->parts));
	for (size_t i = 0; i < opt->kinds.n; i++) {
		struct part *p = &w->parts[i];

		p->of = w;
		p->kind = &w->opt.kinds.v[i];
		backoff_init(&p->backoff, BACKOFF_MIN_NS, CUSTOM_WATCH_RETRY_NS, BACKOFF_JITTER);
		p->timer = wakeup_create(opt->transport, opt->clock, ask, p);
	}
	return w;
}

static void start(void *ctx)
{
	struct custom_watch *w = ctx;

	for (size_t i = 0; i < w->opt.kinds.n; i++) {
		ask(&w->parts[i]);
	}
}

void custom_watch_start(struct custom_watch *w)
{
	transport_call(w->opt.transport, 0, start, w);
}

void custom_watch_refresh(struct custom_watch *w)
{
	for (size_t i = 0; i < w->opt.kinds.n; i++) {
		struct part *p = &w->parts[i];

		if (p->missing) {
			post_kind(p, SCHED_MSG_REFRESHED);
			continue;
		}
		p->refreshing = true;
		if (p->reflector != NULL) {
			reflector_refresh(p->reflector);
		}
	}
}

void custom_watch_destroy(struct custom_watch *w)
{
	if (w == NULL) {
		return;
	}
	for (size_t i = 0; i < w->opt.kinds.n; i++) {
		wakeup_destroy(w->parts[i].timer);
		end_watch(&w->parts[i]);
	}
	free(w->parts);
	free(w->label_selector);
	free(w);
}
