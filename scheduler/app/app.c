#include "scheduler/app/app.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "api/kinds.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/mpsc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/lease.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"
#include "obs/metric.h"
#include "process/dirwatch.h"
#include "process/file.h"
#include "process/log.h"
#include "process/signals.h"
#include "process/version.h"
#include "scheduler/app/app_conf.h"
#include "scheduler/app/endpoints.h"
#include "scheduler/app/engine.h"
#include "scheduler/app/options.h"
#include "scheduler/app/standby.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/base/message_json.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/multikueue/records/fleet_kinds.h"
#include "scheduler/multikueue/worker/custom_watch.h"
#include "scheduler/multikueue/worker_config.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/workloads/conf/kueue_conf.h"

/* A pod that comes alone is decided at once. In a stream of pods, their changes, answers and echoes
 * share cycles, each of which ranks all nodes, and their writes share wake-ups of the HTTP client
 * (docs/benchmarks.md, "Plain pods"). It may cost a pod of a stream this time at each step. */
#define MIN_CYCLE_INTERVAL_NS (50 * CLOCK_NS_PER_MS)
#define STOP_GRACE_NS (5 * CLOCK_NS_PER_S)
#define RELEASE_TIMEOUT_MS 3000

struct watch {
	struct app *app;
	enum sched_resource resource;
	struct reflector *reflector;
};

struct first_lists {
	uint64_t pages;
	int64_t stuck_at; /* monotonic ns, CLOCK_NEVER: not begun */
};

struct app {
	const struct sched_options *o;
	int signal_fd, wake_fd; /* wake_fd: wakes the main thread */
	struct dirwatch *conf_watch;
	uint64_t conf_hash; /* of the configuration file as last read */
	struct kubeconfig *kube;
	struct transport *watches, *requests;
	struct pool_limiter *limiter;
	struct metric_registry *counters;
	struct lease *lease;
	struct kueue_conf *kueue_conf; /* NULL: the Workload engine is off */
	struct engine *engine;         /* NULL: the fleet runs in its place, or neither was made */
	struct fleet *fleet;           /* with --controllers=multikueue or orchestrator */
	struct mpsc *queue;            /* messages to the sched thread */
	struct watch watch[SCHED_RESOURCE_COUNT_];
	unsigned nwatches;            /* number of watches in use */
	struct custom_watch *customs; /* NULL: the fleet's manager does not run */
	struct standby *standby;      /* sched thread; NULL: handed over to the engine */
	struct endpoints *endpoints;
	pthread_t sched;
	bool sched_runs;
	_Atomic bool lease_lost, released;
};

static bool is_manager(const struct app *a)
{
	return (a->o->controllers & OPTIONS_MULTIKUEUE) != 0;
}

static bool is_fleet(const struct app *a)
{
	return is_manager(a) || (a->o->controllers & OPTIONS_ORCHESTRATOR) != 0;
}

/* Names its Lease, unless a flag does, and its Events. */
static const char *component_of(const struct app *a)
{
	return is_manager(a) ? FLEET_MANAGER_NAME
	       : is_fleet(a) ? FLEET_NAME
			     : a->o->daemon.scheduler_names.v[0];
}

static void post(void *ctx, struct sched_msg *m)
{
	struct app *a = ctx;

	mpsc_push(a->queue, &m->node);
}

/* Asked before each send, and not only when a write is queued: the lease may be lost while it
 * waits. */
static bool may_send(void *ctx)
{
	const struct app *a = ctx;

	return a->lease == NULL || lease_may_send(a->lease);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *w = ctx;
	struct sched_msg *m = is_fleet(w->app)
				      ? fleet_kinds_message(is_manager(w->app), w->resource, event)
				      : message_decode_event(w->resource, event);

	if (m != NULL) {
		if (!is_fleet(w->app)) {
			message_json_lend(m, event->object);
		}
		post(w->app, m);
	}
}

static void wake_main(struct app *a)
{
	uint64_t one = 1;
	ssize_t n = write(a->wake_fd, &one, sizeof(one));

	(void)n; /* a full eventfd is readable already */
}

/* Transport thread of the watches. */
static void start_watches(void *ctx)
{
	struct app *a = ctx;

	if (atomic_load(&a->watches->stopping)) {
		return;
	}
	for (unsigned i = 0; i < a->nwatches; i++) {
		reflector_start(a->watch[i].reflector);
	}
	if (a->customs != NULL) {
		custom_watch_start(a->customs);
	}
}

/* Transport thread of the watches. */
static void refresh_watches(void *ctx)
{
	struct app *a = ctx;

	if (atomic_load(&a->watches->stopping)) {
		return;
	}
	for (unsigned i = 0; i < a->nwatches; i++) {
		reflector_refresh(a->watch[i].reflector);
	}
	if (a->customs != NULL) {
		custom_watch_refresh(a->customs);
	}
}

/* Transport thread of the requests (or main, without leader election). */
static void on_lease(void *ctx, bool held)
{
	struct app *a = ctx;
	struct sched_msg *m;
	int64_t wait;

	/* A process that lost the lease exits, and its cache is of the time before: if it gets the
	 * lease again meanwhile, the lease is released at the end as usual. */
	if (atomic_load(&a->lease_lost)) {
		return;
	}
	m = message_new(SCHED_MSG_LEASE);
	m->flag = held;
	m->not_before = a->lease == NULL ? 0 : lease_writes_from(a->lease);
	wait = m->not_before - clock_mono(clock_real());
	post(a, m);
	if (!held) {
		atomic_store(&a->lease_lost, true);
		wake_main(a);
		return;
	}
	log_info("leading", LOG_STR("scheduler", component_of(a)));
	/* The state read so far may be older than the lease and than the last write of its former
	 * holder. So everything is refreshed first; then the ledger is rebuilt, and writes may be
	 * sent. */
	transport_call(a->watches, wait > 0 ? wait : 0, refresh_watches, a);
}

static void to_engine(void *ctx, struct sched_msg *m)
{
	struct app *a = ctx;

	engine_handle(a->engine, m);
}

/* A standby keeps objects for the time when it leads. The fleet keeps what it needs by itself. */
static void handle(struct app *a, struct sched_msg *m)
{
	if (a->fleet != NULL) {
		fleet_handle(a->fleet, m);
	} else if (a->standby == NULL || !standby_take(a->standby, m)) {
		engine_handle(a->engine, m);
	} else if (standby_is_complete(a->standby)) {
		standby_hand_over(a->standby, to_engine, a);
		standby_destroy(a->standby);
		a->standby = NULL;
		(void)malloc_trim(0); /* the engine needs a tenth of what was kept */
	}
}

static void *sched_main(void *arg)
{
	struct app *a = arg;
	bool stop = false;

	while (!stop) {
		/* All messages that have come in are applied before the next cycle: it decides on
		 * the latest objects. */
		struct mpsc_node *n = mpsc_drain(a->queue);

		while (n != NULL) {
			struct sched_msg *m = CONTAINER_OF(n, struct sched_msg, node);

			n = n->next;
			stop |= m->kind == SCHED_MSG_STOP;
			handle(a, m);
		}
		if (!stop) {
			int64_t at =
				a->fleet == NULL ? engine_step(a->engine) : fleet_step(a->fleet);
			int64_t now = clock_mono(clock_real());

			if (at > now) {
				(void)mpsc_wait(a->queue, at - now);
			}
		}
	}
	return NULL;
}

/* One change of a file causes several events, as do changes of other files in its folder. */
static bool has_conf_changed(struct app *a)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	uint64_t hash = 0;

	if (file_read_all(a->o->scheduler_conf, CONF_MAX_BYTES, &text, NULL) == 0) {
		hash = str_hash(strbuf_str(&text));
	}
	if (hash == a->conf_hash) {
		return false;
	}
	a->conf_hash = hash;
	return true;
}

/* Reads and parses on the main thread; the sched thread gets the result, or the text of the error.
 */
static void reload_conf(struct app *a)
{
	struct sched_msg *m = message_new(SCHED_MSG_CONF);
	struct err err = ERR_INIT;

	if (app_conf_load(a->o, &m->conf, &err) < 0) {
		m->text = arena_dup(m->arena, err.text);
	}
	post(a, m);
}

/* Sched thread, between two cycles. The file is for its owner alone: it has objects of all tenants.
 */
static void write_dump(void *ctx, const char *part, struct str json)
{
	struct app *a = ctx;
	struct err err = ERR_INIT;
	char path[4096], when[CLOCK_RFC3339_MAX];

	clock_format_micro(clock_wall(clock_real()), when);
	snprintf(path, sizeof(path), "%s/headgate-%s-%s.json", a->o->cache_dump_dir, part, when);
	if (file_write_atomic(path, json, 0600, &err) < 0) {
		log_error("cluster not dumped", LOG_STR("error", err.text));
	} else {
		log_info("cluster dumped", LOG_STR("path", path));
	}
}

static const struct engine_state *state_of(const struct app *a)
{
	return a->fleet == NULL ? engine_state(a->engine) : fleet_state(a->fleet);
}

static void ask_dump(struct app *a)
{
	struct sched_msg *m = message_new(SCHED_MSG_SNAPSHOT);

	m->reply = write_dump;
	m->ctx = a;
	post(a, m);
}

/* True: stop. */
static bool on_signal(struct app *a, int signal)
{
	switch (signal) {
	case SIGUSR1:
		if (a->o->cache_dumper && a->fleet == NULL) {
			ask_dump(a);
		}
		return false;
	case SIGHUP:
		if (a->fleet == NULL) {
			reload_conf(a);
		}
		return false;
	case SIGTERM:
	case SIGINT:
		log_info("stopping", LOG_INT("signal", signal));
		return true;
	default:
		return false;
	}
}

/* Increases while the first lists make progress. */
static uint64_t pages_of(const struct app *a)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < a->nwatches; i++) {
		n += reflector_stats(a->watch[i].reflector).pages;
	}
	return n;
}

/* A standby's engine gets no objects, and is never synced: its reflectors show whether the lists
 * are complete. */
static bool are_listed(const struct app *a)
{
	for (unsigned i = 0; i < a->nwatches; i++) {
		if (!reflector_stats(a->watch[i].reflector).synced) {
			return false;
		}
	}
	return true;
}

/* Whether the first lists, or those of a new leader, have made no progress for
 * --resource-sync-timeout. However long they take, each page (or each request for a smaller page)
 * is progress. */
static bool is_stuck(struct app *a, struct first_lists *f)
{
	int64_t now = clock_mono(clock_real());
	uint64_t pages = pages_of(a);

	if (atomic_load(&state_of(a)->synced) ||
	    (are_listed(a) && !atomic_load(&state_of(a)->leading))) {
		f->stuck_at = CLOCK_NEVER;
		return false;
	}
	if (f->stuck_at == CLOCK_NEVER || f->pages != pages) {
		f->pages = pages;
		f->stuck_at = now + a->o->sync_timeout;
	}
	return now > f->stuck_at;
}

static int main_loop(struct app *a)
{
	struct pollfd fds[3] = { { .fd = a->signal_fd, .events = POLLIN },
				 { .fd = a->wake_fd, .events = POLLIN },
				 { .fd = a->conf_watch == NULL ? -1 : dirwatch_fd(a->conf_watch),
				   .events = POLLIN } };
	struct first_lists first = { 0, CLOCK_NEVER };

	for (;;) {
		/* Once a second for is_stuck: no descriptor shows that nothing happens. */
		int signal, n = poll(fds, 3, 1000);

		while (n > 0 && (signal = signals_next(a->signal_fd, 0)) != 0) {
			if (on_signal(a, signal)) {
				return 0;
			}
		}
		if (n > 0 && (fds[2].revents & POLLIN) != 0 && dirwatch_drain(a->conf_watch) &&
		    has_conf_changed(a)) {
			reload_conf(a);
		}
		if (atomic_load(&a->lease_lost)) {
			log_error("lease lost: exiting so that a fresh process starts as standby");
			return 1;
		}
		if (is_stuck(a, &first)) {
			log_error("first lists make no progress",
				  LOG_INT("seconds", a->o->sync_timeout / CLOCK_NS_PER_S));
			return 1;
		}
	}
}

static int start_client(struct app *a, struct err *err)
{
	const struct kubeconfig_options opt = { .path = a->o->daemon.kubeconfig,
						.server = a->o->daemon.master };
	int r = kubeconfig_load(&opt, &a->kube, err);

	if (r < 0) {
		return r;
	}
	kubeconfig_log_warnings(a->kube);
	/* A transport each: one would mix watches and writes on one HTTP/2 connection. */
	r = transport_http_create(a->kube, "headgate-scheduler/" HEADGATE_VERSION, &a->watches,
				  err);
	if (r < 0) {
		return r;
	}
	r = transport_http_create(a->kube, "headgate-scheduler/" HEADGATE_VERSION, &a->requests,
				  err);
	if (r < 0) {
		return r;
	}
	if (a->o->kube_api_qps > 0) {
		a->limiter = pool_limiter_create(a->o->kube_api_qps, (unsigned)a->o->kube_api_burst,
						 clock_real());
	}
	return 0;
}

static int start_engine(struct app *a, struct err *err)
{
	const struct sched_options *o = a->o;
	struct engine_options eo = {
		.scheduler_names = o->daemon.scheduler_names.v,
		.gate_schedulers = o->daemon.gate_schedulers.v,
		.default_queue = o->default_queue,
		.transport = a->requests,
		.clock = clock_real(),
		.limiter = a->limiter,
		.counters = a->counters,
		.standalone = !o->leader_elect,
		.gate_workers = (unsigned)o->gate_workers,
		.controllers_podgroup = (o->controllers & OPTIONS_PODGROUP) != 0,
		.podgroup_per_pod = o->podgroup_per_pod,
		.controllers_queue = (o->controllers & OPTIONS_QUEUE) != 0,
		.controllers_cost = (o->controllers & OPTIONS_COST) != 0,
		.min_interval_ns = MIN_CYCLE_INTERVAL_NS,
		.period_ns = o->schedule_period,
		.request_timeout_ns = options_request_timeout(o),
		.seed = rng_entropy(),
		.post = post,
		.may_send = may_send,
		.ctx = a,
	};
	struct sched_conf *conf = NULL;
	int r = (o->controllers & OPTIONS_WORKLOAD) != 0
			? app_conf_quota(o->kueue_conf, &a->kueue_conf, err)
			: 0;

	if (r == 0 && a->kueue_conf != NULL) {
		a->kueue_conf->gate_dialect = o->gate_dialect;
	}
	eo.kueue_conf = a->kueue_conf;
	r = r < 0 ? r : app_conf_load(o, &conf, err);
	if (r == 0) {
		r = engine_create(&eo, conf, &a->engine, err);
		if (r < 0) {
			conf_destroy(conf);
		}
	}
	return r;
}

static int connect_worker(void *ctx UNUSED, const char *cluster UNUSED,
			  const struct kubeconfig *cfg, struct transport **ret, struct err *err)
{
	return transport_http_create(cfg, "headgate-scheduler/" HEADGATE_VERSION, ret, err);
}

static int start_fleet(struct app *a, struct err *err)
{
	const struct sched_options *o = a->o;
	struct fleet_options fo = {
		.manages = is_manager(a),
		.namespace_ = o->multikueue_namespace == NULL ? a->kube->namespace_
							      : o->multikueue_namespace,
		.kubeconfig_root = WORKER_CONFIG_ROOT,
		.transport = a->requests,
		.clock = clock_real(),
		.limiter = a->limiter,
		.counters = a->counters,
		.request_timeout_ns = options_request_timeout(o),
		.seed = rng_entropy(),
		.connect = connect_worker,
		.post = post,
		.may_send = may_send,
		.ctx = a,
	};
	int r = app_conf_quota(o->kueue_conf, &a->kueue_conf, err);

	if (r < 0) {
		return r;
	}
	app_conf_fleet(a->kueue_conf, &fo);
	a->fleet = fleet_create(&fo);
	return 0;
}

/* The kinds that are watched, in order. */
static void choose_kinds(struct app *a)
{
	unsigned n = sched_kinds_watched((a->o->controllers & OPTIONS_WORKLOAD) != 0);
	const enum sched_resource *kinds =
		fleet_kinds_watched(is_manager(a), a->fleet != NULL && a->kueue_conf->owners.pods);

	for (unsigned i = 0; a->fleet != NULL && kinds[i] != SCHED_RESOURCE_COUNT_; i++) {
		a->watch[a->nwatches++].resource = kinds[i];
	}
	for (unsigned i = 0; a->fleet == NULL && i < n; i++) {
		a->watch[a->nwatches++].resource = (enum sched_resource)i;
	}
	if (a->engine != NULL && engine_reads_budgets(a->engine)) {
		a->watch[a->nwatches++].resource = SCHED_BUDGETS;
	}
}

/* Of Secrets only those of the one namespace in which the kubeconfigs are. */
static const char *namespace_of(const struct app *a, enum sched_resource r)
{
	return r != SCHED_SECRETS                   ? NULL
	       : a->o->multikueue_namespace == NULL ? a->kube->namespace_
						    : a->o->multikueue_namespace;
}

static void make_watches(struct app *a)
{
	choose_kinds(a);
	if (is_manager(a)) {
		a->customs = custom_watch_create(&(struct custom_watch_options){
			.kinds = a->kueue_conf->multikueue.frameworks,
			.transport = a->watches,
			.clock = clock_real(),
			.whole = true,
			.counters = a->counters,
			.seed = rng_entropy(),
			.post = post,
			.ctx = a });
	}
	for (unsigned i = 0; i < a->nwatches; i++) {
		enum sched_resource r = a->watch[i].resource;
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
		struct reflector_options ro = {
			.resource = sched_kinds_label(r),
			.counters = a->counters,
			.transport = a->watches,
			.clock = clock_real(),
			.on_event = on_event,
			.ctx = &a->watch[i],
			.label_selector =
				a->fleet != NULL && r == SCHED_PODS ? FLEET_KINDS_PODS : NULL,
			.field_selector = a->fleet != NULL && r == SCHED_NAMESPACES
						  ? "metadata.name=" FLEET_KINDS_IDENTITY
						  : NULL,
			.missing_ok = sched_kinds_may_be_missing(r),
			.forbidden_ok = sched_kinds_may_be_forbidden(r),
			.seed = rng_entropy(),
		};

		sched_kinds_path(r, namespace_of(a, r), NULL, NULL, &path);
		ro.path = path.p;
		a->watch[i].app = a;
		a->watch[i].reflector = reflector_create(&ro);
	}
	a->standby = a->fleet == NULL ? standby_create() : NULL;
	for (size_t i = 0; a->standby != NULL && i < a->nwatches; i++) {
		standby_add(a->standby, a->watch[i].resource);
	}
}

static const char *find_stale(void *ctx, int64_t now, int64_t *ret_since)
{
	const struct app *a = ctx;

	for (unsigned i = 0; i < a->nwatches; i++) {
		int64_t since = reflector_stale_since(a->watch[i].reflector, now);

		if (since != CLOCK_NEVER) {
			*ret_since = since;
			return sched_kinds_label(a->watch[i].resource);
		}
	}
	return NULL;
}

static int start_endpoints(struct app *a, struct err *err)
{
	struct endpoints_options eo = {
		.listen_address = a->o->enable_metrics ? a->o->listen_address : NULL,
		.healthz_address = a->o->enable_healthz ? a->o->healthz_address : NULL,
		.metrics_token = a->o->daemon.metrics_token,
		.counters = a->counters,
		.state = state_of(a),
		.foreign = a->engine == NULL ? NULL : engine_foreign(a->engine),
		.needs_no_plugin = a->engine == NULL,
		.stale = find_stale,
		.ctx = a,
		.clock = clock_real(),
	};

	return endpoints_start(&eo, &a->endpoints, err);
}

static void start_leading(struct app *a)
{
	char host[256] = "headgate", uuid[37];
	struct rng rng;
	CLEANUP(xmalloc_freep) char *identity = NULL;
	struct lease_options lo = {
		.namespace_ =
			a->o->lease_namespace == NULL ? a->kube->namespace_ : a->o->lease_namespace,
		.name = a->o->lease_name == NULL ? component_of(a) : a->o->lease_name,
		.duration_ns = a->o->lease_duration,
		.renew_deadline_ns = a->o->lease_renew,
		.retry_ns = a->o->lease_retry,
		.request_deadline_ns = options_request_timeout(a->o),
		.transport = a->requests,
		.clock = clock_real(),
		.on_change = on_lease,
		.ctx = a,
		.seed = rng_entropy(),
	};

	if (!a->o->leader_elect) {
		on_lease(a, true);
		return;
	}
	gethostname(host, sizeof(host) - 1);
	/* As in client-go: two processes of the same host name must not take each other's lease
	 * for their own. */
	rng_init(&rng, rng_entropy());
	rng_uuid(&rng, uuid);
	identity = xmalloc_printf("%s_%s", host, uuid);
	lo.identity = identity;
	a->lease = lease_create(&lo);
	lease_start(a->lease);
}

static int start(struct app *a, struct err *err)
{
	int r;

	a->queue = mpsc_create();
	a->counters = metric_registry_create();
	a->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->wake_fd < 0) {
		return err_set(err, ERR_IO, "eventfd: %s", strerror(errno));
	}
	r = start_client(a, err);
	if (r == 0 && a->o->scheduler_conf != NULL && !is_fleet(a)) {
		r = dirwatch_create(&a->conf_watch, err);
		if (r == 0) {
			r = dirwatch_add_file(a->conf_watch, a->o->scheduler_conf, err);
		}
		/* The hash is taken before the file is read: a change in between is seen as one. */
		(void)has_conf_changed(a);
	}
	if (r == 0) {
		r = is_fleet(a) ? start_fleet(a, err) : start_engine(a, err);
	}
	if (r == 0) {
		make_watches(a); /* before the endpoints, which report stale watches */
		r = start_endpoints(a, err);
	}
	if (r < 0) {
		return r;
	}
	/* From here on the engine and the standby belong to the sched thread. */
	if (pthread_create(&a->sched, NULL, sched_main, a) != 0) {
		return err_set(err, ERR_IO, "sched thread: %s", strerror(errno));
	}
	a->sched_runs = true;
	transport_call(a->watches, 0, start_watches, a);
	start_leading(a);
	return 0;
}

static void on_released(void *ctx)
{
	struct app *a = ctx;

	atomic_store(&a->released, true);
	wake_main(a);
}

static void release_lease(struct app *a)
{
	struct pollfd fd = { .fd = a->wake_fd, .events = POLLIN };
	uint64_t drained;

	/* Without an answer in time the lease runs out by itself. */
	lease_release(a->lease, on_released, a);
	while (!atomic_load(&a->released) && poll(&fd, 1, RELEASE_TIMEOUT_MS) > 0) {
		ssize_t n = read(a->wake_fd, &drained, sizeof(drained));

		(void)n;
	}
}

static void drain_messages(struct app *a)
{
	struct mpsc_node *n = mpsc_drain(a->queue);

	while (n != NULL) {
		struct sched_msg *m = CONTAINER_OF(n, struct sched_msg, node);

		n = n->next;
		message_free(m);
	}
}

/* The reverse of start, also after a start that failed half-way: the running cycle finishes,
 * decisions not sent are dropped (the next leader makes them again), writes in flight are awaited,
 * then the lease is released. */
static void stop(struct app *a)
{
	if (a->sched_runs) {
		post(a, message_new(SCHED_MSG_STOP));
		pthread_join(a->sched, NULL);
	}
	if (a->engine != NULL) {
		engine_stop(a->engine, STOP_GRACE_NS);
	}
	if (a->fleet != NULL) {
		fleet_stop(a->fleet, STOP_GRACE_NS);
	}
	if (a->lease != NULL) {
		release_lease(a);
	}
	endpoints_stop(a->endpoints);
	/* Reflectors, lease and engine are called on the threads of the transports: these end
	 * first. */
	transport_destroy(a->watches);
	transport_destroy(a->requests);
	for (unsigned i = 0; i < SCHED_RESOURCE_COUNT_; i++) {
		reflector_destroy(a->watch[i].reflector);
	}
	custom_watch_destroy(a->customs);
	standby_destroy(a->standby);
	lease_destroy(a->lease);
	engine_destroy(a->engine);
	fleet_destroy(a->fleet);
	kueue_conf_destroy(a->kueue_conf);
	pool_limiter_destroy(a->limiter);
	kubeconfig_destroy(a->kube);
	dirwatch_destroy(a->conf_watch);
	if (a->queue != NULL) {
		drain_messages(a);
		mpsc_destroy(a->queue);
	}
	metric_registry_destroy(a->counters);
	close(a->wake_fd);
}

int app_run(const struct sched_options *o)
{
	struct app a = { .o = o, .wake_fd = -1 };
	struct err err = ERR_INIT;
	int code;

	daemon_flags_configure_log(&o->daemon);
	a.signal_fd = signals_block(&err);
	if (a.signal_fd < 0 || start(&a, &err) < 0) {
		log_error("not started", LOG_STR("error", err.text));
		/* 2: something is configured wrongly, and a restart would not help. */
		code = err.code == ERR_INVALID || err.code == ERR_NOT_FOUND ? 2 : 1;
	} else {
		code = main_loop(&a);
	}
	stop(&a);
	return code;
}
