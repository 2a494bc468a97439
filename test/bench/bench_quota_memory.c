/* Bytes per Workload that waits, is admitted or is finished, in the Workload engine and in the set
 * of keys that its reflector keeps; bytes per event that the recorder remembers. Workloads are as
 * Kueue's performance runner makes them, 500 in each ClusterQueue. malloc's own count is used: the
 * figure includes every index and what allocation itself costs. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "kube/reflector/seen.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "scheduler/workloads/engine/workload_engine.h"

#define WALL (1700000000 * CLOCK_NS_PER_S)
#define QUEUES 8
#define PER_QUEUE 500
#define EVENT_LIMIT 250 /* bytes */
#define CONDITION(type, status, reason, message)                                                   \
	"{\"type\":\"" type "\",\"status\":\"" status                                              \
	"\",\"observedGeneration\":1,\"lastTransitionTime\":\"2023-11-14T22:13:19Z\","             \
	"\"reason\":\"" reason "\",\"message\":\"" message "\"}"
#define ADMITTED                                                                                   \
	CONDITION("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue cq")   \
	"," CONDITION("Admitted", "True", "Admitted", "The workload is admitted")
#define WAITS                                                                                      \
	CONDITION("QuotaReserved", "False", "WaitingForQuota",                                     \
		  "couldn't assign flavors to pod set main: insufficient unused quota for cpu in " \
		  "flavor rf, 1 more needed")

struct state {
	const char *name;
	const char *conditions;
	bool admission;
	size_t limit; /* bytes per Workload */
};

static const struct state states[] = {
	{ "waiting", WAITS, false, 1550 },
	{ "admitted", ADMITTED, true, 1700 },
	{ "finished", ADMITTED "," CONDITION("Finished", "True", "ByTest", "By test runner"), true,
	  1150 },
};

struct bench {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct metric_registry *counters;
	struct recorder *recorder;
	struct kueue_conf *conf;
	struct workload_engine *engine;
	struct seen *seen;
	int64_t version;
};

static size_t heap_used(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void post(void *ctx, struct sched_msg *m)
{
	struct bench *b = ctx;

	workload_engine_handle(b->engine, m);
	message_free(m);
}

static void on_bad(void *ctx UNUSED, enum sched_resource r UNUSED, struct str key, const char *text)
{
	fprintf(stderr, STR_FMT ": %s\n", STR_ARG(key), text);
	exit(1);
}

static void see(struct bench *b, enum sched_resource r, const char *key, struct str json)
{
	post(b, message_decode(r, str_of(key), json, ++b->version));
}

static void begin(struct bench *b)
{
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S,
				     .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .ctx = b };
	struct workload_engine_options opt = {
		.base = &base, .post = post, .on_bad_object = on_bad, .role = "leader", .ctx = b
	};

	*b = (struct bench){ .seen = seen_create() };
	clock_fake_init(&b->clock, WALL);
	b->transport = fake_transport_create(&b->clock);
	b->counters = metric_registry_create();
	base.transport = fake_transport_base(b->transport);
	base.clock = &b->clock.base;
	b->recorder = recorder_create(&base, "bench", "bench");
	if (kueue_conf_read(NULL, NULL, NULL, &b->conf, NULL) < 0) {
		exit(1);
	}
	opt.conf = b->conf;
	opt.counters = b->counters;
	opt.recorder = b->recorder;
	b->engine = workload_engine_create(&opt);
}

/* Returns the bytes of events that are remembered: their number has a limit of its own. */
static size_t end(struct bench *b)
{
	size_t events;

	workload_engine_destroy(b->engine);
	events = heap_used();
	recorder_destroy(b->recorder);
	events -= heap_used();
	fake_transport_destroy(b->transport);
	metric_registry_destroy(b->counters);
	kueue_conf_destroy(b->conf);
	seen_destroy(b->seen);
	return events;
}

/* --- objects -----------------------------------------------------------------------------------*/

static void add_world(struct bench *b)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	see(b, SCHED_FLAVORS, "rf", STR_LIT("{\"metadata\":{\"name\":\"rf\"}}"));
	for (unsigned i = 0; i < QUEUES; i++) {
		strbuf_reset(&key);
		strbuf_printf(&key, "cq-0-%u-cohort-0", i);
		strbuf_reset(&json);
		strbuf_printf(&json, "{\"metadata\":{\"name\":\"%s\"}}", key.p);
		see(b, SCHED_NAMESPACES, key.p, strbuf_str(&json));
		strbuf_reset(&json);
		strbuf_printf(&json,
			      "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"cohortName\":"
			      "\"cohort-0\",\"namespaceSelector\":{},\"resourceGroups\":[{"
			      "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"rf\","
			      "\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"0\"}]}]}]}}",
			      key.p);
		see(b, SCHED_CLUSTER_QUEUES, key.p, strbuf_str(&json));
		strbuf_reset(&json);
		strbuf_printf(&json,
			      "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\"},\"spec\":{"
			      "\"clusterQueue\":\"%s\"}}",
			      key.p, key.p, key.p);
		strbuf_printf(&key, "/cq-0-%u-cohort-0", i);
		see(b, SCHED_LOCAL_QUEUES, key.p, strbuf_str(&json));
	}
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

		m->resource = (enum sched_resource)r;
		post(b, m);
	}
}

static void put_status(struct strbuf *json, const char *queue, const struct state *s)
{
	if (s->admission) {
		strbuf_printf(json,
			      "\"admission\":{\"clusterQueue\":\"%s\",\"podSetAssignments\":[{"
			      "\"name\":\"main\",\"flavors\":{\"cpu\":\"rf\"},\"resourceUsage\":{"
			      "\"cpu\":\"1\"},\"count\":1}]},",
			      queue);
	} else {
		strbuf_add_c(json, "\"resourceRequests\":[{\"name\":\"main\",\"resources\":{"
				   "\"cpu\":\"1\"}}],");
	}
	strbuf_printf(json, "\"conditions\":[%s]", s->conditions);
}

static void see_workload(struct bench *b, unsigned queue, unsigned i, const struct state *s)
{
	CLEANUP(strbuf_finish) struct strbuf key = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *queue_name = xmalloc_printf("cq-0-%u-cohort-0", queue);

	strbuf_printf(&key, "%s/small-0-%u-0", queue_name, i);
	strbuf_printf(&json,
		      "{\"metadata\":{\"name\":\"small-0-%u-0\",\"namespace\":\"%s\",\"uid\":"
		      "\"%08x-1111-4222-8333-%012x\",\"generation\":1,\"resourceVersion\":"
		      "\"%lld\",\"creationTimestamp\":\"2023-11-14T22:13:19Z\",\"labels\":{"
		      "\"kueue.x-k8s.io/performance-scheduler-class\":\"small\","
		      "\"kueue.x-k8s.io/performance-scheduler-running-ms\":\"200\"}},",
		      i, queue_name, queue, i, (long long)b->version + 1);
	strbuf_printf(&json,
		      "\"spec\":{\"queueName\":\"%s\",\"priority\":50,\"active\":true,\"podSets\":"
		      "[{\"name\":\"main\",\"count\":1,\"template\":{\"metadata\":{},\"spec\":{"
		      "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"resources\":"
		      "{\"requests\":{\"cpu\":\"1\"}}}]}}}]},\"status\":{",
		      queue_name);
	if (s != NULL) {
		put_status(&json, queue_name, s);
	}
	strbuf_add_c(&json, "}}");
	see(b, SCHED_WORKLOADS, key.p, strbuf_str(&json));
	seen_set(b->seen, strbuf_str(&key), b->version, 1);
}

/* --- events and steps --------------------------------------------------------------------------*/

static void answer_all(struct bench *b)
{
	while (fake_transport_pending(b->transport) > 0) {
		CLEANUP(xmalloc_freep)
		char *body = xmalloc_printf("{\"metadata\":{\"resourceVersion\":\"%lld\"}}",
					    (long long)++b->version);

		fake_transport_answer(b->transport, fake_transport_expect_prefix(b->transport, ""),
				      200, body);
	}
}

/* Until nothing more is to be written. */
static void settle(struct bench *b)
{
	struct pool *pools[16];
	size_t n = workload_engine_pools(b->engine, pools, ARRAY_LEN(pools) - 1);
	int64_t due = 0;

	pools[n++] = recorder_pool(b->recorder);
	while (due < clock_mono(&b->clock.base) + CLOCK_NS_PER_S) {
		due = workload_engine_step(b->engine);
		for (size_t i = 0; i < n; i++) {
			while (pool_step(pools[i])) {
			}
		}
		if (fake_transport_pending(b->transport) > 0) {
			due = 0;
		}
		answer_all(b);
		clock_fake_advance(&b->clock, CLOCK_NS_PER_S / 10);
	}
}

static bool run(const struct state *s)
{
	struct bench b;
	size_t before, held;

	begin(&b);
	add_world(&b);
	settle(&b);
	before = heap_used();
	for (unsigned i = 0; i < QUEUES * PER_QUEUE; i++) {
		see_workload(&b, i % QUEUES, i / QUEUES, NULL);
	}
	settle(&b);
	for (unsigned i = 0; i < QUEUES * PER_QUEUE; i++) {
		see_workload(&b, i % QUEUES, i / QUEUES, s);
	}
	settle(&b);
	held = heap_used() - before;
	held = (held - end(&b)) / (QUEUES * PER_QUEUE);
	printf("%zu bytes per %s Workload (limit %zu)\n", held, s->name, s->limit);
	return held < s->limit;
}

/* Events: as many as the recorder remembers, all of them sent. */
static bool run_events(void)
{
	const struct recorder_object about = { .api_version = "kueue.x-k8s.io/v1beta2",
					       .kind = "Workload",
					       .namespace_ = "cq-0-0-cohort-0",
					       .name = "small-0-0-0",
					       .uid = "00000000-1111-4222-8333-000000000000" };
	struct bench b;
	size_t before, held;

	begin(&b);
	before = heap_used();
	for (unsigned i = 0; i < RECORDER_MAX_KNOWN; i++) {
		CLEANUP(xmalloc_freep)
		char *message = xmalloc_printf("Quota reserved in ClusterQueue cq, wait %us", i);

		recorder_event(b.recorder, &about, false, "QuotaReserved", message);
		settle(&b);
	}
	held = (heap_used() - before) / RECORDER_MAX_KNOWN;
	(void)end(&b);
	printf("%zu bytes per remembered event (limit %d)\n", held, EVENT_LIMIT);
	return held < EVENT_LIMIT;
}

int main(void)
{
	bool ok = run_events();

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		ok &= run(&states[i]);
	}
	return ok ? 0 : 1;
}
