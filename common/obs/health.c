#include "obs/health.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"

#define HEALTH_DETAIL_MAX 1024

struct check {
	char *name;
	health_check_fn fn;
	void *ctx;
};

struct checks {
	struct VEC(struct check) list;
};

struct health {
	struct checks live, ready;
};

struct http_server_options health_server_options(http_handler_fn handler, void *ctx)
{
	return (struct http_server_options){ .threads = 1,
					     .max_connections = HEALTH_CONNECTIONS,
					     .max_per_address = HEALTH_CONNECTIONS_OF_ONE,
					     .cuts_longest_idle = true,
					     .request_timeout_s = HEALTH_IDLE_S,
					     .idle_timeout_s = HEALTH_IDLE_S,
					     .max_body = HEALTH_MAX_BODY,
					     .handler = handler,
					     .ctx = ctx };
}

static void checks_add(struct checks *c, const char *name, health_check_fn fn, void *ctx)
{
	struct check row = { .name = xmalloc_dup(name), .fn = fn, .ctx = ctx };

	vec_push(&c->list, row);
}

static void checks_finish(struct checks *c)
{
	for (size_t i = 0; i < c->list.n; i++) {
		free(c->list.v[i].name);
	}
	vec_finish(&c->list);
}

/* The answer itself shows that the process is alive. */
static bool ping(void *ctx, char *detail, size_t detail_size)
{
	(void)ctx;
	(void)detail;
	(void)detail_size;
	return true;
}

struct health *health_create(void)
{
	struct health *h = xmalloc_zero(1, sizeof(*h));

	checks_add(&h->live, "ping", ping, NULL);
	checks_add(&h->ready, "ping", ping, NULL);
	return h;
}

void health_destroy(struct health *h)
{
	if (h == NULL) {
		return;
	}
	checks_finish(&h->live);
	checks_finish(&h->ready);
	free(h);
}

void health_add_live(struct health *h, const char *name, health_check_fn fn, void *ctx)
{
	checks_add(&h->live, name, fn, ctx);
}

void health_add_ready(struct health *h, const char *name, health_check_fn fn, void *ctx)
{
	checks_add(&h->ready, name, fn, ctx);
}

static bool run_check(const struct check *c, struct strbuf *out)
{
	char detail[HEALTH_DETAIL_MAX] = "";
	bool ok = c->fn(c->ctx, detail, sizeof(detail));

	strbuf_printf(out, ok ? "[+]%s ok" : "[-]%s failed", c->name);
	strbuf_printf(out, "%s%s\n", detail[0] != '\0' ? ": " : "", detail);
	return ok;
}

static const struct check *find_check(const struct checks *c, struct str name)
{
	for (size_t i = 0; i < c->list.n; i++) {
		if (str_eq_c(name, c->list.v[i].name)) {
			return &c->list.v[i];
		}
	}
	return NULL;
}

static void answer(struct http_response *ret, struct arena *arena, int status, struct str body)
{
	ret->status = status;
	ret->content_type = "text/plain; charset=utf-8";
	ret->body = arena_str(arena, body);
}

static void answer_all(const struct checks *c, const char *name, bool verbose, struct arena *arena,
		       struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	bool ok = true;

	for (size_t i = 0; i < c->list.n; i++) {
		/* Every check runs, also after one that failed: the answer lists all of them. */
		ok = run_check(&c->list.v[i], &out) && ok;
	}
	strbuf_printf(&out, "%s check %s\n", name, ok ? "passed" : "failed");
	/* As kube-apiserver: "ok" alone unless ?verbose is given or a check has failed. */
	answer(ret, arena, ok ? 200 : 503, ok && !verbose ? STR_LIT("ok") : strbuf_str(&out));
}

static void answer_one(const struct checks *c, struct str name, struct arena *arena,
		       struct http_response *ret)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	const struct check *one = find_check(c, name);
	bool ok;

	if (one == NULL) {
		answer(ret, arena, 404, STR_LIT("no such check\n"));
		return;
	}
	ok = run_check(one, &out);
	answer(ret, arena, ok ? 200 : 503, ok ? STR_LIT("ok") : strbuf_str(&out));
}

bool health_handle(const struct health *h, const struct http_request *req, struct arena *arena,
		   struct http_response *ret)
{
	const struct {
		const char *name;
		const struct checks *checks;
	} routes[] = { { "healthz", &h->live }, { "livez", &h->live }, { "readyz", &h->ready } };
	CLEANUP(strbuf_finish) struct strbuf verbose = STRBUF_INIT;
	struct str rest = req->path;

	/* The path begins with a slash, so the part before it is empty. */
	if (str_next(&rest, '/').len != 0 || rest.p == NULL) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
		struct str below = rest;

		if (!str_eq_c(str_next(&below, '/'), routes[i].name)) {
			continue;
		}
		if (req->method != HTTP_GET && req->method != HTTP_HEAD) {
			answer(ret, arena, 405, STR_LIT("only GET is allowed\n"));
		} else if (below.len > 0) {
			answer_one(routes[i].checks, below, arena, ret);
		} else {
			answer_all(routes[i].checks, routes[i].name,
				   http_query_get(req->query, "verbose", &verbose), arena, ret);
		}
		return true;
	}
	return false;
}
