#include "apiserver/reviewer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "net/http_loop.h"

#define MAX_ANSWER ((size_t)8 << 20)
#define CONNECT_NS (60 * CLOCK_NS_PER_S) /* the time-out of the webhook is shorter */

struct client {
	char *ca;
	size_t ca_len;
	struct http_loop *loop;
	unsigned users;
};

struct reviewer {
	pthread_mutex_t lock; /* guards the clients */
	struct client clients[REVIEWER_MAX_CLIENTS];
	size_t n;
};

struct pending {
	pthread_mutex_t lock;
	pthread_cond_t done_changed;
	bool done;
	int status, error;
	char text[200];
	struct strbuf *out;
};

struct reviewer *reviewer_create(void)
{
	struct reviewer *r = xmalloc_zero(1, sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	return r;
}

static void finish_client(struct client *c)
{
	http_loop_destroy(c->loop);
	free(c->ca);
}

void reviewer_destroy(struct reviewer *r)
{
	if (r == NULL) {
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		finish_client(&r->clients[i]);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static void on_done(void *ctx, const struct http_result *result)
{
	struct pending *p = ctx;

	pthread_mutex_lock(&p->lock);
	p->status = result->status;
	p->error = result->error;
	(void)snprintf(p->text, sizeof(p->text), "%s", result->error_text);
	strbuf_add_str(p->out, result->body);
	p->done = true;
	pthread_cond_signal(&p->done_changed);
	pthread_mutex_unlock(&p->lock);
}

/* The oldest client without users makes room. */
static void make_room(struct reviewer *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->clients[i].users == 0) {
			finish_client(&r->clients[i]);
			r->n--;
			for (size_t k = i; k < r->n; k++) {
				r->clients[k] = r->clients[k + 1];
			}
			return;
		}
	}
}

static struct client *find(struct reviewer *r, struct str ca)
{
	for (size_t i = 0; i < r->n; i++) {
		if (str_eq((struct str){ r->clients[i].ca, r->clients[i].ca_len }, ca)) {
			return &r->clients[i];
		}
	}
	return NULL;
}

static int acquire(struct reviewer *r, struct str ca, struct http_loop **ret, struct err *err)
{
	const struct http_loop_tls tls = { .ca_pem = ca };
	const struct http_loop_options opt = { .user_agent = "headgate-apiserver",
					       .tls = &tls,
					       .connect_ns = CONNECT_NS,
					       .http1_only = true };
	struct client *c = find(r, ca);
	struct client fresh = { 0 };
	int res;

	if (c == NULL) {
		if (r->n == REVIEWER_MAX_CLIENTS) {
			make_room(r);
		}
		if (r->n == REVIEWER_MAX_CLIENTS) {
			return err_set(err, ERR_UNAVAILABLE, "too many webhook clients");
		}
		res = http_loop_start(&opt, &fresh.loop, err);
		if (res < 0) {
			return res;
		}
		fresh.ca = xmalloc_dup_n(ca.len == 0 ? "" : ca.p, ca.len);
		fresh.ca_len = ca.len;
		c = &r->clients[r->n++];
		*c = fresh;
	}
	c->users++;
	*ret = c->loop;
	return 0;
}

static void release(struct reviewer *r, struct str ca)
{
	pthread_mutex_lock(&r->lock);
	find(r, ca)->users--;
	pthread_mutex_unlock(&r->lock);
}

static void run(struct http_loop *loop, const struct apiserver_review *req, struct pending *p)
{
	const struct http_call call = {
		.method = HTTP_POST,
		.url = req->url,
		.content_type = "application/json",
		.body = req->body,
		.timeout_ns = req->timeout_ns,
		.max_body = MAX_ANSWER,
		.on_done = on_done,
		.ctx = p,
	};

	(void)http_loop_submit(loop, &call);
	pthread_mutex_lock(&p->lock);
	while (!p->done) {
		pthread_cond_wait(&p->done_changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

int reviewer_call(struct reviewer *r, const struct apiserver_review *req, struct strbuf *out,
		  struct err *err)
{
	struct pending p = { .out = out };
	struct http_loop *loop = NULL;
	int res;

	pthread_mutex_lock(&r->lock);
	res = acquire(r, req->ca_bundle, &loop, err);
	pthread_mutex_unlock(&r->lock);
	if (res < 0) {
		return res;
	}
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.done_changed, NULL);
	run(loop, req, &p);
	pthread_cond_destroy(&p.done_changed);
	pthread_mutex_destroy(&p.lock);
	release(r, req->ca_bundle);
	if (p.status == 0) {
		return err_set(err, p.error > 0 ? (enum err_code)p.error : ERR_UNAVAILABLE, "%s",
			       p.text);
	}
	if (p.status != 200) {
		return err_set(err, ERR_INVALID,
			       "an error on the server (\"unknown\") has "
			       "prevented the request from succeeding");
	}
	return 0;
}
