#include "apiserver/mem_transport.h"

#include <assert.h>
#include <stdlib.h>

#include "apiserver/apiserver.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "collections/vec.h"

enum state { STATE_SENT, STATE_ANSWERED, STATE_STREAMING };

struct mem_call {
	struct list_node node;
	uint64_t id;
	struct http_call call; /* texts are ours */
	char *url, *content_type, *accept;
	char *body;
	enum state state;
	bool cancelled;
	int64_t deadline, answer_at, last_byte;
	struct apiserver_response resp;
	struct apiserver_watch *watch;
	struct strbuf frame; /* fetched, not yet delivered */
	bool ended;          /* nothing comes behind frame */
};

struct timer {
	struct list_node node;
	uint64_t id;
	int64_t due;
	void (*fn)(void *ctx);
	void *ctx;
};

struct ready {
	struct mem_step step;
	struct mem_call *call;
	struct timer *timer;
};

struct mem_transport {
	struct transport base; /* first member */
	struct apiserver *server;
	struct clock_fake *clock;
	struct list_node calls, timers;
	struct list_node dead_calls, dead_timers; /* of crashed clients; cancelled at the end */
	uint64_t next_id;
	struct VEC(struct ready) ready;
};

static struct mem_transport *of(struct transport *t)
{
	return (struct mem_transport *)(void *)t;
}

static int64_t mono(const struct mem_transport *m)
{
	return clock_mono(&m->clock->base);
}

static int64_t wall(const struct mem_transport *m)
{
	return clock_wall(&m->clock->base);
}

static uint64_t submit(struct transport *t, const struct http_call *call)
{
	struct mem_transport *m = of(t);
	struct mem_call *c = xmalloc_zero(1, sizeof(*c));

	c->id = ++m->next_id;
	c->call = *call;
	c->url = xmalloc_dup(call->url);
	c->content_type = xmalloc_dup_or_null(call->content_type);
	c->accept = xmalloc_dup_or_null(call->accept);
	c->body = xmalloc_dup_n(call->body.len == 0 ? "" : call->body.p, call->body.len);
	c->call.body = (struct str){ c->body, call->body.len };
	c->deadline = call->timeout_ns > 0 ? mono(m) + call->timeout_ns : CLOCK_NEVER;
	c->last_byte = mono(m);
	strbuf_init(&c->resp.body);
	strbuf_init(&c->resp.warning);
	strbuf_init(&c->frame);
	list_append(&m->calls, &c->node);
	return c->id;
}

static void free_call(struct mem_call *c)
{
	list_remove(&c->node);
	apiserver_watch_close(c->watch);
	apiserver_response_finish(&c->resp);
	strbuf_finish(&c->frame);
	free(c->url);
	free(c->content_type);
	free(c->accept);
	free(c->body);
	free(c);
}

static void cancel(struct transport *t, uint64_t id)
{
	struct mem_transport *m = of(t);

	LIST_FOR_EACH (node, &m->calls) {
		struct mem_call *c = LIST_ENTRY(node, struct mem_call, node);

		if (c->id == id) {
			c->cancelled = true;
		}
	}
}

static void call_later(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct mem_transport *m = of(t);
	struct timer *timer = xmalloc_zero(1, sizeof(*timer));

	timer->id = ++m->next_id;
	timer->due = mono(m) + delay_ns;
	timer->fn = fn;
	timer->ctx = ctx;
	list_append(&m->timers, &timer->node);
}

/* The call leaves the list before its callback runs, which may submit the next one. */
static void done(struct mem_call *c, struct http_result result)
{
	if (result.error_text == NULL) {
		result.error_text = result.error == 0 ? "" : err_name((enum err_code)result.error);
	}
	list_remove(&c->node);
	apiserver_watch_close(take_ptr(&c->watch));
	if (c->call.on_done != NULL) {
		c->call.on_done(c->call.ctx, &result);
	}
	free_call(c);
}

static void fail(struct mem_call *c, enum err_code code)
{
	done(c, (struct http_result){
			.error = (int)code, .may_have_been_sent = true, .retry_after_s = -1 });
}

static void run_timer(struct timer *t)
{
	list_remove(&t->node);
	t->fn(t->ctx);
	free(t);
}

static void end_calls(struct list_node *calls)
{
	while (!list_is_empty(calls)) {
		fail(LIST_ENTRY(calls->next, struct mem_call, node), ERR_CANCELLED);
	}
}

static void end_timers(struct list_node *timers)
{
	while (!list_is_empty(timers)) {
		run_timer(LIST_ENTRY(timers->next, struct timer, node));
	}
}

static void destroy(struct transport *t)
{
	struct mem_transport *m = of(t);

	atomic_store(&t->stopping, true);
	do {
		end_calls(&m->dead_calls);
		end_calls(&m->calls);
		end_timers(&m->dead_timers);
		end_timers(&m->timers);
	} while (!list_is_empty(&m->calls));
	vec_finish(&m->ready);
	free(m);
}

struct mem_transport *mem_transport_create(struct apiserver *s, struct clock_fake *clock)
{
	static const struct transport_ops ops = {
		.submit = submit, .cancel = cancel, .call = call_later, .destroy = destroy
	};
	struct mem_transport *m = xmalloc_zero(1, sizeof(*m));

	m->base.ops = &ops;
	m->server = s;
	m->clock = clock;
	list_init(&m->calls);
	list_init(&m->timers);
	list_init(&m->dead_calls);
	list_init(&m->dead_timers);
	return m;
}

struct transport *mem_transport_base(struct mem_transport *m)
{
	return &m->base;
}

static void reach_server(struct mem_transport *m, struct mem_call *c)
{
	const char *query = strchr(c->url, '?');
	const struct http_request req = {
		.method = c->call.method,
		.path = { c->url, query == NULL ? strlen(c->url) : (size_t)(query - c->url) },
		.query = str_of(query == NULL ? NULL : query + 1),
		.content_type = str_of(c->content_type),
		.accept = str_of(c->accept),
		.user_agent = STR_LIT("headgate/0"),
		.body = c->call.body,
	};

	apiserver_handle(m->server, &req, wall(m), &c->resp);
	c->watch = take_ptr(&c->resp.watch);
	c->state = c->watch != NULL ? STATE_STREAMING : STATE_ANSWERED;
	c->answer_at = mono(m) + c->resp.delay_ns;
	c->last_byte = mono(m);
}

static bool is_timed_out(const struct mem_transport *m, const struct mem_call *c)
{
	if (mono(m) >= c->deadline) {
		return true;
	}
	return c->call.silence_ns > 0 && c->call.on_data != NULL && c->frame.len == 0 &&
	       mono(m) >= c->last_byte + c->call.silence_ns;
}

/* The next frame comes out of the server only when the one before it was delivered. */
static void fetch(struct mem_transport *m, struct mem_call *c)
{
	if (c->frame.len == 0 && !c->ended) {
		c->ended = apiserver_watch_next(c->watch, wall(m), &c->frame) < 0;
	}
}

/* MEM_STEP_COUNT_: none. */
static enum mem_step_kind step_of(struct mem_transport *m, struct mem_call *c)
{
	if (c->cancelled) {
		return MEM_STEP_CANCELLED;
	}
	if (c->state == STATE_STREAMING) {
		fetch(m, c);
		if (c->frame.len > 0) {
			return MEM_STEP_FRAME;
		}
		if (c->ended) {
			return MEM_STEP_END;
		}
	}
	if (is_timed_out(m, c)) {
		return MEM_STEP_TIMEOUT;
	}
	if (c->state == STATE_SENT) {
		return MEM_STEP_REQUEST;
	}
	if (c->state == STATE_ANSWERED && mono(m) >= c->answer_at) {
		return MEM_STEP_RESPONSE;
	}
	return MEM_STEP_COUNT_;
}

size_t mem_transport_ready(struct mem_transport *m)
{
	vec_clear(&m->ready);
	LIST_FOR_EACH (node, &m->calls) {
		struct mem_call *c = LIST_ENTRY(node, struct mem_call, node);
		struct ready r = { { step_of(m, c), c->id, c->call.method, c->url }, c, NULL };

		if (r.step.kind != MEM_STEP_COUNT_) {
			vec_push(&m->ready, r);
		}
	}
	LIST_FOR_EACH (node, &m->timers) {
		struct timer *t = LIST_ENTRY(node, struct timer, node);
		struct ready r = { { MEM_STEP_TIMER, t->id, HTTP_OTHER, NULL }, NULL, t };

		if (t->due <= mono(m)) {
			vec_push(&m->ready, r);
		}
	}
	return m->ready.n;
}

const struct mem_step *mem_transport_peek(const struct mem_transport *m, size_t i)
{
	assert(i < m->ready.n);
	return &m->ready.v[i].step;
}

static void answer(struct mem_call *c)
{
	if (c->resp.status == 0) {
		fail(c, ERR_IO);
		return;
	}
	if (c->call.on_data != NULL && c->resp.status < 300) {
		c->call.on_data(c->call.ctx, strbuf_str(&c->resp.body));
		strbuf_reset(&c->resp.body);
	}
	done(c, (struct http_result){
			.status = c->resp.status,
			.may_have_been_sent = true,
			.retry_after_s = c->resp.retry_after_s > 0 ? c->resp.retry_after_s : -1,
			.body = strbuf_str(&c->resp.body) });
}

/* A copy is handed out, since the callback may cancel the call. */
static void deliver_frame(struct mem_transport *m, struct mem_call *c, bool keep)
{
	struct strbuf frame = STRBUF_INIT;

	strbuf_add_str(&frame, strbuf_str(&c->frame));
	if (!keep) {
		strbuf_reset(&c->frame);
	}
	c->last_byte = mono(m);
	if (c->call.on_data != NULL) {
		c->call.on_data(c->call.ctx, strbuf_str(&frame));
	}
	strbuf_finish(&frame);
}

static void step(struct mem_transport *m, size_t i, bool keep)
{
	struct ready r;

	assert(i < m->ready.n);
	r = m->ready.v[i];
	vec_clear(&m->ready);
	switch (r.step.kind) {
	case MEM_STEP_REQUEST:
		reach_server(m, r.call);
		break;
	case MEM_STEP_RESPONSE:
		answer(r.call);
		break;
	case MEM_STEP_FRAME:
		deliver_frame(m, r.call, keep);
		break;
	case MEM_STEP_END:
		done(r.call, (struct http_result){ .status = 200,
						   .may_have_been_sent = true,
						   .retry_after_s = -1 });
		break;
	case MEM_STEP_CANCELLED:
		fail(r.call, ERR_CANCELLED);
		break;
	case MEM_STEP_TIMEOUT:
		fail(r.call, ERR_TIMEOUT);
		break;
	case MEM_STEP_TIMER:
		run_timer(r.timer);
		break;
	case MEM_STEP_COUNT_:
	default:
		break;
	}
}

void mem_transport_step(struct mem_transport *m, size_t i)
{
	step(m, i, false);
}

void mem_transport_repeat(struct mem_transport *m, size_t i)
{
	step(m, i, true);
}

void mem_transport_lose(struct mem_transport *m, size_t i)
{
	struct mem_call *c;

	assert(i < m->ready.n);
	c = m->ready.v[i].call;
	if (c == NULL || c->cancelled || m->ready.v[i].step.kind == MEM_STEP_TIMEOUT) {
		mem_transport_step(m, i);
		return;
	}
	vec_clear(&m->ready);
	fail(c, ERR_IO);
}

void mem_transport_crash(struct mem_transport *m, bool flush)
{
	vec_clear(&m->ready);
	LIST_FOR_EACH (node, &m->calls) {
		struct mem_call *c = LIST_ENTRY(node, struct mem_call, node);

		if (flush && c->state == STATE_SENT && !c->cancelled) {
			reach_server(m, c);
		}
		apiserver_watch_close(take_ptr(&c->watch));
		list_remove(node);
		list_append(&m->dead_calls, node);
	}
	LIST_FOR_EACH (node, &m->timers) {
		list_remove(node);
		list_append(&m->dead_timers, node);
	}
}

size_t mem_transport_run(struct mem_transport *m, size_t max)
{
	size_t n = 0;

	while (n < max && mem_transport_ready(m) > 0) {
		mem_transport_step(m, 0);
		n++;
	}
	return n;
}

static int64_t call_wake_at(const struct mem_transport *m, const struct mem_call *c)
{
	int64_t at = c->deadline;

	if (c->state == STATE_ANSWERED) {
		at = clock_earlier(at, c->answer_at);
	}
	if (c->call.silence_ns > 0 && c->call.on_data != NULL) {
		at = clock_earlier(at, c->last_byte + c->call.silence_ns);
	}
	if (c->state == STATE_STREAMING && !c->ended) {
		int64_t server = apiserver_watch_wake_at(c->watch);

		if (server != INT64_MAX) {
			at = clock_earlier(at, server - wall(m) + mono(m));
		}
	}
	return at;
}

int64_t mem_transport_wake_at(struct mem_transport *m)
{
	int64_t at = CLOCK_NEVER;

	LIST_FOR_EACH (node, &m->calls) {
		at = clock_earlier(at, call_wake_at(m, LIST_ENTRY(node, struct mem_call, node)));
	}
	LIST_FOR_EACH (node, &m->timers) {
		at = clock_earlier(at, LIST_ENTRY(node, struct timer, node)->due);
	}
	return at;
}

size_t mem_transport_in_flight(const struct mem_transport *m)
{
	size_t n = 0;

	for (const struct list_node *p = m->calls.next; p != &m->calls; p = p->next) {
		n++;
	}
	return n;
}
