#include "kube/transport.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "process/file.h"

#define TOKEN_MAX_BYTES (64u << 10)
#define TOKEN_RELOAD_NS (60 * CLOCK_NS_PER_S)

struct transport_http {
	struct transport base;
	struct http_loop *loop;
	char *server;
	char *token_file;         /* or NULL */
	pthread_mutex_t lock;     /* guards the lines below */
	char *token;              /* or NULL */
	struct list_node waiting; /* of struct waiting: given to the loop, not yet run */
	struct list_node orphans; /* of struct orphan: submitted while stopping */
	uint64_t next_orphan;
};

struct waiting {
	struct list_node node;
	struct transport_http *owner;
	void (*fn)(void *ctx);
	void *ctx;
};

struct orphan {
	struct list_node node;
	void (*on_done)(void *ctx, const struct http_result *result);
	void *ctx;
};

static struct transport_http *of_base(struct transport *t)
{
	return CONTAINER_OF(t, struct transport_http, base);
}

/* A copy, because reload_token may free the token at any time. */
static char *copy_token(struct transport_http *h)
{
	char *token;

	pthread_mutex_lock(&h->lock);
	token = h->token == NULL ? NULL : xmalloc_dup(h->token);
	pthread_mutex_unlock(&h->lock);
	return token;
}

/* No callback may run inside submit, so the call is kept until destroy ends it. Ids count down from
 * the end of the range: those of the loop count up from 1. */
static uint64_t adopt_orphan(struct transport_http *h, const struct http_call *call)
{
	struct orphan *o = xmalloc_zero(1, sizeof(*o));
	uint64_t id;

	o->on_done = call->on_done;
	o->ctx = call->ctx;
	pthread_mutex_lock(&h->lock);
	id = UINT64_MAX - h->next_orphan++;
	list_append(&h->orphans, &o->node);
	pthread_mutex_unlock(&h->lock);
	return id;
}

static uint64_t submit(struct transport *t, const struct http_call *call)
{
	struct transport_http *h = of_base(t);
	CLEANUP(strbuf_finish) struct strbuf url = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *token = NULL;
	struct http_call whole = *call;

	if (atomic_load(&t->stopping)) {
		return adopt_orphan(h, call);
	}
	token = copy_token(h);
	strbuf_add_c(&url, h->server);
	strbuf_add_c(&url, call->url);
	whole.url = url.p;
	whole.bearer = token;
	return http_loop_submit(h->loop, &whole);
}

/* While the transport stops there is nothing to do: destroy ends all calls as cancelled. */
static void cancel(struct transport *t, uint64_t id)
{
	if (!atomic_load(&t->stopping)) {
		http_loop_cancel(of_base(t)->loop, id);
	}
}

static void run_waiting(void *ctx)
{
	struct waiting *w = ctx;

	pthread_mutex_lock(&w->owner->lock);
	list_remove(&w->node);
	pthread_mutex_unlock(&w->owner->lock);
	/* Without the lock, since fn may submit or call again. */
	w->fn(w->ctx);
	free(w);
}

static void call(struct transport *t, int64_t delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct transport_http *h = of_base(t);
	struct waiting *w = xmalloc_zero(1, sizeof(*w));

	w->owner = h;
	w->fn = fn;
	w->ctx = ctx;
	pthread_mutex_lock(&h->lock);
	/* Before `stopping` is read: a function that the loop drops when it ends is then found by
	 * destroy. */
	list_append(&h->waiting, &w->node);
	pthread_mutex_unlock(&h->lock);
	/* While stopping, destroy runs the functions in the list. */
	if (!atomic_load(&t->stopping)) {
		http_loop_call(h->loop, delay_ns, run_waiting, w);
	}
}

static struct list_node *first_of(struct transport_http *h, struct list_node *head)
{
	struct list_node *n;

	pthread_mutex_lock(&h->lock);
	n = list_is_empty(head) ? NULL : head->next;
	pthread_mutex_unlock(&h->lock);
	return n;
}

static bool end_one_orphan(struct transport_http *h)
{
	static const struct http_result result = { .error = ERR_CANCELLED,
						   .retry_after_s = -1,
						   .error_text = "transport is closed" };
	struct list_node *n = first_of(h, &h->orphans);
	struct orphan *o;

	if (n == NULL) {
		return false;
	}
	o = LIST_ENTRY(n, struct orphan, node);
	pthread_mutex_lock(&h->lock);
	list_remove(&o->node);
	pthread_mutex_unlock(&h->lock);
	o->on_done(o->ctx, &result);
	free(o);
	return true;
}

static bool run_one_waiting(struct transport_http *h)
{
	struct list_node *n = first_of(h, &h->waiting);

	if (n == NULL) {
		return false;
	}
	run_waiting(LIST_ENTRY(n, struct waiting, node));
	return true;
}

/* The end of the transport:
 *   1. From here on, calls become orphans and functions only enter the list.
 *   2. The loop ends its calls as cancelled, and drops its timers without running them.
 *   3. Functions that still wait run, and orphans end. Both may add to either list, hence the
 *      loop. */
static void destroy(struct transport *t)
{
	struct transport_http *h = of_base(t);

	atomic_store(&t->stopping, true);
	http_loop_destroy(h->loop);
	while (run_one_waiting(h) || end_one_orphan(h)) {
	}
	pthread_mutex_destroy(&h->lock);
	free(h->server);
	free(h->token_file);
	free(h->token);
	free(h);
}

static const struct transport_ops ops = {
	.submit = submit,
	.cancel = cancel,
	.call = call,
	.destroy = destroy,
};

static int read_token(const char *path, char **ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct str token;
	int r;

	r = file_read_all(path, TOKEN_MAX_BYTES, &text, err);
	if (r < 0) {
		return r;
	}
	token = str_trim(strbuf_str(&text));
	if (token.len == 0) {
		return err_set(err, ERR_INVALID, "token file %s: empty", path);
	}
	*ret = xmalloc_dup_n(token.p, token.len);
	return 0;
}

/* On the loop's thread, each minute: the kubelet replaces projected tokens well before they expire.
 * If the file cannot be read, the old token stays in use. */
static void reload_token(void *ctx)
{
	struct transport_http *h = ctx;
	char *fresh = NULL, *old;

	if (atomic_load(&h->base.stopping)) {
		return;
	}
	if (read_token(h->token_file, &fresh, NULL) == 0) {
		pthread_mutex_lock(&h->lock);
		old = h->token;
		h->token = fresh;
		pthread_mutex_unlock(&h->lock);
		free(old);
	}
	call(&h->base, TOKEN_RELOAD_NS, reload_token, h);
}

int transport_http_open(const struct kubeconfig *cfg, const struct http_loop_options *opt,
			struct transport **ret, struct err *err)
{
	struct http_loop_options loop_opt = *opt;
	CLEANUP(xmalloc_freep) char *token = NULL;
	struct transport_http *h;
	struct http_loop *loop;
	int r;

	if (cfg->token_file != NULL) {
		r = read_token(cfg->token_file, &token, err);
		if (r < 0) {
			return r;
		}
	} else if (cfg->token != NULL) {
		token = xmalloc_dup(cfg->token);
	}
	loop_opt.tls = &cfg->tls;
	loop_opt.proxy = cfg->proxy_url;
	loop_opt.headers = (const char *const *)cfg->headers.v;
	r = http_loop_start(&loop_opt, &loop, err);
	if (r < 0) {
		return r;
	}
	h = xmalloc_zero(1, sizeof(*h));
	h->base.ops = &ops;
	h->loop = loop;
	h->server = xmalloc_dup(cfg->server);
	h->token = take_ptr(&token);
	pthread_mutex_init(&h->lock, NULL);
	list_init(&h->waiting);
	list_init(&h->orphans);
	if (cfg->token_file != NULL) {
		h->token_file = xmalloc_dup(cfg->token_file);
		call(&h->base, TOKEN_RELOAD_NS, reload_token, h);
	}
	*ret = &h->base;
	return 0;
}

int transport_http_create(const struct kubeconfig *cfg, const char *user_agent,
			  struct transport **ret, struct err *err)
{
	const struct http_loop_options opt = { .user_agent = user_agent };

	return transport_http_open(cfg, &opt, ret, err);
}
