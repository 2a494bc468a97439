#include "lib/net/https_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "certs/ca.h"
#include "certs/leaf.h"

#define FIXTURE_TIMEOUT_NS (300 * CLOCK_NS_PER_S)
#define FIXTURE_TIMEOUT_S 600 /* of the server, unless the test has its own */

static void must(int r, const struct err *err)
{
	if (r < 0) {
		fprintf(stderr, "fixture: %s\n", err->text);
		abort();
	}
}

void https_fixture_new_leaf(const struct https_fixture *f, struct pair *ret)
{
	static const char *const dns[] = { "localhost" };
	static const char *const ip[] = { "127.0.0.1" };
	struct err err = ERR_INIT;
	struct leaf_options opt = { .ca = &f->ca,
				    .dns = dns,
				    .dns_count = 1,
				    .ip = ip,
				    .ip_count = 1,
				    .now_ns = clock_wall(clock_real()) };

	pair_init(ret);
	must(leaf_create(&opt, ret, &err), &err);
}

struct http_loop *https_fixture_new_loop(const struct https_fixture *f, bool http1_only)
{
	struct http_loop_tls tls = { .ca_pem = strbuf_str(&f->ca.cert) };
	struct http_loop_options opt = { .tls = &tls,
					 .http1_only = http1_only,
					 .connect_ns = FIXTURE_TIMEOUT_NS };
	struct http_loop *l = NULL;
	struct err err = ERR_INIT;

	must(http_loop_start(&opt, &l, &err), &err);
	return l;
}

void https_fixture_start(struct https_fixture *f, struct http_server_options opt, bool plain)
{
	struct ca_options ca = { .now_ns = clock_wall(clock_real()) };
	struct err err = ERR_INIT;

	*f = (struct https_fixture){ 0 };
	pair_init(&f->ca);
	must(ca_create(&ca, &f->ca, &err), &err);
	https_fixture_new_leaf(f, &f->leaf);
	if (!plain) {
		opt.tls_cert = strbuf_str(&f->leaf.cert);
		opt.tls_key = strbuf_str(&f->leaf.key);
	}
	opt.address = "127.0.0.1";
	opt.port = 0;
	if (opt.request_timeout_s == 0) {
		opt.request_timeout_s = FIXTURE_TIMEOUT_S;
	}
	if (opt.idle_timeout_s == 0) {
		opt.idle_timeout_s = FIXTURE_TIMEOUT_S;
	}
	must(http_server_start(&opt, &f->server, &err), &err);
	snprintf(f->base, sizeof(f->base), "%s://localhost:%u", plain ? "http" : "https",
		 http_server_port(f->server));
	f->loop = https_fixture_new_loop(f, false);
}

void https_fixture_stop(struct https_fixture *f)
{
	http_loop_destroy(f->loop);
	http_server_destroy(f->server);
	pair_finish(&f->ca);
	pair_finish(&f->leaf);
}

static void on_data(void *ctx, struct str bytes)
{
	struct https_call *c = ctx;

	pthread_mutex_lock(&c->lock);
	strbuf_add_str(&c->body, bytes);
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct https_call *c = ctx;

	pthread_mutex_lock(&c->lock);
	c->status = r->status;
	c->error = r->error;
	c->too_large = r->too_large;
	c->retry_after_s = r->retry_after_s;
	c->date = r->date;
	c->sent = r->may_have_been_sent;
	strbuf_add_str(&c->body, r->body);
	snprintf(c->error_text, sizeof(c->error_text), "%s", r->error_text);
	c->done = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

void https_fixture_submit_on(struct http_loop *l, struct https_call *c, const char *url,
			     struct http_call call)
{
	*c = (struct https_call){ .body = STRBUF_INIT };
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	call.url = url;
	call.on_done = on_done;
	call.ctx = c;
	if (call.timeout_ns < 0) { /* a stream */
		call.timeout_ns = 0;
		call.on_data = on_data;
	} else if (call.timeout_ns == 0) {
		call.timeout_ns = FIXTURE_TIMEOUT_NS;
	}
	c->id = http_loop_submit(l, &call);
}

void https_fixture_submit(struct https_fixture *f, struct https_call *c, const char *path,
			  struct http_call call)
{
	char url[256];

	snprintf(url, sizeof(url), "%s%s", f->base, path);
	https_fixture_submit_on(f->loop, c, url, call);
}

void https_fixture_wait(struct https_call *c)
{
	https_fixture_wait_bytes(c, SIZE_MAX);
}

void https_fixture_wait_bytes(struct https_call *c, size_t len)
{
	pthread_mutex_lock(&c->lock);
	while (!c->done && c->body.len < len) {
		pthread_cond_wait(&c->changed, &c->lock);
	}
	pthread_mutex_unlock(&c->lock);
}

void https_fixture_finish(struct https_call *c)
{
	https_fixture_wait(c);
	strbuf_finish(&c->body);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
}

void https_fixture_do(struct https_fixture *f, struct https_call *c, const char *path,
		      struct str body)
{
	struct http_call call = { .method = body.p != NULL ? HTTP_POST : HTTP_GET,
				  .content_type = body.p != NULL ? "application/json" : NULL,
				  .body = body };

	https_fixture_submit(f, c, path, call);
	https_fixture_wait(c);
}
