#include "lib/net/fake_transport.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/list.h"

struct call {
	struct list_node node;
	uint64_t id;
	struct http_call req; /* strings owned */
	char *line;
	bool expected;
};

struct timer {
	struct list_node node;
	int64_t at;
	void (*fn)(void *ctx);
	void *ctx;
};

struct fake_transport {
	struct transport base;
	struct clock_fake *clock;
	pthread_mutex_t lock; /* guards the lists and next_id */
	pthread_cond_t submitted;
	struct list_node calls;  /* open, oldest first */
	struct list_node timers; /* by time, then age */
	uint64_t next_id;
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("fake_transport: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	abort();
}

static uint64_t submit(struct transport *t, const struct http_call *req)
{
	struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, base);
	struct call *c = xmalloc_zero(1, sizeof(*c));
	uint64_t id;

	c->req = *req;
	c->req.url = xmalloc_dup(req->url);
	c->req.content_type = xmalloc_dup_or_null(req->content_type);
	c->req.accept = xmalloc_dup_or_null(req->accept);
	c->req.bearer = NULL;
	c->req.body.p = xmalloc_dup_n(req->body.len == 0 ? "" : req->body.p, req->body.len);
	c->line = xmalloc_printf("%s %s", http_method_name(req->method), req->url);
	pthread_mutex_lock(&f->lock);
	id = c->id = ++f->next_id;
	list_append(&f->calls, &c->node);
	pthread_cond_signal(&f->submitted);
	pthread_mutex_unlock(&f->lock);
	return id;
}

static struct call *find(struct fake_transport *f, uint64_t id)
{
	struct call *found = NULL;

	pthread_mutex_lock(&f->lock);
	LIST_FOR_EACH (node, &f->calls) {
		struct call *c = LIST_ENTRY(node, struct call, node);

		if (c->id == id) {
			found = c;
		}
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}

static struct call *find_open(struct fake_transport *f, uint64_t id)
{
	struct call *c = find(f, id);

	if (c == NULL) {
		die("call %llu is not open", (unsigned long long)id);
	}
	return c;
}

static void finish_call(struct fake_transport *f, struct call *c, const struct http_result *result)
{
	pthread_mutex_lock(&f->lock);
	list_remove(&c->node);
	pthread_mutex_unlock(&f->lock);
	c->req.on_done(c->req.ctx, result);
	free((char *)(uintptr_t)c->req.url);
	free((char *)(uintptr_t)c->req.content_type);
	free((char *)(uintptr_t)c->req.accept);
	free((char *)(uintptr_t)c->req.body.p);
	free(c->line);
	free(c);
}

static void end_with_error(struct fake_transport *f, struct call *c, int error, bool sent)
{
	const struct http_result result = { .error = error,
					    .may_have_been_sent = sent,
					    .retry_after_s = -1,
					    .error_text = err_name((enum err_code)error) };

	finish_call(f, c, &result);
}

static void cancel(struct transport *t, uint64_t id)
{
	struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, base);
	struct call *c = find(f, id);

	if (c != NULL) {
		end_with_error(f, c, ERR_CANCELLED, true);
	}
}

static void call(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, base);
	struct timer *timer = xmalloc_zero(1, sizeof(*timer));
	struct list_node *at;

	timer->at = f->clock == NULL ? CLOCK_NEVER : clock_mono(&f->clock->base) + delay_ns;
	timer->fn = fn;
	timer->ctx = ctx;
	pthread_mutex_lock(&f->lock);
	for (at = f->timers.next; at != &f->timers; at = at->next) {
		if (LIST_ENTRY(at, struct timer, node)->at > timer->at) {
			break;
		}
	}
	list_insert_before(at, &timer->node);
	pthread_mutex_unlock(&f->lock);
}

/* The first function due by now, out of the list; NULL: none. */
static struct timer *take_timer(struct fake_transport *f, int64_t now)
{
	struct timer *t = NULL;

	pthread_mutex_lock(&f->lock);
	if (!list_is_empty(&f->timers)) {
		t = LIST_ENTRY(f->timers.next, struct timer, node);
		if (t->at <= now) {
			list_remove(&t->node);
		} else {
			t = NULL;
		}
	}
	pthread_mutex_unlock(&f->lock);
	return t;
}

static unsigned run_until(struct fake_transport *f, int64_t now)
{
	struct timer *t;
	unsigned n = 0;

	while ((t = take_timer(f, now)) != NULL) {
		t->fn(t->ctx);
		free(t);
		n++;
	}
	return n;
}

static void destroy(struct transport *t)
{
	struct fake_transport *f = CONTAINER_OF(t, struct fake_transport, base);

	atomic_store(&f->base.stopping, true);
	while (!list_is_empty(&f->calls)) {
		end_with_error(f, LIST_ENTRY(f->calls.next, struct call, node), ERR_CANCELLED,
			       true);
	}
	run_until(f, CLOCK_NEVER);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->submitted);
	free(f);
}

static const struct transport_ops ops = {
	.submit = submit,
	.cancel = cancel,
	.call = call,
	.destroy = destroy,
};

struct fake_transport *fake_transport_create(struct clock_fake *clock)
{
	struct fake_transport *f = xmalloc_zero(1, sizeof(*f));

	f->base.ops = &ops;
	f->clock = clock;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->submitted, NULL);
	list_init(&f->calls);
	list_init(&f->timers);
	return f;
}

struct transport *fake_transport_base(struct fake_transport *f)
{
	return &f->base;
}

void fake_transport_destroy(struct fake_transport *f)
{
	transport_destroy(&f->base);
}

static struct call *oldest_pending(struct fake_transport *f)
{
	struct call *found = NULL;

	pthread_mutex_lock(&f->lock);
	LIST_FOR_EACH (node, &f->calls) {
		struct call *c = LIST_ENTRY(node, struct call, node);

		if (!c->expected) {
			found = c;
			break;
		}
	}
	pthread_mutex_unlock(&f->lock);
	return found;
}

uint64_t fake_transport_expect(struct fake_transport *f, const char *line)
{
	struct call *c = oldest_pending(f);

	if (c == NULL || strcmp(c->line, line) != 0) {
		die("expected \"%s\", got \"%s\"", line, c == NULL ? "nothing" : c->line);
	}
	c->expected = true;
	return c->id;
}

uint64_t fake_transport_expect_prefix(struct fake_transport *f, const char *prefix)
{
	struct call *c = oldest_pending(f);

	if (c == NULL || strncmp(c->line, prefix, strlen(prefix)) != 0) {
		die("expected \"%s...\", got \"%s\"", prefix, c == NULL ? "nothing" : c->line);
	}
	c->expected = true;
	return c->id;
}

void fake_transport_expect_none(struct fake_transport *f)
{
	struct call *c = oldest_pending(f);

	if (c != NULL) {
		die("expected nothing, got \"%s\"", c->line);
	}
}

static size_t count(struct fake_transport *f, bool also_expected)
{
	size_t n = 0;

	LIST_FOR_EACH (node, &f->calls) {
		n += also_expected || !LIST_ENTRY(node, struct call, node)->expected ? 1 : 0;
	}
	return n;
}

size_t fake_transport_pending(struct fake_transport *f)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = count(f, false);
	pthread_mutex_unlock(&f->lock);
	return n;
}

size_t fake_transport_open(struct fake_transport *f)
{
	size_t n;

	pthread_mutex_lock(&f->lock);
	n = count(f, true);
	pthread_mutex_unlock(&f->lock);
	return n;
}

void fake_transport_wait(struct fake_transport *f, size_t n)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 300;
	pthread_mutex_lock(&f->lock);
	while (count(f, false) < n) {
		if (pthread_cond_timedwait(&f->submitted, &f->lock, &limit) != 0) {
			die("waited in vain for %zu calls", n);
		}
	}
	pthread_mutex_unlock(&f->lock);
}

bool fake_transport_is_open(struct fake_transport *f, uint64_t id)
{
	return find(f, id) != NULL;
}

struct str fake_transport_body(struct fake_transport *f, uint64_t id)
{
	return find_open(f, id)->req.body;
}

const struct http_call *fake_transport_request(struct fake_transport *f, uint64_t id)
{
	return &find_open(f, id)->req;
}

static void answer(struct fake_transport *f, uint64_t id, int status, int retry_after_s,
		   const char *body)
{
	struct call *c = find_open(f, id);
	const struct http_result result = { .status = status,
					    .may_have_been_sent = true,
					    .retry_after_s = retry_after_s,
					    .body = str_of(body),
					    .error_text = "" };

	if (c->req.on_data != NULL && status < 300) {
		die("call %llu is a stream: use chunk and end", (unsigned long long)id);
	}
	finish_call(f, c, &result);
}

void fake_transport_answer(struct fake_transport *f, uint64_t id, int status, const char *body)
{
	answer(f, id, status, -1, body);
}

void fake_transport_answer_later(struct fake_transport *f, uint64_t id, int status,
				 int retry_after_s)
{
	answer(f, id, status, retry_after_s, "{}");
}

void fake_transport_fail(struct fake_transport *f, uint64_t id, int error, bool sent)
{
	end_with_error(f, find_open(f, id), error, sent);
}

void fake_transport_too_large(struct fake_transport *f, uint64_t id)
{
	const struct http_result result = { .error = ERR_IO,
					    .may_have_been_sent = true,
					    .too_large = true,
					    .retry_after_s = -1,
					    .error_text = "too large" };

	finish_call(f, find_open(f, id), &result);
}

void fake_transport_chunk(struct fake_transport *f, uint64_t id, const char *text)
{
	struct call *c = find_open(f, id);

	c->req.on_data(c->req.ctx, str_of(text));
}

void fake_transport_end(struct fake_transport *f, uint64_t id)
{
	const struct http_result result = {
		.status = 200, .may_have_been_sent = true, .retry_after_s = -1, .error_text = ""
	};

	finish_call(f, find_open(f, id), &result);
}

unsigned fake_transport_run(struct fake_transport *f)
{
	return run_until(f, clock_mono(&f->clock->base));
}

void fake_transport_advance(struct fake_transport *f, int64_t ns)
{
	int64_t until = clock_mono(&f->clock->base) + ns;

	for (;;) {
		int64_t now = clock_mono(&f->clock->base);
		int64_t next = until;

		fake_transport_run(f);
		if (now >= until) {
			return;
		}
		pthread_mutex_lock(&f->lock);
		if (!list_is_empty(&f->timers)) {
			int64_t at = LIST_ENTRY(f->timers.next, struct timer, node)->at;

			next = at < until ? at : until;
		}
		pthread_mutex_unlock(&f->lock);
		if (next > now) {
			clock_fake_advance(f->clock, next - now);
		}
	}
}
