#include "lib/multikueue/fleet_world.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/preemption_gate.h"
#include "apiserver/apiserver.h"
#include "apiserver/manifests.h"
#include "apiserver/mem_transport.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/reflector/reflector.h"
#include "kube/transport.h"
#include "lib/multikueue/fleet_core.h"
#include "lib/multikueue/fleet_dialect.h"
#include "lib/multikueue/fleet_pipe.h"
#include "lib/multikueue/fleet_setup.h"
#include "obs/metric.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/fleet/fleet.h"
#include "scheduler/multikueue/records/fleet_kinds.h"
#include "scheduler/multikueue/worker/custom_watch.h"
#include "scheduler/multikueue/worker_config.h"
#include "scheduler/orchestrate/token.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define WALL (INT64_C(1800000000) * CLOCK_NS_PER_S)
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define CRDS "charts/headgate/files/crds/quota"
#define REQUEST_NS (5 * CLOCK_NS_PER_S)
#define FLEET "fleet"     /* the process */
#define HALF_STEPS 200000 /* without time passing: more is a loop */

struct watch {
	struct fleet_world *world;
	enum sched_resource resource;
	struct reflector *reflector;
};

struct fleet_world {
	struct clock_fake clock;
	struct rng rng;
	uint64_t seed;
	unsigned workers, max_open;
	struct orchestrate_options opt;
	bool manages, carries_pods;
	struct custom_kinds customs;
	struct manager_options manager;
	int64_t gc_ns;
	struct kueue_conf *conf;
	struct apiserver *servers[FLEET_WORLD_MAX + 1]; /* the manager's is the last one in use */
	int creates[FLEET_WORLD_MAX + 1]; /* the answer to creates; 0: they are carried out */
	bool cut[FLEET_WORLD_MAX], hangs[FLEET_WORLD_MAX + 1], refuses[FLEET_WORLD_MAX + 1];
	struct VEC(struct fleet_pipe *) pipes;
	struct fleet_pipe_log log;
	struct VEC(struct sched_msg *) queue;
	struct metric_registry *metrics;
	struct transport *watches, *requests;
	struct watch watch[8];
	struct custom_watch *custom;
	struct fleet *fleet;                           /* NULL: killed */
	struct fleet_core *cores[FLEET_WORLD_MAX + 1]; /* as servers; NULL: none */
	struct fleet_world_spent spent;
};

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* --- transports --------------------------------------------------------------------------------*/

static int index_of(const struct fleet_world *w, int server)
{
	return server == FLEET_WORLD_MANAGER ? (int)w->workers : server;
}

static struct apiserver *server_of(struct fleet_world *w, int server)
{
	return w->servers[index_of(w, server)];
}

static struct transport *make_pipe(struct fleet_world *w, int server, const char *process)
{
	struct fleet_pipe *p =
		fleet_pipe_create(server, process, server_of(w, server), &w->clock, &w->log);

	vec_push(&w->pipes, p);
	return &p->base;
}

static int connect_worker(void *ctx, const char *cluster, const struct kubeconfig *cfg UNUSED,
			  struct transport **ret, struct err *err UNUSED)
{
	uint64_t number = 0;

	assert_true(str_to_u64(str_of(cluster + 1), &number));
	*ret = make_pipe(ctx, (int)number, FLEET);
	return 0;
}

static bool is_fleets(const struct fleet_pipe *p)
{
	return str_streq(p->process, FLEET);
}

static bool is_stuck(const struct fleet_world *w, const struct fleet_pipe *p)
{
	return is_fleets(p) && w->hangs[index_of(w, p->server)];
}

static bool is_cut(const struct fleet_world *w, const struct fleet_pipe *p)
{
	return is_fleets(p) && p->server != FLEET_WORLD_MANAGER && w->cut[p->server];
}

/* Timers and time-outs are the client's own. */
static bool is_own(const struct mem_step *s)
{
	return s->kind == MEM_STEP_TIMER || s->kind == MEM_STEP_TIMEOUT ||
	       s->kind == MEM_STEP_CANCELLED;
}

/* The steps of a pipe that may happen now. */
static size_t count_steps(const struct fleet_world *w, const struct fleet_pipe *p,
			  size_t *ret_first)
{
	size_t ready = p->mem == NULL ? 0 : mem_transport_ready(p->mem), n = 0;

	for (size_t i = 0; i < ready; i++) {
		if (!is_stuck(w, p) || is_own(mem_transport_peek(p->mem, i))) {
			*ret_first = n++ == 0 ? i : *ret_first;
		}
	}
	return n;
}

static void set_faults(struct apiserver *s, bool refuses, int creates)
{
	CLEANUP(strbuf_finish) struct strbuf script = STRBUF_INIT;

	strbuf_add_ch(&script, '[');
	if (refuses) {
		strbuf_add_c(&script, "{fault: status, code: 403, method: PATCH, "
				      "path: '/apis/.*/workloads/', count: 0},");
	}
	if (creates != 0) {
		strbuf_printf(&script, "{fault: status, code: %d, method: POST, count: 0},",
			      creates);
	}
	strbuf_add_ch(&script, ']');
	assert_int_equal(apiserver_set_faults(s, strbuf_str(&script), NULL), 0);
}

/* Requests of the orchestrator alone are refused. */
static void do_step(struct fleet_world *w, struct fleet_pipe *p, size_t i)
{
	bool refuses = is_fleets(p) && w->refuses[index_of(w, p->server)];
	int creates = is_fleets(p) ? w->creates[index_of(w, p->server)] : 0;
	bool is_client = is_fleets(p) && mem_transport_peek(p->mem, i)->kind != MEM_STEP_REQUEST;
	double begun;

	if (is_cut(w, p) && !is_own(mem_transport_peek(p->mem, i))) {
		mem_transport_lose(p->mem, i);
		return;
	}
	if (refuses || creates != 0) {
		set_faults(server_of(w, p->server), refuses, creates);
	}
	begun = cpu_ms();
	mem_transport_step(p->mem, i);
	w->spent.client += is_client ? cpu_ms() - begun : 0;
	if (refuses || creates != 0) {
		set_faults(server_of(w, p->server), false, 0);
	}
}

/* --- the orchestrator --------------------------------------------------------------------------*/

static void post(void *ctx, struct sched_msg *m)
{
	struct fleet_world *w = ctx;

	vec_push(&w->queue, m);
}

static void on_event(void *ctx, const struct reflector_event *event)
{
	struct watch *watch = ctx;
	struct sched_msg *m = fleet_kinds_message(watch->world->manages, watch->resource, event);

	if (m != NULL) {
		post(watch->world, m);
	}
}

static void start_watches(struct fleet_world *w)
{
	const enum sched_resource *kinds = fleet_kinds_watched(w->manages, w->carries_pods);

	for (size_t i = 0; kinds[i] != SCHED_RESOURCE_COUNT_; i++) {
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
		struct reflector_options ro = {
			.transport = w->watches,
			.clock = &w->clock.base,
			.on_event = on_event,
			.ctx = &w->watch[i],
			.label_selector = kinds[i] == SCHED_PODS ? FLEET_KINDS_PODS : NULL,
			.field_selector = kinds[i] == SCHED_NAMESPACES
						  ? "metadata.name=" FLEET_KINDS_IDENTITY
						  : NULL,
			.seed = w->seed + i
		};

		sched_kinds_path(kinds[i], kinds[i] == SCHED_SECRETS ? FLEET_SETUP_SYSTEM : NULL,
				 NULL, NULL, &path);
		ro.path = path.p;
		w->watch[i] = (struct watch){ w, kinds[i], reflector_create(&ro) };
		reflector_start(w->watch[i].reflector);
		reflector_refresh(w->watch[i].reflector);
	}
}

static void start_customs(struct fleet_world *w)
{
	w->custom = custom_watch_create(&(struct custom_watch_options){ .kinds = w->customs,
									.transport = w->watches,
									.clock = &w->clock.base,
									.whole = true,
									.seed = w->seed,
									.post = post,
									.ctx = w });
	custom_watch_start(w->custom);
	custom_watch_refresh(w->custom);
}

void fleet_world_start(struct fleet_world *w)
{
	struct fleet_options fo = { .origin = "multikueue",
				    .namespace_ = FLEET_SETUP_SYSTEM,
				    .kubeconfig_root = WORKER_CONFIG_ROOT,
				    .orchestrates = !w->manages || w->manager.gated,
				    .orchestrate = w->opt,
				    .manages = w->manages,
				    .carries_pods = w->carries_pods,
				    .customs = w->customs,
				    .manager = w->manager,
				    .gc_ns = w->gc_ns,
				    .max_open = w->max_open,
				    .conf = w->conf,
				    .clock = &w->clock.base,
				    .manual = true,
				    .request_timeout_ns = REQUEST_NS,
				    .seed = w->seed,
				    .connect = connect_worker,
				    .post = post,
				    .ctx = w };
	struct sched_msg *lease = message_new(SCHED_MSG_LEASE);

	w->metrics = metric_registry_create();
	w->watches = make_pipe(w, FLEET_WORLD_MANAGER, FLEET);
	w->requests = make_pipe(w, FLEET_WORLD_MANAGER, FLEET);
	fo.transport = w->requests;
	fo.counters = w->metrics;
	w->fleet = fleet_create(&fo);
	lease->flag = true;
	post(w, lease);
	start_watches(w);
	start_customs(w);
}

/* Those that were destroyed. */
static void drop_pipes(struct fleet_world *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->pipes.n; i++) {
		if (w->pipes.v[i]->mem != NULL) {
			assert_false(is_fleets(w->pipes.v[i]));
			w->pipes.v[n++] = w->pipes.v[i];
		} else {
			free(w->pipes.v[i]);
		}
	}
	w->pipes.n = n;
}

void fleet_world_kill(struct fleet_world *w, bool flush)
{
	if (w->fleet == NULL) {
		return;
	}
	for (size_t i = 0; i < w->pipes.n; i++) {
		if (is_fleets(w->pipes.v[i]) && w->pipes.v[i]->mem != NULL) {
			mem_transport_crash(w->pipes.v[i]->mem, flush);
		}
	}
	transport_destroy(w->watches);
	for (size_t i = 0; i < ARRAY_LEN(w->watch); i++) {
		reflector_destroy(w->watch[i].reflector);
		w->watch[i].reflector = NULL;
	}
	custom_watch_destroy(w->custom);
	w->custom = NULL;
	fleet_stop(w->fleet, 0);
	transport_destroy(w->requests);
	fleet_destroy(w->fleet);
	w->fleet = NULL;
	for (size_t i = 0; i < w->queue.n; i++) {
		message_free(w->queue.v[i]);
	}
	vec_clear(&w->queue);
	drop_pipes(w);
	metric_registry_destroy(w->metrics);
	w->metrics = NULL;
}

void fleet_world_start_core(struct fleet_world *w, int server, const char *conf)
{
	struct fleet_core_options co = { .clock = &w->clock.base,
					 .watches = make_pipe(w, server, "core"),
					 .requests = make_pipe(w, server, "core"),
					 .conf = conf,
					 .seed = w->seed };

	w->cores[index_of(w, server)] = fleet_core_create(&co);
}

void fleet_world_log(struct fleet_world *w, const struct fleet_pipe_log *log)
{
	w->log = *log;
}

bool fleet_world_is_connected(struct fleet_world *w, unsigned worker)
{
	static const char *const labels[] = { "cluster", NULL };
	char name[16];
	const char *values[] = { name, NULL };

	snprintf(name, sizeof(name), "w%u", worker);
	return w->fleet != NULL &&
	       metric_cell_get(metric_cell(
		       metric_register(w->metrics, "headgate_multikueue_cluster_connected",
				       "Whether the manager is connected to a worker cluster",
				       METRIC_GAUGE, labels),
		       values)) > 0;
}

struct metric_registry *fleet_world_metrics(struct fleet_world *w)
{
	return w->metrics;
}

int64_t fleet_world_heartbeat(const struct fleet_world *w)
{
	return atomic_load(&fleet_state(w->fleet)->heartbeat);
}

/* --- time --------------------------------------------------------------------------------------*/

static int64_t deliver(struct fleet_world *w)
{
	double begun = cpu_ms();
	int64_t at;

	for (size_t i = 0; i < w->queue.n; i++) {
		fleet_handle(w->fleet, w->queue.v[i]);
	}
	vec_clear(&w->queue);
	at = fleet_step(w->fleet);
	w->spent.deciding += cpu_ms() - begun;
	return at;
}

struct fleet_world_spent fleet_world_take_spent(struct fleet_world *w)
{
	struct fleet_world_spent spent = w->spent;

	w->spent = (struct fleet_world_spent){ 0 };
	return spent;
}

static bool step_pools(struct fleet_world *w)
{
	struct pool *pools[FLEET_MAX_POOLS];
	size_t n = fleet_pools(w->fleet, pools, FLEET_MAX_POOLS);
	double begun = cpu_ms();
	bool did = false;

	for (size_t i = 0; i < n; i++) {
		did |= pool_step(pools[i]);
	}
	w->spent.writes += cpu_ms() - begun;
	for (size_t i = 0; i <= w->workers; i++) {
		did |= w->cores[i] != NULL && fleet_core_step(w->cores[i]);
	}
	return did;
}

bool fleet_world_step(struct fleet_world *w)
{
	size_t possible = 0, first = 0, chosen;

	(void)deliver(w);
	if (step_pools(w)) {
		return true;
	}
	for (size_t i = 0; i < w->pipes.n; i++) {
		possible += count_steps(w, w->pipes.v[i], &first) > 0;
	}
	if (possible == 0) {
		return false;
	}
	chosen = rng_below(&w->rng, (uint32_t)possible);
	for (size_t i = 0; i < w->pipes.n; i++) {
		if (count_steps(w, w->pipes.v[i], &first) > 0 && chosen-- == 0) {
			do_step(w, w->pipes.v[i], first);
			break;
		}
	}
	(void)deliver(w);
	return true;
}

/* The earliest time at which anything can happen by itself. */
static int64_t next_at(struct fleet_world *w)
{
	struct pool *pools[FLEET_MAX_POOLS];
	size_t n = fleet_pools(w->fleet, pools, FLEET_MAX_POOLS);
	int64_t at = deliver(w);

	for (size_t i = 0; i < n; i++) {
		at = clock_earlier(at, pool_wake_at(pools[i]));
	}
	for (size_t i = 0; i <= w->workers; i++) {
		at = w->cores[i] == NULL ? at : clock_earlier(at, fleet_core_wake_at(w->cores[i]));
	}
	for (size_t i = 0; i < w->pipes.n; i++) {
		if (w->pipes.v[i]->mem != NULL) {
			at = clock_earlier(at, mem_transport_wake_at(w->pipes.v[i]->mem));
		}
	}
	return at;
}

void fleet_world_run(struct fleet_world *w, int64_t ns)
{
	int64_t until = clock_mono(&w->clock.base) + ns;

	for (;;) {
		int64_t now, at;

		for (size_t i = 0; w->fleet != NULL && fleet_world_step(w); i++) {
			assert_true(i < HALF_STEPS);
		}
		now = clock_mono(&w->clock.base);
		at = w->fleet == NULL ? CLOCK_NEVER : next_at(w);
		/* A timer that is due now has had its turn. */
		at = clock_later(at, now + CLOCK_NS_PER_MS);
		if (now >= until) {
			return;
		}
		clock_fake_advance(&w->clock, clock_earlier(at, until) - now);
	}
}

void fleet_world_set_clock(struct fleet_world *w, int64_t by)
{
	w->clock.wall_ns += by;
}

int64_t fleet_world_time(const struct fleet_world *w)
{
	return clock_mono(&w->clock.base);
}

int64_t fleet_world_wall(const struct fleet_world *w)
{
	return clock_wall(&w->clock.base);
}

void fleet_world_cut(struct fleet_world *w, unsigned worker, bool cut)
{
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;

	w->cut[worker] = cut;
	/* A stream on which nothing is said does not notice: this is a frame for it to lose. */
	strbuf_printf(&patch, "{\"metadata\":{\"annotations\":{\"touched\":\"%lld\"}}}",
		      (long long)clock_mono(&w->clock.base));
	(void)fleet_world_patch(w, (int)worker,
				"/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/main",
				patch.p);
}

void fleet_world_hang(struct fleet_world *w, int server, bool hangs)
{
	w->hangs[index_of(w, server)] = hangs;
}

void fleet_world_refuse(struct fleet_world *w, int server, bool refuses)
{
	w->refuses[index_of(w, server)] = refuses;
}

void fleet_world_faults(struct fleet_world *w, int server, const char *script)
{
	assert_int_equal(apiserver_set_faults(server_of(w, server), str_of(script), NULL), 0);
}

void fleet_world_refuse_creates(struct fleet_world *w, unsigned worker, int status)
{
	w->creates[worker] = status;
}

/* --- objects -----------------------------------------------------------------------------------*/

/* body NULL: none. */
static int request(struct fleet_world *w, int server, enum http_method method, const char *path,
		   const char *body, struct jdoc **ret)
{
	struct apiserver_response r = APISERVER_RESPONSE_INIT;
	const char *query = strchr(path, '?');
	struct http_request req = {
		.method = method,
		.path = query == NULL ? str_of(path) : (struct str){ path, (size_t)(query - path) },
		.query = str_of(query == NULL ? "" : query + 1),
		.content_type = str_of(body == NULL           ? ""
				       : method == HTTP_PATCH ? "application/merge-patch+json"
							      : "application/json"),
		.body = str_of(body == NULL ? "" : body)
	};
	int status;

	apiserver_handle(server_of(w, server), &req, clock_wall(&w->clock.base), &r);
	status = r.status;
	if (ret != NULL) {
		*ret = NULL;
		if (status / 100 == 2) {
			assert_int_equal(jdoc_parse(strbuf_str(&r.body), ret, NULL), 0);
		}
	}
	apiserver_response_finish(&r);
	return status;
}

int fleet_world_create_object(struct fleet_world *w, int server, const char *collection,
			      const char *json)
{
	return request(w, server, HTTP_POST, collection, json, NULL);
}

int fleet_world_patch(struct fleet_world *w, int server, const char *path, const char *patch)
{
	return request(w, server, HTTP_PATCH, path, patch, NULL);
}

int fleet_world_delete(struct fleet_world *w, int server, const char *path)
{
	return request(w, server, HTTP_DELETE, path, NULL, NULL);
}

struct jdoc *fleet_world_get(struct fleet_world *w, int server, const char *path)
{
	struct jdoc *ret = NULL;

	(void)request(w, server, HTTP_GET, path, NULL, &ret);
	return ret;
}

/* --- the fleet's objects -----------------------------------------------------------------------*/

static void must_create(struct fleet_world *w, int server, const char *collection, const char *json)
{
	int status = fleet_world_create_object(w, server, collection, json);

	if (status != 201) {
		fail_msg("POST %s: %d: %s", collection, status, json);
	}
}

static void must_patch(struct fleet_world *w, int server, const char *path, const char *patch)
{
	int status = fleet_world_patch(w, server, path, patch);

	if (status != 200) {
		fail_msg("PATCH %s: %d: %s", path, status, patch);
	}
}

struct fleet_world *fleet_world_create(unsigned workers, const struct orchestrate_options *opt,
				       unsigned max_open, uint64_t seed)
{
	struct fleet_world *w = xmalloc_zero(1, sizeof(*w));

	assert_true(workers <= FLEET_WORLD_MAX);
	w->workers = workers;
	w->opt = *opt;
	w->max_open = max_open;
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &w->conf, NULL), 0);
	w->seed = seed;
	rng_init(&w->rng, seed);
	clock_fake_init(&w->clock, WALL);
	clock_fake_advance(&w->clock, CLOCK_NS_PER_S);
	for (unsigned i = 0; i <= workers; i++) {
		struct apiserver_options ao = { .seed = seed + i, .now = WALL };

		w->servers[i] = apiserver_create(&ao);
		assert_int_equal(manifests_load_dir(w->servers[i], CRDS, WALL, NULL), 0);
	}
	fleet_setup_check(w);
	if (workers > 0) { /* a config names one at least */
		fleet_setup_config(w, workers);
	}
	for (unsigned i = 0; i < workers; i++) {
		fleet_dialect_define(w, i);
		fleet_setup_cluster(w, i);
	}
	return w;
}

void fleet_world_manage(struct fleet_world *w, const struct manager_options *opt, int64_t gc_ns)
{
	w->manages = true;
	w->manager = *opt;
	w->gc_ns = gc_ns;
}

void fleet_world_carry(struct fleet_world *w, struct custom_kinds kinds)
{
	w->customs = kinds;
}

void fleet_world_carry_pods(struct fleet_world *w)
{
	w->carries_pods = true;
}

void fleet_world_destroy(struct fleet_world *w)
{
	fleet_world_kill(w, false);
	for (unsigned i = 0; i <= w->workers; i++) {
		fleet_core_destroy(w->cores[i]);
	}
	drop_pipes(w);
	for (unsigned i = 0; i <= w->workers; i++) {
		apiserver_destroy(w->servers[i]);
	}
	vec_finish(&w->pipes);
	vec_finish(&w->queue);
	kueue_conf_destroy(w->conf);
	free(w);
}

#define SPEC                                                                                       \
	"\"spec\":{\"queueName\":\"main\",\"priority\":%d,%s\"podSets\":[{\"name\":\"main\","      \
	"\"count\":1,\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\","     \
	"\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]}}"

static void condition(const struct fleet_world *w, struct strbuf *out, const char *type,
		      const char *status, const char *reason, const char *message)
{
	char when[CLOCK_RFC3339_MAX];

	clock_format_time(clock_wall(&w->clock.base), when);
	strbuf_printf(out,
		      "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"%s\","
		      "\"lastTransitionTime\":\"%s\"}",
		      out->len > 0 && out->p[out->len - 1] == '}' ? "," : "", type, status, reason,
		      message, when);
}

static void offer_local(struct fleet_world *w, const char *name, int priority)
{
	CLEANUP(strbuf_finish)
	struct strbuf body = STRBUF_INIT, path = STRBUF_INIT, status = STRBUF_INIT;

	strbuf_printf(
		&body,
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":"
		"{\"name\":\"%s\",\"namespace\":\"default\"}," SPEC,
		name, priority, "", "1");
	must_create(w, FLEET_WORLD_MANAGER, WORKLOADS, body.p);
	strbuf_add_c(&status, "{\"status\":{\"conditions\":[");
	condition(w, &status, KUEUE_QUOTA_RESERVED, "True", "QuotaReserved", "");
	strbuf_add_c(&status,
		     "],\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":"
		     "\"main\",\"count\":1,\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":{\"cpu\":"
		     "\"1\"}}]},\"admissionChecks\":[{\"name\":\"mk\",\"state\":\"Pending\","
		     "\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}],"
		     "\"nominatedClusterNames\":[");
	for (unsigned i = 0; i < w->workers; i++) {
		strbuf_printf(&status, "%s\"w%u\"", i == 0 ? "" : ",", i);
	}
	strbuf_add_c(&status, "]}}");
	strbuf_printf(&path, WORKLOADS "/%s/status", name);
	must_patch(w, FLEET_WORLD_MANAGER, path.p, status.p);
}

void fleet_world_offer_to(struct fleet_world *w, unsigned worker, const char *name, int priority)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\","
		      "\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"labels\":"
		      "{\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\"}}," SPEC,
		      name, priority,
		      "\"preemptionGates\":[{\"name\":\"" KUEUE_GATE_MULTIKUEUE "\"}],", "1");
	must_create(w, (int)worker, WORKLOADS, body.p);
}

void fleet_world_offer(struct fleet_world *w, const char *name, int priority)
{
	offer_local(w, name, priority);
	for (unsigned i = 0; i < w->workers; i++) {
		fleet_world_offer_to(w, i, name, priority);
	}
}

static void format_conditions(const struct fleet_world *w, enum fleet_world_state state,
			      struct strbuf *out)
{
	static const struct {
		const char *quota, *reason, *signal, *message;
	} rows[] = {
		[FLEET_WORLD_GATED] = { "False", "AdmissionGated", "True", "gated" },
		[FLEET_WORLD_NO_FIT] = { "False", "WaitingForQuota", "False", "insufficient" },
		[FLEET_WORLD_PREEMPTING] = { "False", "WaitingForPreemptedWorkloads", "True",
					     "Pending the preemption of 1 workload(s)" },
		[FLEET_WORLD_RESERVED] = { "True", "QuotaReserved", "False", "" },
		[FLEET_WORLD_ADMITTED] = { "True", "QuotaReserved", "False", "" },
		/* Kueue 0.19 writes so before a cycle has looked at it again. */
		[FLEET_WORLD_EVICTED] = { "False", "PendingEvaluation", "False", "" },
	};

	condition(w, out, KUEUE_QUOTA_RESERVED, rows[state].quota, rows[state].reason,
		  rows[state].message);
	condition(w, out, fleet_dialect_signal(), rows[state].signal, "PreemptionGated",
		  rows[state].message);
	if (state == FLEET_WORLD_ADMITTED) {
		condition(w, out, KUEUE_ADMITTED, "True", "Admitted", "");
	}
	if (state == FLEET_WORLD_EVICTED) {
		condition(w, out, KUEUE_EVICTED, "True", "Preempted", "");
	}
}

void fleet_world_fill(struct fleet_world *w, unsigned worker, const char *name, const char *cpu)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, path = STRBUF_INIT;

	strbuf_printf(
		&body,
		"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":"
		"{\"name\":\"%s\",\"namespace\":\"default\"}," SPEC,
		name, 0, "", cpu);
	must_create(w, (int)worker, WORKLOADS, body.p);
	strbuf_reset(&body);
	strbuf_add_c(&body, "{\"status\":{\"conditions\":[");
	format_conditions(w, FLEET_WORLD_ADMITTED, &body);
	strbuf_printf(&body,
		      "],\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{\"name\":"
		      "\"main\",\"count\":1,\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":{\"cpu\":"
		      "\"%s\"}}]}}}",
		      cpu);
	strbuf_printf(&path, WORKLOADS "/%s/status", name);
	must_patch(w, (int)worker, path.p, body.p);
}

/* Evicted stays True until the replica has quota again. */
static void keep_evicted(struct fleet_world *w, unsigned worker, const char *path,
			 struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = fleet_world_get(w, (int)worker, path);

	for (const struct jdoc *c = jdoc_first(jdoc_path(d, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), KUEUE_EVICTED)) {
			strbuf_add_ch(out, ',');
			jdoc_format(c, out);
		}
	}
}

void fleet_world_report(struct fleet_world *w, unsigned worker, const char *name,
			enum fleet_world_state state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, path = STRBUF_INIT;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	strbuf_add_c(&body, "{\"status\":{\"conditions\":[");
	format_conditions(w, state, &body);
	if (state != FLEET_WORLD_RESERVED && state != FLEET_WORLD_ADMITTED &&
	    state != FLEET_WORLD_EVICTED) {
		keep_evicted(w, worker, path.p, &body);
	}
	strbuf_add_c(&body, "]");
	if (state == FLEET_WORLD_EVICTED) {
		strbuf_printf(&body,
			      ",\"preemptionGates\":[{\"name\":\"" KUEUE_GATE_MULTIKUEUE
			      "\",\"%s\":\"Closed\",\"lastTransitionTime\":"
			      "\"2027-01-15T08:00:00Z\"}]",
			      fleet_dialect_field());
	}
	strbuf_add_c(&body, "}}");
	strbuf_add_c(&path, "/status");
	must_patch(w, (int)worker, path.p, body.p);
}

bool fleet_world_is_open(struct fleet_world *w, unsigned worker, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	bool open = false;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	d = fleet_world_get(w, (int)worker, path.p);
	for (const struct jdoc *g = jdoc_first(jdoc_path(d, "status.preemptionGates")); g != NULL;
	     g = jdoc_next(g)) {
		open |= jdoc_is_str(jdoc_get(g, "name"), KUEUE_GATE_MULTIKUEUE) &&
			jdoc_is_str(jdoc_get(g, fleet_dialect_field()), PREEMPTION_GATE_OPEN);
	}
	return open;
}

int fleet_world_open(struct fleet_world *w, const char *name)
{
	int found = -1;

	for (unsigned i = 0; i < w->workers; i++) {
		if (fleet_world_is_open(w, i, name)) {
			found = found == -1 ? (int)i : -2;
		}
	}
	return found;
}

void fleet_world_token(struct fleet_world *w, const char *name, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	strbuf_printf(&path, WORKLOADS "/%s", name);
	d = fleet_world_get(w, FLEET_WORLD_MANAGER, path.p);
	strbuf_add_c(
		out,
		jdoc_str_or(jdoc_get(jdoc_path(d, "metadata.annotations"), TOKEN_ANNOTATION), ""));
}

unsigned fleet_world_events(struct fleet_world *w, const char *reason, const char *object,
			    const char *part)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d =
		fleet_world_get(w, FLEET_WORLD_MANAGER, "/api/v1/namespaces/default/events");
	unsigned n = 0;

	for (const struct jdoc *e = jdoc_first(jdoc_get(d, "items")); e != NULL; e = jdoc_next(e)) {
		n += (reason == NULL || jdoc_is_str(jdoc_get(e, "reason"), reason)) &&
		     (object == NULL || jdoc_is_str(jdoc_path(e, "involvedObject.name"), object)) &&
		     (part == NULL ||
		      strstr(jdoc_str_or(jdoc_get(e, "message"), ""), part) != NULL);
	}
	return n;
}

struct fleet_world *fleet_world_managed(unsigned workers, const struct manager_options *opt)
{
	struct orchestrate_options o;
	struct fleet_world *w;

	orchestrate_defaults(&o);
	w = fleet_world_create(workers, &o, 1, 1);
	fleet_world_manage(w, opt, 60 * CLOCK_NS_PER_S);
	fleet_world_start(w);
	fleet_world_run(w, 2 * CLOCK_NS_PER_S);
	return w;
}
