#include "apiserver/conformance/replay_hook.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/admission.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/ca.h"
#include "certs/leaf.h"
#include "enc/json/jdoc.h"
#include "net/http_server.h"

struct replay_hook {
	struct http_server *server;
	struct pair ca, leaf;
	char *url;
	pthread_mutex_t lock;
	struct jdoc *reviews; /* guarded by lock */
};

static void note(struct replay_hook *h, const struct http_request *req)
{
	CLEANUP(jdoc_destroyp) struct jdoc *doc = NULL;

	if (jdoc_parse(req->body, &doc, NULL) < 0 || jdoc_kind(doc) != JDOC_OBJECT) {
		return;
	}
	jdoc_set_take(doc, "at", jdoc_new_str_n(req->path));
	pthread_mutex_lock(&h->lock);
	jdoc_append_take(h->reviews, take_ptr(&doc));
	pthread_mutex_unlock(&h->lock);
}

static void decide(struct str path, struct api_admission_response *a)
{
	static const char *const warning[] = { "mind the gap" };

	a->allowed = true;
	if (str_eq_c(path, "/deny")) {
		a->allowed = false;
		a->code = 403;
		a->reason = "Forbidden";
		a->message = "denied by test";
	} else if (str_eq_c(path, "/label")) {
		a->patch = STR_LIT(
			"[{\"op\":\"add\",\"path\":\"/metadata/labels\",\"value\":{\"touched\":"
			"\"yes\"}}]");
	} else if (str_eq_c(path, "/warn")) {
		a->warnings = (struct field_strs){ warning, 1 };
	} else if (str_eq_c(path, "/stranger")) {
		a->uid = "another";
	}
}

static void on_request(void *ctx, const struct http_request *req, struct arena *arena,
		       struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct api_admission_request in;
	struct api_admission_response out = { 0 };

	note(ctx, req);
	if (str_eq_c(req->path, "/break") || admission_parse(req->body, arena, &in, NULL) < 0) {
		ret->status = 500;
		ret->body = STR_LIT("broken");
		return;
	}
	out.uid = in.uid;
	decide(req->path, &out);
	admission_format_response(&out, &text);
	ret->status = 200;
	ret->body = arena_str(arena, strbuf_str(&text));
}

static int start(struct replay_hook *h, struct err *err)
{
	static const char *const ips[] = { "127.0.0.1" };
	const int64_t now = clock_wall(clock_real());
	const struct ca_options ca = { .now_ns = now };
	const struct leaf_options leaf = {
		.ca = &h->ca, .ip = ips, .ip_count = ARRAY_LEN(ips), .now_ns = now
	};
	struct http_server_options opt = { .address = "127.0.0.1",
					   .request_timeout_s = 600,
					   .idle_timeout_s = 600,
					   .handler = on_request,
					   .ctx = h };
	int r = ca_create(&ca, &h->ca, err);

	r = r < 0 ? r : leaf_create(&leaf, &h->leaf, err);
	opt.tls_cert = strbuf_str(&h->leaf.cert);
	opt.tls_key = strbuf_str(&h->leaf.key);
	return r < 0 ? r : http_server_start(&opt, &h->server, err);
}

int replay_hook_start(struct replay_hook **ret, struct err *err)
{
	struct replay_hook *h = xmalloc_zero(1, sizeof(*h));
	int r;

	pair_init(&h->ca);
	pair_init(&h->leaf);
	pthread_mutex_init(&h->lock, NULL);
	h->reviews = jdoc_new_array();
	r = start(h, err);
	if (r < 0) {
		replay_hook_stop(h);
		return r;
	}
	h->url = xmalloc_printf("https://127.0.0.1:%u", http_server_port(h->server));
	*ret = h;
	return 0;
}

void replay_hook_stop(struct replay_hook *h)
{
	if (h == NULL) {
		return;
	}
	if (h->server != NULL) {
		http_server_stop(h->server, 0);
		http_server_destroy(h->server);
	}
	pair_finish(&h->ca);
	pair_finish(&h->leaf);
	pthread_mutex_destroy(&h->lock);
	jdoc_destroy(h->reviews);
	free(h->url);
	free(h);
}

const char *replay_hook_url(struct replay_hook *h)
{
	return h->url;
}

struct str replay_hook_ca(struct replay_hook *h)
{
	return strbuf_str(&h->ca.cert);
}

struct jdoc *replay_hook_take(struct replay_hook *h)
{
	struct jdoc *taken;

	pthread_mutex_lock(&h->lock);
	taken = h->reviews;
	h->reviews = jdoc_new_array();
	pthread_mutex_unlock(&h->lock);
	return taken;
}
