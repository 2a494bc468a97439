#include "apiserver/conformance/replay_client.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "apiserver/conformance/replay_topic.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "net/http_loop.h"
#include "process/file.h"

#define WAIT_S 300
#define TOKEN_MAX_BYTES 65536

struct replay_client {
	const struct kubeconfig *cfg;
	struct http_loop *loop;
	struct http_loop *stranger; /* without the kubeconfig's client certificate */
	struct strbuf token;
};

struct exchange {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct replay_reply *reply;
	long lines, wanted;
	bool enough, done;
	int error;
	char text[ERR_TEXT_MAX];
};

static int start(struct replay_client *c, struct err *err)
{
	const struct http_loop_options opt = { .user_agent = "headgate-replay/1",
					       .tls = &c->cfg->tls,
					       .connect_ns = WAIT_S * CLOCK_NS_PER_S };
	struct http_loop_tls bare = c->cfg->tls;
	const struct http_loop_options stranger = { .user_agent = "headgate-replay/1",
						    .tls = &bare,
						    .connect_ns = WAIT_S * CLOCK_NS_PER_S };
	int r = http_loop_start(&opt, &c->loop, err);

	bare.cert_file = bare.key_file = NULL;
	bare.cert_pem = bare.key_pem = (struct str){ NULL, 0 };
	r = r < 0 ? r : http_loop_start(&stranger, &c->stranger, err);
	if (r == 0 && c->cfg->token_file != NULL) {
		r = file_read_all(c->cfg->token_file, TOKEN_MAX_BYTES, &c->token, err);
		strbuf_truncate(&c->token, str_trim(strbuf_str(&c->token)).len);
	} else if (r == 0 && c->cfg->token != NULL) {
		strbuf_add_c(&c->token, c->cfg->token);
	}
	return r;
}

int replay_client_open(const struct kubeconfig *cfg, struct replay_client **ret, struct err *err)
{
	struct replay_client *c = xmalloc_zero(1, sizeof(*c));
	int r;

	c->cfg = cfg;
	strbuf_init(&c->token);
	r = start(c, err);
	if (r < 0) {
		replay_client_close(c);
		return r;
	}
	*ret = c;
	return 0;
}

void replay_client_close(struct replay_client *c)
{
	if (c == NULL) {
		return;
	}
	http_loop_destroy(c->loop);
	http_loop_destroy(c->stranger);
	strbuf_finish(&c->token);
	free(c);
}

static void on_data(void *ctx, struct str bytes)
{
	struct exchange *x = ctx;

	pthread_mutex_lock(&x->lock);
	for (size_t i = 0; i < bytes.len && !x->enough; i++) {
		strbuf_add_ch(&x->reply->body, bytes.p[i]);
		x->lines += bytes.p[i] == '\n';
		x->enough = x->wanted > 0 && x->lines == x->wanted;
	}
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct exchange *x = ctx;

	pthread_mutex_lock(&x->lock);
	x->reply->status = x->enough ? 200 : r->status;
	x->error = x->enough || r->status != 0 ? 0 : r->error;
	strbuf_add_str(&x->reply->body, r->body);
	snprintf(x->text, sizeof(x->text), "%s", r->error_text);
	x->done = true;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
}

/* Until the answer is whole; a stream is cut when enough of it came or the time is up. */
static void await(struct http_loop *loop, uint64_t id, struct exchange *x)
{
	struct timespec until;
	bool late = false, cut = false;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += WAIT_S;
	pthread_mutex_lock(&x->lock);
	while (!x->done) {
		if ((x->enough || late) && !cut) {
			cut = true;
			pthread_mutex_unlock(&x->lock);
			http_loop_cancel(loop, id);
			pthread_mutex_lock(&x->lock);
		} else if (cut) {
			pthread_cond_wait(&x->changed, &x->lock);
		} else {
			late = pthread_cond_timedwait(&x->changed, &x->lock, &until) == ETIMEDOUT;
		}
	}
	pthread_mutex_unlock(&x->lock);
}

int replay_client_do(struct replay_client *c, const struct replay_request *req,
		     struct replay_reply *ret, struct err *err)
{
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf("%s%s", c->cfg->server, req->url);
	struct http_loop *loop = req->token != NULL ? c->stranger : c->loop;
	struct exchange x = { .reply = ret, .wanted = req->frames };
	struct http_call call = {
		.method = req->method,
		.url = url,
		.content_type = req->type,
		.accept = req->accept,
		.bearer = req->token != NULL ? req->token
			  : c->token.len > 0 ? c->token.p
					     : NULL,
		.body = req->body,
		.on_done = on_done,
		.ctx = &x,
	};

	if (req->frames == REPLAY_NO_FRAMES) {
		call.timeout_ns = WAIT_S * CLOCK_NS_PER_S;
	} else {
		call.on_data = on_data;
	}
	strbuf_reset(&ret->body);
	pthread_mutex_init(&x.lock, NULL);
	pthread_cond_init(&x.changed, NULL);
	await(loop, http_loop_submit(loop, &call), &x);
	pthread_mutex_destroy(&x.lock);
	pthread_cond_destroy(&x.changed);
	if (x.error != 0) {
		return err_set(err, (enum err_code)x.error, "%s: %s", req->url, x.text);
	}
	return 0;
}
