#include "sim/world/sim_transport.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/xmalloc.h"

/* How long a request without a sender may still be in flight. */
#define ORPHAN_NS (4 * CLOCK_NS_PER_S)
#define STREAM_LATE_NS (2 * CLOCK_NS_PER_S)

enum state {
	STATE_SENT,     /* on its way to the server */
	STATE_HANGING,  /* no answer will come */
	STATE_ANSWERED, /* the answer is on its way back */
	STATE_STREAM,
};

struct sim_flight {
	struct list_node node;
	struct sim_transport *transport;
	uint64_t id;
	struct sim_message message;
	enum state state;
	bool delivering, cancelled;              /* cancelled: while data were delivered */
	int64_t deadline, silence_ns, silent_at; /* monotonic ns, CLOCK_NEVER: none */
	void (*on_data)(void *ctx, struct str bytes);
	void (*on_done)(void *ctx, const struct http_result *result);
	void *ctx;
	struct http_result result;
	struct strbuf body;
	struct apiserver_watch *watch;
	int64_t idle_version; /* of the server when the stream had no frame; -1: it has one */
	int64_t late_until;
};

struct sim_timer {
	struct list_node node;
	int64_t at;
	void (*fn)(void *ctx);
	void *ctx;
};

struct sim_transport {
	struct transport base;
	struct sim_world *world;
	enum sim_actor actor;
	struct list_node flights, timers;
	uint64_t next_id;
	bool paused;
};

static struct sim_transport *self_of(struct transport *t)
{
	return CONTAINER_OF(t, struct sim_transport, base);
}

static int64_t now_of(const struct sim_transport *t)
{
	return t->world->clock.mono_ns;
}

static int64_t after(int64_t now, int64_t ns)
{
	return ns > 0 ? now + ns : CLOCK_NEVER;
}

static uint64_t submit(struct transport *base, const struct http_call *call)
{
	struct sim_transport *t = self_of(base);
	struct sim_flight *f = xmalloc_zero(1, sizeof(*f));

	f->transport = t;
	f->id = ++t->next_id;
	f->message = (struct sim_message){ .method = call->method, .actor = t->actor };
	f->message.url = xmalloc_dup(call->url);
	f->message.content_type =
		call->content_type == NULL ? NULL : xmalloc_dup(call->content_type);
	f->message.accept = call->accept == NULL ? NULL : xmalloc_dup(call->accept);
	list_init(&f->message.node);
	strbuf_init(&f->message.body);
	strbuf_add_str(&f->message.body, call->body);
	f->deadline = after(now_of(t), call->timeout_ns);
	f->silence_ns = call->silence_ns;
	f->silent_at = after(now_of(t), call->silence_ns);
	f->on_data = call->on_data;
	f->on_done = call->on_done;
	f->ctx = call->ctx;
	f->idle_version = -1;
	strbuf_init(&f->body);
	list_append(&t->flights, &f->node);
	sim_world_check_sender(t->world, &f->message);
	return f->id;
}

static void flight_free(struct sim_flight *f)
{
	list_remove(&f->node);
	if (f->state == STATE_SENT && f->message.url != NULL) {
		f->message.expires =
			now_of(f->transport) +
			(int64_t)sim_world_below(f->transport->world, (uint64_t)ORPHAN_NS);
		sim_world_orphan(f->transport->world, &f->message);
	}
	sim_world_message_finish(&f->message);
	apiserver_watch_close(f->watch);
	strbuf_finish(&f->body);
	free(f);
}

static void finish(struct sim_flight *f)
{
	struct http_result r = f->result;

	list_remove(&f->node);
	r.body = strbuf_str(&f->body);
	r.error_text = r.error_text == NULL ? "" : r.error_text;
	f->on_done(f->ctx, &r);
	flight_free(f);
}

static void fail(struct sim_flight *f, enum err_code error, bool sent, const char *text)
{
	f->result = (struct http_result){ .error = (int)error,
					  .may_have_been_sent = sent,
					  .retry_after_s = -1,
					  .error_text = text };
	strbuf_reset(&f->body);
	finish(f);
}

static void cancel(struct transport *base, uint64_t id)
{
	struct sim_transport *t = self_of(base);

	LIST_FOR_EACH (node, &t->flights) {
		struct sim_flight *f = LIST_ENTRY(node, struct sim_flight, node);

		if (f->id == id && f->delivering) {
			f->cancelled = true;
			return;
		}
		if (f->id == id) {
			fail(f, ERR_CANCELLED, true, "cancelled");
			return;
		}
	}
}

static void call_later(struct transport *base, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct sim_transport *t = self_of(base);
	struct sim_timer *timer = xmalloc_zero(1, sizeof(*timer));

	timer->at = now_of(t) + (delay_ns > 0 ? delay_ns : 0);
	timer->fn = fn;
	timer->ctx = ctx;
	list_append(&t->timers, &timer->node);
}

static void run_timer(struct sim_timer *timer)
{
	list_remove(&timer->node);
	timer->fn(timer->ctx);
	free(timer);
}

static void destroy(struct transport *base)
{
	struct sim_transport *t = self_of(base);

	atomic_store(&base->stopping, true);
	while (!list_is_empty(&t->flights)) {
		fail(LIST_ENTRY(t->flights.next, struct sim_flight, node), ERR_CANCELLED, true,
		     "the transport goes away");
	}
	while (!list_is_empty(&t->timers)) {
		run_timer(LIST_ENTRY(t->timers.next, struct sim_timer, node));
	}
	free(t);
}

struct sim_transport *sim_transport_create(struct sim_world *w, enum sim_actor actor)
{
	static const struct transport_ops ops = {
		.submit = submit, .cancel = cancel, .call = call_later, .destroy = destroy
	};
	struct sim_transport *t = xmalloc_zero(1, sizeof(*t));

	t->base.ops = &ops;
	t->world = w;
	t->actor = actor;
	list_init(&t->flights);
	list_init(&t->timers);
	return t;
}

struct transport *sim_transport_base(struct sim_transport *t)
{
	return &t->base;
}

/* ---- requests ---- */

/* The server handles the request; the answer is kept for delivery. */
static void take_effect(struct sim_flight *f)
{
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	struct sim_world *w = f->transport->world;

	sim_world_handle(w, &f->message, &resp);
	f->state = STATE_ANSWERED;
	f->result = (struct http_result){ .status = resp.status,
					  .may_have_been_sent = true,
					  .retry_after_s =
						  resp.status == 429 ? resp.retry_after_s : -1 };
	strbuf_reset(&f->body);
	strbuf_add_str(&f->body, strbuf_str(&resp.body));
	if (resp.watch != NULL) {
		f->watch = resp.watch;
		f->state = STATE_STREAM;
	}
	if (f->message.method != HTTP_GET) {
		sim_world_trace(w, "%s %s -> %d %.*s",
				f->transport->actor == SIM_SCHEDULER ? "sched" : "node",
				http_method_name(f->message.method), resp.status,
				(int)(strlen(f->message.url)), f->message.url);
	}
	apiserver_response_finish(&resp);
}

static void answer_status(struct sim_flight *f, int status)
{
	apiserver_watch_close(f->watch);
	f->watch = NULL;
	f->state = STATE_ANSWERED;
	f->result = (struct http_result){ .status = status,
					  .may_have_been_sent = true,
					  .retry_after_s = status == 429 ? 1 : -1 };
	strbuf_reset(&f->body);
	strbuf_printf(&f->body,
		      "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
		      "\"message\":\"simulated\",\"reason\":\"%s\",\"code\":%d}",
		      status == 409   ? "Conflict"
		      : status == 429 ? "TooManyRequests"
		      : status == 403 ? "Forbidden"
				      : "InternalError",
		      status);
}

static void answer_error(struct sim_flight *f, enum err_code error, bool sent)
{
	apiserver_watch_close(f->watch);
	f->watch = NULL;
	f->state = STATE_ANSWERED;
	f->result = (struct http_result){ .error = (int)error,
					  .may_have_been_sent = sent,
					  .retry_after_s = -1,
					  .error_text = "simulated" };
	strbuf_reset(&f->body);
}

static void hang(struct sim_flight *f)
{
	apiserver_watch_close(f->watch);
	f->watch = NULL;
	f->state = STATE_HANGING;
	if (f->deadline == CLOCK_NEVER) { /* a stream that was never opened */
		answer_error(f, ERR_IO, true);
	}
}

enum reaction { REACT_STATUS, REACT_ERROR, REACT_HANG, REACT_LATE, REACT_CRASH };

static const struct {
	bool effect; /* the server does it first */
	enum reaction reaction;
	int code; /* HTTP status or ERR_X */
	bool sent;
} strikes[SIM_FAULT_COUNT_] = {
	[SIM_REFUSED] = { false, REACT_ERROR, ERR_UNAVAILABLE, false },
	[SIM_DROP_BEFORE] = { false, REACT_ERROR, ERR_IO, true },
	[SIM_DROP_AFTER] = { true, REACT_ERROR, ERR_IO, true },
	[SIM_TIMEOUT_BEFORE] = { false, REACT_HANG, 0, true },
	[SIM_TIMEOUT_AFTER] = { true, REACT_HANG, 0, true },
	[SIM_TIMEOUT_LATE] = { false, REACT_LATE, 0, true },
	[SIM_STATUS_429] = { false, REACT_STATUS, 429, true },
	[SIM_STATUS_500] = { false, REACT_STATUS, 500, true },
	[SIM_STATUS_500_DONE] = { true, REACT_STATUS, 500, true },
	[SIM_STATUS_409] = { false, REACT_STATUS, 409, true },
	[SIM_STATUS_403] = { false, REACT_STATUS, 403, true },
	[SIM_CRASH_BEFORE] = { false, REACT_CRASH, 0, true },
	[SIM_CRASH_AFTER] = { true, REACT_CRASH, 0, true },
};

static void strike(struct sim_flight *f, enum sim_fault fault)
{
	sim_world_strike(f->transport->world, fault);
	sim_world_trace(f->transport->world, "  at %s %s", http_method_name(f->message.method),
			f->message.url);
	if (fault == SIM_STATUS_409 && sim_world_outrun(f->transport->world, &f->message)) {
		take_effect(f);
		return;
	}
	if (strikes[fault].effect) {
		take_effect(f);
	}
	switch (strikes[fault].reaction) {
	case REACT_STATUS:
		answer_status(f, strikes[fault].code);
		break;
	case REACT_ERROR:
		answer_error(f, (enum err_code)strikes[fault].code, strikes[fault].sent);
		break;
	case REACT_HANG:
		hang(f);
		break;
	case REACT_LATE:
		/* Stays STATE_SENT, so that it is an orphan when its deadline has passed. */
		f->late_until = CLOCK_NEVER;
		break;
	case REACT_CRASH:
		f->transport->world->crash = true;
		f->transport->world->lost_admissions +=
			f->message.body.len > 0 &&
			strstr(f->message.body.p, "\"admission\":{") != NULL;
		break;
	}
}

/* A 409 of a creation means that the object exists, and is not transient: it is not simulated. */
static enum sim_request_kind kind_of(const struct sim_message *m)
{
	if (m->method == HTTP_GET ||
	    (m->method == HTTP_POST && !str_has_suffix(str_of(m->url), "/binding"))) {
		return SIM_REQUEST_OTHER;
	}
	return strstr(m->url, "/pods/") != NULL || strstr(m->url, "/workloads/") != NULL ||
			       strstr(m->url, "/jobs/") != NULL
		       ? SIM_REQUEST_POD
		       : SIM_REQUEST_CHANGE;
}

static void arrive(void *owner, void *arg)
{
	struct sim_transport *t = owner;
	struct sim_flight *f = arg;
	enum sim_fault fault;

	if (t->actor == SIM_SCHEDULER &&
	    sim_faults_of_request(&t->world->faults, kind_of(&f->message), &fault)) {
		if (fault == SIM_TIMEOUT_LATE && f->deadline == CLOCK_NEVER) {
			fault = SIM_REFUSED;
		}
		strike(f, fault);
		return;
	}
	take_effect(f);
}

static void answer(void *owner UNUSED, void *arg)
{
	finish(arg);
}

static void time_out(void *owner, void *arg)
{
	const struct sim_transport *t = owner;
	const struct sim_flight *f = arg;

	sim_world_trace(t->world, "timed out: %s %s", http_method_name(f->message.method),
			f->message.url);
	fail(arg, ERR_TIMEOUT, true, "timed out");
}

/* ---- streams ---- */

static void end_stream(struct sim_flight *f, enum err_code error)
{
	if (f->cancelled) {
		error = ERR_CANCELLED;
	}
	f->result = (struct http_result){ .status = 200,
					  .error = (int)error,
					  .may_have_been_sent = true,
					  .retry_after_s = -1,
					  .error_text = "simulated" };
	finish(f);
}

static void deliver(struct sim_flight *f, struct str bytes)
{
	f->silent_at = after(now_of(f->transport), f->silence_ns);
	if (bytes.len > 0 && !f->cancelled) {
		f->delivering = true;
		f->on_data(f->ctx, bytes);
		f->delivering = false;
	}
}

/* After data that did not end the stream. */
static void go_on(struct sim_flight *f)
{
	if (f->cancelled) {
		end_stream(f, ERR_CANCELLED);
	}
}

static void strike_stream(struct sim_flight *f, enum sim_fault fault, struct str frame)
{
	static const char gone[] =
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\","
		"\"status\":\"Failure\",\"message\":\"simulated\",\"reason\":\"Expired\","
		"\"code\":410}}\n";

	if (fault == SIM_WATCH_TRUNCATED) {
		deliver(f,
			(struct str){ frame.p, sim_world_below(f->transport->world, frame.len) });
		end_stream(f, ERR_IO);
	} else if (fault == SIM_WATCH_DUPLICATE) {
		deliver(f, frame);
		deliver(f, frame);
		go_on(f);
	} else if (fault == SIM_WATCH_CLOSED) {
		deliver(f, frame);
		end_stream(f, ERR_NONE);
	} else {
		deliver(f, str_of(gone));
		end_stream(f, ERR_NONE);
	}
}

/* Delivers a frame whole, or in two parts, at random. */
static void deliver_frame(struct sim_flight *f, struct str frame)
{
	size_t cut = sim_world_chance(f->transport->world, 50)
			     ? sim_world_below(f->transport->world, frame.len)
			     : 0;

	deliver(f, (struct str){ frame.p, cut });
	deliver(f, (struct str){ frame.p + cut, frame.len - cut });
	go_on(f);
}

static void stream_on(void *owner, void *arg)
{
	struct sim_transport *t = owner;
	struct sim_flight *f = arg;
	struct sim_world *w = t->world;
	CLEANUP(strbuf_finish) struct strbuf frame = STRBUF_INIT;
	enum sim_fault fault;
	int got;

	f->idle_version = apiserver_version(w->api);
	got = apiserver_watch_next(f->watch, clock_wall(&w->clock.base), &frame);
	if (got == 0) {
		return;
	}
	f->idle_version = -1;
	if (got < 0) {
		deliver(f, strbuf_str(&frame));
		end_stream(f, ERR_NONE);
		return;
	}
	if (t->actor == SIM_SCHEDULER && sim_faults_of_stream(&w->faults, &fault)) {
		sim_world_strike(w, fault);
		if (fault == SIM_WATCH_LATE) {
			f->late_until =
				now_of(t) + (int64_t)sim_world_below(w, (uint64_t)STREAM_LATE_NS);
			deliver(f, strbuf_str(&frame));
			go_on(f);
			return;
		}
		strike_stream(f, fault, strbuf_str(&frame));
		return;
	}
	deliver_frame(f, strbuf_str(&frame));
}

/* ---- possible steps ---- */

static int64_t mono_of_wall(const struct sim_world *w, int64_t wall)
{
	return wall - w->clock.wall_ns + w->clock.mono_ns;
}

static void offer_stream(struct sim_transport *t, struct sim_flight *f, struct sim_choices *out)
{
	const struct sim_world *w = t->world;
	int64_t wake = mono_of_wall(w, apiserver_watch_wake_at(f->watch));

	if (t->paused) {
		return;
	}
	if (f->silent_at <= now_of(t)) {
		sim_world_choice(out, &(struct sim_choice){ time_out, t, f, 1 });
		return;
	}
	sim_world_wake(out, f->silent_at);
	if (f->late_until > now_of(t)) {
		sim_world_wake(out, f->late_until); /* the stream is held up until then */
	} else if (f->idle_version != apiserver_version(w->api) || wake <= now_of(t)) {
		sim_world_choice(out, &(struct sim_choice){ stream_on, t, f, 2 });
	} else {
		sim_world_wake(out, wake);
	}
}

static void offer_flight(struct sim_transport *t, struct sim_flight *f, struct sim_choices *out)
{
	if (f->state == STATE_SENT && f->late_until == 0) {
		sim_world_choice(out, &(struct sim_choice){ arrive, t, f, 2 });
	}
	if (t->paused) {
		return;
	}
	if (f->state == STATE_ANSWERED) {
		sim_world_choice(out, &(struct sim_choice){ answer, t, f, 2 });
	} else if (f->deadline <= now_of(t)) {
		sim_world_choice(out, &(struct sim_choice){ time_out, t, f, 1 });
	} else {
		sim_world_wake(out, f->deadline);
	}
}

static void do_timer(void *owner UNUSED, void *arg)
{
	run_timer(arg);
}

void sim_transport_offer(struct sim_transport *t, struct sim_choices *out)
{
	LIST_FOR_EACH (node, &t->flights) {
		struct sim_flight *f = LIST_ENTRY(node, struct sim_flight, node);

		if (f->state == STATE_STREAM) {
			offer_stream(t, f, out);
		} else {
			offer_flight(t, f, out);
		}
	}
	LIST_FOR_EACH (node, &t->timers) {
		struct sim_timer *timer = LIST_ENTRY(node, struct sim_timer, node);

		if (t->paused) {
			continue;
		}
		if (timer->at <= now_of(t)) {
			sim_world_choice(out, &(struct sim_choice){ do_timer, t, timer, 2 });
		} else {
			sim_world_wake(out, timer->at);
		}
	}
}

size_t sim_transport_streams(const struct sim_transport *t)
{
	size_t n = 0;

	LIST_FOR_EACH (node, (struct list_node *)(uintptr_t)&t->flights) {
		const struct sim_flight *f = LIST_ENTRY(node, struct sim_flight, node);

		n += f->state == STATE_STREAM && f->late_until <= now_of(t);
	}
	return n;
}

size_t sim_transport_under_way(const struct sim_transport *t)
{
	size_t n = 0;

	LIST_FOR_EACH (node, (struct list_node *)(uintptr_t)&t->flights) {
		n += LIST_ENTRY(node, struct sim_flight, node)->state != STATE_STREAM;
	}
	return n;
}

bool sim_transport_target(const struct sim_transport *t, struct strbuf *ret_key)
{
	static const char prefix[] = "/api/v1/namespaces/";

	LIST_FOR_EACH (node, (struct list_node *)(uintptr_t)&t->flights) {
		const struct sim_flight *f = LIST_ENTRY(node, struct sim_flight, node);
		struct str rest = str_of(f->message.url), space, pods, name;

		if (f->state != STATE_SENT || f->message.method == HTTP_GET ||
		    !str_has_prefix(rest, prefix)) {
			continue;
		}
		rest = str_of(f->message.url + sizeof(prefix) - 1);
		space = str_next(&rest, '/');
		pods = str_next(&rest, '/');
		name = str_next(&rest, '/');
		if (str_eq_c(pods, "pods") && name.len > 0) {
			strbuf_printf(ret_key, STR_FMT "/" STR_FMT, STR_ARG(space), STR_ARG(name));
			return true;
		}
	}
	return false;
}

void sim_transport_pause(struct sim_transport *t, bool paused)
{
	t->paused = paused;
}
