/* Parts start in the order of the table below and stop in reverse:
 * 1. Basics: the registry of metrics and the checks of health, in which all others enter theirs.
 * 2. The certificate before the client: the manager of certificates uses the client, too, and
 *    must be there when it starts.
 * 3. The routes before the client: the kinds that are served decide what is watched.
 * 4. The health server before the admission server, which first waits for lists and certificate:
 *    meanwhile probes are answered, and say what is missing.
 * 5. The admission server last: its port opens when reviews can be decided, or after a while. */
#include "webhook/main/webhook_app.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"
#include "obs/exposition.h"
#include "obs/health.h"
#include "obs/metric.h"
#include "process/log.h"
#include "process/signals.h"
#include "webhook/certs/certs_manager.h"
#include "webhook/certs/webhook_cert.h"
#include "webhook/main/webhook_options.h"
#include "webhook/server/lister.h"
#include "webhook/server/router.h"

#define APP_MAX_BODY ((size_t)8 << 20) /* an UPDATE brings the object twice, 3 MiB each at most */
/* Memory for request bodies, out of the chart's limit of 256 MiB: decoding may need a hundred MiB
 * on each of two threads, and connections and the lister need some. */
#define APP_MAX_BODIES ((size_t)32 << 20)
#define APP_REQUEST_S 10 /* the API server does not wait longer by default */
#define APP_IDLE_S 120
#define APP_CONNECTIONS 4000
#define APP_SYNC_NS (30 * CLOCK_NS_PER_S)
#define APP_SYNC_POLL_MS 10
#define APP_FIRST_CERT_NS (60 * CLOCK_NS_PER_S) /* a dead replica's Lease must run out first */
#define APP_CERT_POLL_MS 10000                  /* in case an event was missed */

struct app {
	const struct webhook_options *o;
	int signal_fd;
	atomic_bool draining;
	struct metric_registry *registry;
	struct health *health;
	struct kubeconfig *kube;     /* NULL: offline */
	struct certs_manager *certs; /* NULL: certificates come from files */
	struct webhook_cert *cert;
	struct lister *lister;
	struct router *router;
	struct transport *transport;
	struct http_server *server, *health_server;
};

static bool is_synced(void *ctx, char *detail, size_t detail_size)
{
	const struct app *a = ctx;

	if (lister_is_synced(a->lister)) {
		return true;
	}
	snprintf(detail, detail_size, "the first lists of queues and namespaces are not complete");
	return false;
}

/* A warning only: a stale replica still answers, which is better than no answer. */
static bool warn_stale(void *ctx, char *detail, size_t detail_size)
{
	struct app *a = ctx;
	int64_t since, now = clock_mono(clock_real());
	const char *name = lister_stale_since(a->lister, now, &since);

	if (name != NULL) {
		snprintf(detail, detail_size, "%s: no contact with the API server for %lld s", name,
			 (long long)((now - since) / CLOCK_NS_PER_S));
	}
	return true;
}

static bool is_staying(void *ctx, char *detail, size_t detail_size)
{
	struct app *a = ctx;

	if (!atomic_load(&a->draining)) {
		return true;
	}
	snprintf(detail, detail_size, "shutting down");
	return false;
}

static int start_basics(struct app *a, struct err *err)
{
	(void)err;
	a->registry = metric_registry_create();
	a->lister = lister_create(a->registry);
	a->health = health_create();
	health_add_ready(a->health, "informer-sync", is_synced, a);
	health_add_ready(a->health, "watch", warn_stale, a);
	health_add_ready(a->health, "shutdown", is_staying, a);
	return 0;
}

static void stop_basics(struct app *a)
{
	health_destroy(a->health);
	lister_destroy(a->lister);
	metric_registry_destroy(a->registry);
}

static int start_kubeconfig(struct app *a, struct err *err)
{
	const struct kubeconfig_options opt = { .path = a->o->daemon.kubeconfig,
						.server = a->o->daemon.master };
	int r = a->o->offline ? 0 : kubeconfig_load(&opt, &a->kube, err);

	if (r == 0 && a->kube != NULL) {
		kubeconfig_log_warnings(a->kube);
	}
	return r;
}

static void stop_kubeconfig(struct app *a)
{
	kubeconfig_destroy(a->kube);
}

static int start_certs_manager(struct app *a, struct err *err)
{
	const struct webhook_options *o = a->o;
	char host[256] = "headgate", uuid[37];
	CLEANUP(xmalloc_freep) char *identity = NULL;
	struct certs_manager_options mo = {
		.namespace_ =
			o->webhook_namespace != NULL ? o->webhook_namespace : a->kube->namespace_,
		.secret = o->cert_secret,
		.lease = o->cert_lease,
		.service = o->webhook_service,
		.url = o->webhook_url,
		.selector = o->cert_selector,
		.ca_ns = o->cert_ca_ns,
		.leaf_ns = o->cert_leaf_ns,
		.spread_ns = o->cert_spread_ns,
		.registry = a->registry,
		.seed = rng_entropy(),
	};
	struct rng rng;

	/* A container that is restarted keeps its host name. With the uuid it is another
	 * candidate, and does not take the Lease of its former self for its own. */
	(void)gethostname(host, sizeof(host) - 1);
	rng_init(&rng, rng_entropy());
	rng_uuid(&rng, uuid);
	identity = xmalloc_printf("%s_%s", host, uuid);
	mo.identity = identity;
	return certs_manager_create(&mo, &a->certs, err);
}

static int start_cert(struct app *a, struct err *err)
{
	int r;

	if (a->o->cert_mode == WEBHOOK_OPTIONS_SECRET) {
		r = start_certs_manager(a, err);
		a->cert = r == 0 ? webhook_cert_of(a->certs, a->registry) : NULL;
	} else {
		r = webhook_cert_open(a->o->tls_cert_file, a->o->tls_key_file, a->registry,
				      &a->cert, err);
	}
	if (r == 0) {
		health_add_ready(a->health, "certificate", webhook_cert_is_valid, a->cert);
	}
	return r;
}

/* Runs after the client has stopped. */
static void stop_cert(struct app *a)
{
	webhook_cert_close(a->cert);
	certs_manager_destroy(a->certs);
}

static int start_router(struct app *a, struct err *err)
{
	struct router_options opt = {
		.admit = { .scheduler_names = a->o->daemon.scheduler_names.v,
			   .scheduler_count = a->o->daemon.scheduler_names.n,
			   .gate_schedulers = a->o->daemon.gate_schedulers.v,
			   .gate_scheduler_count = a->o->daemon.gate_schedulers.n,
			   .gate_feature = a->o->daemon.gates.queue_admission,
			   .gate_sticky = a->o->gate_sticky,
			   .max_queue_depth = (unsigned)a->o->max_queue_depth,
			   .queue_allocated_pods_check = a->o->queue_allocated_pods_check,
			   .root_queue_protection = a->o->root_queue_protection,
			   .manage_jobs_without_queue = a->o->manage_jobs_without_queue,
			   .integrations = a->o->integrations,
			   .integration_users = a->o->integration_users },
		.lister = a->lister,
		.registry = a->registry,
		.enabled = a->o->enabled_admission,
	};
	int r = router_create(&opt, &a->router, err);

	return r < 0 ? err_wrap(err, "--enabled-admission") : 0;
}

static void stop_router(struct app *a)
{
	router_destroy(a->router);
}

/* Without an API server (--offline) there is no client: reviews are decided without queues. */
static int start_transport(struct app *a, struct err *err)
{
	int r;

	if (a->kube == NULL) {
		return 0;
	}
	r = transport_http_create(a->kube, "headgate-webhook", &a->transport, err);
	if (r < 0) {
		return r;
	}
	if (router_serves_quota(a->router)) {
		lister_follow_quota(a->lister);
	}
	lister_connect(a->lister, a->transport, clock_real());
	if (a->certs != NULL) {
		certs_manager_connect(a->certs, a->transport, clock_real());
	}
	return 0;
}

static void stop_transport(struct app *a)
{
	if (a->certs != NULL) {
		/* Needs the transport: the Lease is released by a request. */
		certs_manager_leave(a->certs);
	}
	transport_destroy(a->transport);
}

static void handle_health(void *ctx, const struct http_request *req, struct arena *arena,
			  struct http_response *ret)
{
	const struct app *a = ctx;

	if (health_handle(a->health, req, arena, ret) ||
	    exposition_handle(a->registry, a->o->daemon.metrics_token, req, arena, ret)) {
		return;
	}
	ret->status = 404;
	ret->content_type = "text/plain; charset=utf-8";
	ret->body = STR_LIT("no such path\n");
}

static int start_health_server(struct app *a, struct err *err)
{
	struct http_server_options opt = health_server_options(handle_health, a);
	int r;

	if (!a->o->enable_healthz) {
		return 0;
	}
	opt.address = a->o->healthz.host;
	opt.port = a->o->healthz.port;
	r = exposition_check_token(a->o->daemon.metrics_token, err);
	if (r < 0) {
		return r;
	}
	r = http_server_start(&opt, &a->health_server, err);
	if (r < 0) {
		return err_wrap(err, "--healthz-address");
	}
	log_info("serving health and metrics", LOG_INT("port", http_server_port(a->health_server)));
	return 0;
}

static void stop_health_server(struct app *a)
{
	http_server_destroy(a->health_server);
}

/* Opens the port only when reviews can be decided: before, a caller is better served by another
 * replica. Gives up after a while, so that the refusals at least name what is missing. */
static void await_sync(const struct app *a)
{
	struct pollfd fd = { .fd = a->signal_fd, .events = POLLIN };
	int64_t end = clock_mono(clock_real()) + APP_SYNC_NS;

	while (!lister_is_synced(a->lister) && clock_mono(clock_real()) < end) {
		if (poll(&fd, 1, APP_SYNC_POLL_MS) > 0) {
			return;
		}
	}
}

/* The server needs a certificate: TLS is not optional. */
static int await_cert(const struct app *a, struct err *err)
{
	struct pollfd fds[] = { { .fd = a->signal_fd, .events = POLLIN },
				{ .fd = webhook_cert_fd(a->cert), .events = POLLIN } };
	int64_t end = clock_mono(clock_real()) + APP_FIRST_CERT_NS;

	while (webhook_cert_pair(a->cert)->cert.len == 0) {
		int64_t left = end - clock_mono(clock_real());

		if (left <= 0) {
			return err_set(err, ERR_TIMEOUT, "the Secret %s contains no certificate",
				       a->o->cert_secret);
		}
		/* Rounded up: a wait of 0 ms would spin during the last millisecond. */
		(void)poll(fds, ARRAY_LEN(fds), (int)(left / CLOCK_NS_PER_MS) + 1);
		if ((fds[0].revents & POLLIN) != 0) {
			return err_set(err, ERR_CANCELLED,
				       "stopped before there was a certificate");
		}
		(void)webhook_cert_reload(a->cert, NULL);
	}
	return 0;
}

static int start_server(struct app *a, struct err *err)
{
	const struct pair *pair = webhook_cert_pair(a->cert);
	struct http_server_options opt = { .address = a->o->listen_address,
					   .port = (uint16_t)a->o->port,
					   .threads = (unsigned)a->o->threads,
					   .max_connections = APP_CONNECTIONS,
					   .max_body = APP_MAX_BODY,
					   .max_bodies = APP_MAX_BODIES,
					   .request_timeout_s = APP_REQUEST_S,
					   .idle_timeout_s = APP_IDLE_S,
					   .handler = router_handle,
					   .ctx = a->router };
	int r;

	await_sync(a);
	r = await_cert(a, err);
	if (r < 0) {
		return r;
	}
	opt.tls_cert = strbuf_str(&pair->cert);
	opt.tls_key = strbuf_str(&pair->key);
	r = http_server_start(&opt, &a->server, err);
	if (r == 0) {
		log_info("serving admission", LOG_INT("port", http_server_port(a->server)));
	}
	return r;
}

/* 1. The server takes no more connections, and answers what it has. Requests that wait for a
 *    look-up still get it, since the transport runs on.
 * 2. Look-ups end, so that none wakes the server any more.
 * 3. The server goes. */
static void stop_server(struct app *a)
{
	http_server_stop(a->server, a->o->grace_ns / CLOCK_NS_PER_MS);
	lister_stop_lookups(a->lister);
	http_server_destroy(a->server);
}

static const struct part {
	const char *name;
	int exit_code; /* when it does not start */
	int (*start)(struct app *a, struct err *err);
	void (*stop)(struct app *a);
} parts[] = {
	{ "basics", 1, start_basics, stop_basics },
	{ "kubeconfig", 2, start_kubeconfig, stop_kubeconfig },
	{ "certificate", 2, start_cert, stop_cert },
	{ "routes", 2, start_router, stop_router },
	{ "API server client", 2, start_transport, stop_transport },
	{ "health server", 1, start_health_server, stop_health_server },
	{ "admission server", 1, start_server, stop_server },
};

/* Waits for a signal to stop, or until until_ns; meanwhile reloads certificates, also without an
 * event of their source, which may be missed. */
static void serve(struct app *a, int64_t until_ns)
{
	struct pollfd fds[] = { { .fd = a->signal_fd, .events = POLLIN },
				{ .fd = webhook_cert_fd(a->cert), .events = POLLIN } };

	for (;;) {
		int64_t left =
			until_ns == CLOCK_NEVER ? CLOCK_NEVER : until_ns - clock_mono(clock_real());
		int64_t wait = left / CLOCK_NS_PER_MS + 1;
		int sig;

		if (left <= 0) {
			return;
		}
		(void)poll(fds, ARRAY_LEN(fds),
			   wait < APP_CERT_POLL_MS ? (int)wait : APP_CERT_POLL_MS);
		sig = signals_next(a->signal_fd, 0);
		if (sig == SIGTERM || sig == SIGINT) {
			return;
		}
		(void)webhook_cert_reload(a->cert, a->server);
	}
}

/* 1. The parts start; when one fails, those before it stop again.
 * 2. Reviews are served until SIGTERM or SIGINT.
 * 3. /readyz fails, and reviews are still served for the delay: Services and API servers go on
 *    sending until they have noticed. A second signal ends the delay.
 * 4. The parts stop. */
int webhook_app_run(const struct webhook_options *o, int signal_fd)
{
	struct app a = { .o = o, .signal_fd = signal_fd };
	struct err err = ERR_INIT;
	size_t started = 0;
	int code = 0;

	daemon_flags_configure_log(&o->daemon);
	if (o->offline) {
		log_warn("running without an API server: namespaces and queues are not known");
	}
	while (started < ARRAY_LEN(parts)) {
		if (parts[started].start(&a, &err) < 0) {
			log_error("cannot start", LOG_STR("part", parts[started].name),
				  LOG_STR("error", err.text));
			code = parts[started].exit_code;
			break;
		}
		started++;
	}
	if (code == 0) {
		serve(&a, CLOCK_NEVER);
		log_info("shutting down");
		atomic_store(&a.draining, true);
		if (o->delay_ns > 0) {
			serve(&a, clock_mono(clock_real()) + o->delay_ns);
		}
	}
	while (started > 0) {
		parts[--started].stop(&a);
	}
	return code;
}
