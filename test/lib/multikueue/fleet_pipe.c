#include "lib/multikueue/fleet_pipe.h"

#include <stdlib.h>

#include "apiserver/mem_transport.h"
#include "base/xmalloc.h"

/* A call under way that is reported when it is answered. */
struct reported {
	const struct fleet_pipe *pipe;
	enum http_method method;
	char *url, *body;
	size_t body_len;
	void (*on_done)(void *ctx, const struct http_result *result);
	void *ctx;
};

static void on_done(void *ctx, const struct http_result *result)
{
	struct reported *r = ctx;
	const struct fleet_pipe_log *log = r->pipe->log;

	if (log->fn != NULL) {
		log->fn(log->ctx, &(struct fleet_pipe_request){ .server = r->pipe->server,
								.process = r->pipe->process,
								.method = r->method,
								.url = r->url,
								.body = { r->body, r->body_len },
								.status = result->status,
								.error = result->error });
	}
	r->on_done(r->ctx, result);
	free(r->url);
	free(r->body);
	free(r);
}

static uint64_t submit(struct transport *t, const struct http_call *call)
{
	struct fleet_pipe *p = (struct fleet_pipe *)t;
	struct http_call same = *call;
	struct reported *r;

	if (p->log->fn != NULL && call->on_data == NULL) {
		r = xmalloc_zero(1, sizeof(*r));
		*r = (struct reported){ .pipe = p,
					.method = call->method,
					.url = xmalloc_dup(call->url),
					.body = xmalloc_dup_n(call->body.p, call->body.len),
					.body_len = call->body.len,
					.on_done = call->on_done,
					.ctx = call->ctx };
		same.on_done = on_done;
		same.ctx = r;
	}
	return transport_submit(mem_transport_base(p->mem), &same);
}

static void cancel(struct transport *t, uint64_t id)
{
	struct fleet_pipe *p = (struct fleet_pipe *)t;

	transport_cancel(mem_transport_base(p->mem), id);
}

static void call(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct fleet_pipe *p = (struct fleet_pipe *)t;

	transport_call(mem_transport_base(p->mem), delay_ns, fn, ctx);
}

static void destroy(struct transport *t)
{
	struct fleet_pipe *p = (struct fleet_pipe *)t;
	struct mem_transport *m = p->mem;

	atomic_store(&p->base.stopping, true);
	transport_destroy(mem_transport_base(m));
	p->mem = NULL;
}

static const struct transport_ops ops = {
	.submit = submit, .cancel = cancel, .call = call, .destroy = destroy
};

struct fleet_pipe *fleet_pipe_create(int server, const char *process, struct apiserver *s,
				     struct clock_fake *clock, const struct fleet_pipe_log *log)
{
	struct fleet_pipe *p = xmalloc_zero(1, sizeof(*p));

	p->base.ops = &ops;
	p->server = server;
	p->process = process;
	p->mem = mem_transport_create(s, clock);
	p->log = log;
	return p;
}
