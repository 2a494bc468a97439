#include "scheduler/app/endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "net/http_server.h"
#include "obs/exposition.h"
#include "obs/health.h"
#include "process/log.h"
#include "scheduler/base/engine_state.h"
#include "scheduler/pods/engine/foreign.h"

struct endpoints {
	const char *metrics_token;
	struct metric_registry *counters;
	const struct engine_state *state;
	struct foreign *foreign;
	const char *(*stale)(void *ctx, int64_t now, int64_t *ret_since);
	void *ctx;
	const struct clock *clock;
	struct health *health;
	struct http_server *servers[2];
};

static bool check_cycle(void *ctx, char *detail, size_t size)
{
	const struct endpoints *e = ctx;
	int64_t now = clock_mono(e->clock);
	int64_t beat = atomic_load(&e->state->heartbeat),
		since = atomic_load(&e->state->cycle_since);

	/* Two ways to be stuck: within a cycle, or before the next one begins. */
	if (since != 0 && now - since > ENDPOINTS_STUCK_NS) {
		snprintf(detail, size, "a cycle runs for %lld s",
			 (long long)((now - since) / CLOCK_NS_PER_S));
		return false;
	}
	/* 0: the thread has not begun. */
	if (beat != 0 && now - beat > ENDPOINTS_STUCK_NS) {
		snprintf(detail, size, "sched thread silent for %lld s",
			 (long long)((now - beat) / CLOCK_NS_PER_S));
		return false;
	}
	return true;
}

static bool check_synced(void *ctx, char *detail, size_t size)
{
	const struct endpoints *e = ctx;

	/* Asked of the leader alone: a rollout does not wait for the lists of a standby. */
	if (!atomic_load(&e->state->leading) || atomic_load(&e->state->synced)) {
		return true;
	}
	snprintf(detail, size, "first lists are not complete");
	return false;
}

static bool check_watch(void *ctx, char *detail, size_t size)
{
	const struct endpoints *e = ctx;
	int64_t now = clock_mono(e->clock), since = 0;
	const char *resource = e->stale(e->ctx, now, &since);

	if (resource == NULL) {
		return true;
	}
	snprintf(detail, size, "%s: no contact with the API server for %lld s", resource,
		 (long long)((now - since) / CLOCK_NS_PER_S));
	return false;
}

static bool check_quota_plugin(void *ctx, char *detail, size_t size)
{
	const struct endpoints *e = ctx;

	if (!atomic_load(&e->state->leading) || !atomic_load(&e->state->synced) ||
	    atomic_load(&e->state->has_quota_plugin)) {
		return true;
	}
	snprintf(detail, size, "no quota plugin (capacity) is configured: no gate is removed");
	return false;
}

static bool check_foreign(void *ctx, char *detail, size_t size)
{
	const struct endpoints *e = ctx;

	/* It never fails: another scheduler at work is shown here, and makes this one not less
	 * ready. */
	(void)foreign_describe(e->foreign, detail, size);
	return true;
}

/* On the thread of the server: it reads atomics, the registry and the texts of checks, never the
 * data of the engine. */
static void on_request(void *ctx, const struct http_request *req, struct arena *arena,
		       struct http_response *ret)
{
	struct endpoints *e = ctx;

	if (health_handle(e->health, req, arena, ret) ||
	    exposition_handle(e->counters, e->metrics_token, req, arena, ret)) {
		return;
	}
	ret->status = 404;
	ret->content_type = "text/plain";
	ret->body = STR_LIT("not found\n");
}

static int serve(struct endpoints *e, const char *address, struct http_server **ret,
		 struct err *err)
{
	const char *colon = strrchr(address, ':');
	CLEANUP(xmalloc_freep) char *host = NULL;
	struct http_server_options so = health_server_options(on_request, e);
	uint64_t port;
	int r;

	if (colon == NULL || !str_to_u64(str_of(colon + 1), &port) || port > UINT16_MAX) {
		return err_set(err, ERR_INVALID, "address \"%s\": expected HOST:PORT", address);
	}
	host = xmalloc_dup_n(address, (size_t)(colon - address));
	so.address = host;
	so.port = (uint16_t)port;
	r = http_server_start(&so, ret, err);
	if (r < 0) {
		return err_wrap(err, "address %s", address);
	}
	log_info("serving metrics and health", LOG_STR("host", host),
		 LOG_INT("port", http_server_port(*ret)));
	return 0;
}

int endpoints_start(const struct endpoints_options *opt, struct endpoints **ret, struct err *err)
{
	struct endpoints *e = xmalloc_zero(1, sizeof(*e));
	int r = 0;

	e->metrics_token = opt->metrics_token;
	e->counters = opt->counters;
	e->state = opt->state;
	e->foreign = opt->foreign;
	e->stale = opt->stale;
	e->ctx = opt->ctx;
	e->clock = opt->clock;
	e->health = health_create();
	health_add_live(e->health, "cycle", check_cycle, e);
	health_add_ready(e->health, "synced", check_synced, e);
	if (opt->stale != NULL) {
		health_add_ready(e->health, "watch", check_watch, e);
	}
	if (!opt->needs_no_plugin) {
		health_add_ready(e->health, "quota-plugin", check_quota_plugin, e);
	}
	if (opt->foreign != NULL) {
		health_add_ready(e->health, "foreign", check_foreign, e);
	}
	r = exposition_check_token(opt->metrics_token, err);
	if (r == 0 && opt->listen_address != NULL) {
		r = serve(e, opt->listen_address, &e->servers[0], err);
	}
	if (r == 0 && opt->healthz_address != NULL &&
	    !str_streq(opt->listen_address, opt->healthz_address)) {
		r = serve(e, opt->healthz_address, &e->servers[1], err);
	}
	if (r < 0) {
		endpoints_stop(e);
		return r;
	}
	*ret = e;
	return 0;
}

void endpoints_stop(struct endpoints *e)
{
	if (e == NULL) {
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(e->servers); i++) {
		if (e->servers[i] != NULL) {
			http_server_stop(e->servers[i], 1000);
			http_server_destroy(e->servers[i]);
		}
	}
	health_destroy(e->health);
	free(e);
}
