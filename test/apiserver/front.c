#include "apiserver/front.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "apiserver/reviewer.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "net/http_server.h"

#define TICK_NS (CLOCK_NS_PER_S / 4)
#define STREAM_BATCH ((size_t)256 << 10)
#define DEBUG_PREFIX "/debug/"

struct front {
	const struct clock *clock;
	struct apiserver *core; /* guarded by lock */
	pthread_mutex_t lock;
	int64_t last_now;  /* guarded by lock */
	int64_t locked_rv; /* version when front_lock was called, guarded by lock */
	struct reviewer *reviewer;
	_Atomic(struct http_server *)
		server; /* NULL while it starts: requests may come in before that */
	char *url;
	struct VEC(char *) tokens;
	pthread_t ticker;
	bool ticker_runs;
	pthread_mutex_t tick_lock;
	pthread_cond_t tick_changed;
	bool stopping; /* guarded by tick_lock */
};

struct stream {
	struct http_stream http;
	struct front *front;
	struct apiserver_watch *watch; /* guarded by the front's lock */
};

/* The core wants time that never goes back. */
static int64_t now_locked(struct front *f)
{
	int64_t now = clock_wall(f->clock);

	if (now < f->last_now) {
		now = f->last_now;
	}
	f->last_now = now;
	return now;
}

static void wake(struct front *f)
{
	struct http_server *server = atomic_load(&f->server);

	if (server != NULL) {
		http_server_wake(server);
	}
}

struct apiserver *front_lock(struct front *f, int64_t *ret_now)
{
	pthread_mutex_lock(&f->lock);
	f->locked_rv = apiserver_version(f->core);
	if (ret_now != NULL) {
		*ret_now = now_locked(f);
	}
	return f->core;
}

void front_unlock(struct front *f)
{
	bool changed = apiserver_version(f->core) != f->locked_rv;

	pthread_mutex_unlock(&f->lock);
	if (changed) {
		wake(f);
	}
}

static bool stream_next(void *ctx, struct strbuf *out)
{
	struct stream *s = ctx;
	int64_t now;
	int r = 1;

	pthread_mutex_lock(&s->front->lock);
	now = now_locked(s->front);
	while (r > 0 && out->len < STREAM_BATCH) {
		r = apiserver_watch_next(s->watch, now, out);
	}
	pthread_mutex_unlock(&s->front->lock);
	return r >= 0;
}

static void stream_close(void *ctx)
{
	struct stream *s = ctx;

	pthread_mutex_lock(&s->front->lock);
	apiserver_watch_close(s->watch);
	pthread_mutex_unlock(&s->front->lock);
}

static bool is_allowed(const struct front *f, struct str authorization)
{
	static const char scheme[] = "Bearer ";

	if (f->tokens.n == 0) {
		return true;
	}
	if (!str_has_prefix(authorization, scheme)) {
		return false;
	}
	authorization.p += sizeof(scheme) - 1;
	authorization.len -= sizeof(scheme) - 1;
	for (size_t i = 0; i < f->tokens.n; i++) {
		if (str_eq_c(authorization, f->tokens.v[i])) {
			return true;
		}
	}
	return false;
}

static bool is_public(struct str path)
{
	return str_eq_c(path, "/healthz") || str_eq_c(path, "/livez") ||
	       str_eq_c(path, "/readyz") || str_eq_c(path, "/version");
}

/* A scripted delay; ends early when the front stops. */
static void wait_until(struct front *f, int64_t ns)
{
	struct timespec until;
	bool late = false;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ns / CLOCK_NS_PER_S;
	until.tv_nsec += ns % CLOCK_NS_PER_S;
	if (until.tv_nsec >= CLOCK_NS_PER_S) {
		until.tv_sec++;
		until.tv_nsec -= CLOCK_NS_PER_S;
	}
	pthread_mutex_lock(&f->tick_lock);
	while (!f->stopping && !late) {
		late = pthread_cond_timedwait(&f->tick_changed, &f->tick_lock, &until) != 0;
	}
	pthread_mutex_unlock(&f->tick_lock);
}

static void fill(struct front *f, const struct apiserver_response *resp, struct arena *arena,
		 struct http_response *ret)
{
	ret->status = resp->status;
	ret->content_type = resp->content_type;
	ret->retry_after_s = resp->retry_after_s;
	ret->body = arena_str(arena, strbuf_str(&resp->body));
	if (resp->warning.len > 0) {
		ret->warning = arena_dup(arena, resp->warning.p);
	}
	if (resp->watch != NULL) {
		struct stream *s = arena_zero(arena, 1, sizeof(*s));

		s->front = f;
		s->watch = resp->watch;
		s->http = (struct http_stream){ stream_next, stream_close, s };
		ret->stream = &s->http;
	}
}

/* Requests of tests that are not part of the API, see front.h. */
static void debug(struct front *f, const struct http_request *req, struct arena *arena,
		  struct http_response *ret)
{
	struct str what = { req->path.p + sizeof(DEBUG_PREFIX) - 1,
			    req->path.len - (sizeof(DEBUG_PREFIX) - 1) };
	struct err err = ERR_INIT;

	ret->status = 200;
	ret->body = STR_LIT("{}");
	pthread_mutex_lock(&f->lock);
	if (str_eq_c(what, "faults") && req->method == HTTP_PUT) {
		if (apiserver_set_faults(f->core, req->body, &err) < 0) {
			ret->status = 400;
		}
	} else if (str_eq_c(what, "faults") && req->method == HTTP_GET) {
		CLEANUP(strbuf_finish) struct strbuf kind = STRBUF_INIT;

		(void)http_query_get(req->query, "kind", &kind);
		ret->body = str_of(
			arena_printf(arena, "{\"struck\":%llu}",
				     (unsigned long long)apiserver_fault_count(f->core, kind.p)));
	} else if (str_eq_c(what, "compact") && req->method == HTTP_POST) {
		apiserver_compact(f->core);
	} else {
		ret->status = 404;
	}
	pthread_mutex_unlock(&f->lock);
	if (ret->status != 200) {
		ret->body = str_of(arena_printf(arena,
						"{\"kind\":\"Status\",\"code\":%d,"
						"\"message\":\"%s\"}",
						ret->status,
						ret->status == 404 ? "not found" : "bad script"));
	}
}

static void on_request(void *ctx, const struct http_request *req, struct arena *arena,
		       struct http_response *ret)
{
	struct front *f = ctx;
	struct apiserver_response resp = APISERVER_RESPONSE_INIT;
	bool changed;
	int64_t before;

	if (!is_allowed(f, req->authorization) && !is_public(req->path)) {
		ret->status = 401;
		ret->body = STR_LIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
				    "\"status\":\"Failure\",\"message\":\"Unauthorized\","
				    "\"reason\":\"Unauthorized\",\"code\":401}");
		return;
	}
	if (str_has_prefix(req->path, DEBUG_PREFIX)) {
		debug(f, req, arena, ret);
		return;
	}
	pthread_mutex_lock(&f->lock);
	before = apiserver_version(f->core);
	apiserver_handle(f->core, req, now_locked(f), &resp);
	changed = apiserver_version(f->core) != before;
	pthread_mutex_unlock(&f->lock);
	if (changed) {
		wake(f);
	}
	if (resp.delay_ns > 0) {
		wait_until(f, resp.delay_ns);
	}
	fill(f, &resp, arena, ret);
	apiserver_response_finish(&resp);
}

/* The core calls this with its lock held; the webhook may call us back while we wait. */
static int review(void *ctx, const struct apiserver_review *call, struct strbuf *out,
		  struct err *err)
{
	struct front *f = ctx;
	int r;

	pthread_mutex_unlock(&f->lock);
	r = reviewer_call(f->reviewer, call, out, err);
	pthread_mutex_lock(&f->lock);
	return r;
}

static void *tick(void *ctx)
{
	struct front *f = ctx;

	for (;;) {
		bool stopping;

		wait_until(f, TICK_NS);
		pthread_mutex_lock(&f->tick_lock);
		stopping = f->stopping;
		pthread_mutex_unlock(&f->tick_lock);
		if (stopping) {
			return NULL;
		}
		pthread_mutex_lock(&f->lock);
		apiserver_tick(f->core, now_locked(f));
		pthread_mutex_unlock(&f->lock);
		wake(f);
	}
}

static struct front *create(const struct front_options *opt)
{
	struct front *f = xmalloc_zero(1, sizeof(*f));
	struct apiserver_options core = opt->core;
	pthread_condattr_t attr;

	f->clock = opt->clock != NULL ? opt->clock : clock_real();
	pthread_mutex_init(&f->lock, NULL);
	pthread_mutex_init(&f->tick_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&f->tick_changed, &attr);
	pthread_condattr_destroy(&attr);
	for (size_t i = 0; opt->tokens != NULL && opt->tokens[i] != NULL; i++) {
		vec_push(&f->tokens, xmalloc_dup(opt->tokens[i]));
	}
	f->reviewer = reviewer_create();
	core.now = now_locked(f);
	core.review = review;
	core.review_ctx = f;
	f->core = apiserver_create(&core);
	return f;
}

int front_start(const struct front_options *opt, struct front **ret, struct err *err)
{
	struct front *f = create(opt);
	const char *address = opt->address != NULL ? opt->address : "127.0.0.1";
	const struct http_server_options http = {
		.address = address,
		.port = opt->port,
		/* A webhook may call us while a call-out to it holds a request up. */
		.thread_per_connection = true,
		.max_connections = opt->max_connections,
		.max_body = APISERVER_MAX_BODY,
		/* Scripted faults cut connections, not a machine that is busy. */
		.request_timeout_s = 600,
		.idle_timeout_s = 600,
		.tls_cert = opt->cert,
		.tls_key = opt->key,
		.handler = on_request,
		.ctx = f,
	};
	struct http_server *server = NULL;
	int r = http_server_start(&http, &server, err);

	if (r < 0) {
		front_destroy(f, 0);
		return r;
	}
	atomic_store(&f->server, server);
	f->url = xmalloc_printf("%s://%s:%u", opt->cert.p != NULL ? "https" : "http",
				address[0] == '\0' ? "127.0.0.1" : address,
				http_server_port(server));
	if (pthread_create(&f->ticker, NULL, tick, f) != 0) {
		front_destroy(f, 0);
		return err_set(err, ERR_INTERNAL, "cannot start a thread");
	}
	f->ticker_runs = true;
	*ret = f;
	return 0;
}

void front_destroy(struct front *f, int64_t grace_ms)
{
	if (f == NULL) {
		return;
	}
	pthread_mutex_lock(&f->tick_lock);
	f->stopping = true;
	pthread_cond_broadcast(&f->tick_changed);
	pthread_mutex_unlock(&f->tick_lock);
	if (f->ticker_runs) {
		pthread_join(f->ticker, NULL);
	}
	if (f->server != NULL) {
		http_server_stop(f->server, grace_ms);
		http_server_destroy(f->server);
	}
	reviewer_destroy(f->reviewer);
	apiserver_destroy(f->core);
	for (size_t i = 0; i < f->tokens.n; i++) {
		free(f->tokens.v[i]);
	}
	vec_finish(&f->tokens);
	pthread_cond_destroy(&f->tick_changed);
	pthread_mutex_destroy(&f->tick_lock);
	pthread_mutex_destroy(&f->lock);
	free(f->url);
	free(f);
}

uint16_t front_port(const struct front *f)
{
	return http_server_port(f->server);
}

const char *front_url(const struct front *f)
{
	return f->url;
}
