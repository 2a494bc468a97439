#include "app/quota_engine.h"

#include <string.h>

#include "app/quota_explain.h"
#include "app/quota_pace.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "cache/cache.h"
#include "cache/quota_cache.h"
#include "conf/quota_conf.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/fake_transport.h"
#include "lib/unit.h"
#include "model/quota_store.h"

#define WALL (1700000000 * CLOCK_NS_PER_S)
#define WORKLOAD(name)                                                                             \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/" name                         \
	"/status?fieldManager=kueue-admission&force=true"
/* As the webhook leaves them. */
#define KEPT "\"finalizers\":[\"kueue.x-k8s.io/resource-in-use\"]"
#define QUEUE                                                                                      \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/clusterqueues/team/"                                   \
	"status?fieldManager=headgate-quota-status&force=true"
#define LOCAL                                                                                      \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues/lq/"                         \
	"status?fieldManager=headgate-quota-status&force=true"
#define FIVE_MINUTES (300 * CLOCK_NS_PER_S)
#define USED(cpu, at)                                                                              \
	",\"status\":{\"fairSharing\":{\"weightedShare\":0,\"admissionFairSharingStatus\":{"       \
	"\"consumedResources\":{\"cpu\":\"" cpu "\"},\"lastUpdate\":\"" at "\"}}}"
#define QUEUES 8
#define EVENT "POST /api/v1/namespaces/ns/events"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct counter_registry *counters;
	struct recorder *recorder;
	struct quota_conf *conf;
	struct quota_engine *engine;
	int64_t version, due;
	unsigned bad;
};

static void handle(struct fixture *f, struct sched_msg *m)
{
	if (!quota_engine_handle(f->engine, m)) {
		message_free(m);
	}
}

static void post(void *ctx, struct sched_msg *m)
{
	handle(ctx, m);
}

static void on_bad(void *ctx, enum sched_resource r UNUSED, struct str key UNUSED,
		   const char *text UNUSED)
{
	struct fixture *f = ctx;

	f->bad++;
}

static void see(struct fixture *f, enum sched_resource r, const char *key, const char *json)
{
	handle(f, cache_decode(r, str_of(key), str_of(json), ++f->version));
}

static void add_world(struct fixture *f)
{
	see(f, SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}");
	see(f, SCHED_FLAVORS, "default", "{\"metadata\":{\"name\":\"default\"," KEPT "}}");
	see(f, SCHED_CLUSTER_QUEUES, "team",
	    "{\"metadata\":{\"name\":\"team\",\"generation\":1," KEPT
	    "},\"spec\":{\"namespaceSelector\":{},"
	    "\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},\"resourceGroups\":[{"
	    "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{"
	    "\"name\":\"cpu\",\"nominalQuota\":\"3\"}]}]}]}}");
	see(f, SCHED_LOCAL_QUEUES, "ns/lq",
	    "{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\",\"generation\":1},\"spec\":{"
	    "\"clusterQueue\":\"team\"}}");
	for (int r = 0; r < SCHED_RESOURCE_COUNT_; r++) {
		struct sched_msg *m = message_new(SCHED_MSG_SYNCED);

		m->resource = (enum sched_resource)r;
		handle(f, m);
	}
}

static void begin_with(struct fixture *f, bool costs)
{
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S,
				     .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .ctx = f };
	struct quota_engine_options opt = {
		.base = &base, .post = post, .costs = costs, .on_bad_object = on_bad, .ctx = f
	};

	*f = (struct fixture){ 0 };
	clock_fake_init(&f->clock, WALL);
	f->transport = fake_transport_create(&f->clock);
	f->counters = counter_registry_create();
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "test", "test");
	assert_int_equal(quota_conf_read(NULL, NULL, NULL, &f->conf, NULL), 0);
	opt.conf = f->conf;
	opt.counters = f->counters;
	opt.role = "leader";
	opt.recorder = f->recorder;
	f->engine = quota_engine_create(&opt);
}

static void begin(struct fixture *f)
{
	begin_with(f, false);
}

static void end(struct fixture *f)
{
	quota_engine_destroy(f->engine);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	counter_registry_destroy(f->counters);
	quota_conf_destroy(f->conf);
}

static void step(struct fixture *f)
{
	struct pool *pools[16];
	size_t n = quota_engine_pools(f->engine, pools, ARRAY_LEN(pools) - 1);

	pools[n++] = recorder_pool(f->recorder);
	for (unsigned i = 0; i < 20; i++) {
		f->due = quota_engine_step(f->engine);
		if (f->due > clock_mono(&f->clock.base)) {
			break;
		}
	}
	assert_true(f->due > clock_mono(&f->clock.base));
	for (size_t i = 0; i < n; i++) {
		while (pool_step(pools[i])) {
		}
	}
}

static void answer(struct fixture *f, const char *line, int status)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"metadata\":{\"resourceVersion\":\"%lld\",\"name\":\"x\"}}",
				    (long long)++f->version);

	fake_transport_answer(f->transport, fake_transport_expect(f->transport, line), status,
			      body);
}

static void add_workload(struct fixture *f, const char *name, int priority, const char *cpu)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		"\"generation\":1},\"spec\":{\"queueName\":\"lq\",\"priority\":%d,\"podSets\":[{"
		"\"template\":{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
		"\"%s\"}}}]}}}]}}",
		name, name, priority, cpu);

	see(f, SCHED_WORKLOADS, key, json);
}

static double attempts(const struct fixture *f, const char *result)
{
	static const char *const labels[] = { "result", "replica_role", NULL };
	const char *const values[] = { result, "leader" };

	return counter_get(
		counter_cell(counter_register(f->counters, "kueue_admission_attempts_total", "",
					      COUNTER_COUNTER, labels),
			     values));
}

/* The world is there, its queues were told about. */
static void begin_settled(struct fixture *f)
{
	begin(f);
	add_world(f);
	step(f);
	answer(f, QUEUE, 200);
	answer(f, LOCAL, 200);
	/* What comes with the first objects: everything is looked at again. */
	clock_fake_advance(&f->clock, 2 * CLOCK_NS_PER_S);
	step(f);
	fake_transport_expect_none(f->transport);
}

static void nothing_before_everything_is_listed(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_workload(&f, "one", 0, "1");
	step(&f);
	assert_int_equal(f.due, CLOCK_NEVER);
	fake_transport_expect_none(f.transport);
	add_world(&f);
	step(&f);
	answer(&f, WORKLOAD("one"), 200);
	end(&f);
}

static void events_follow_the_write(void **state)
{
	struct fixture f;

	(void)state;
	begin_settled(&f);
	add_workload(&f, "one", 0, "2");
	step(&f);
	answer(&f, WORKLOAD("one"), 200);
	answer(&f, QUEUE, 200);
	answer(&f, LOCAL, 200);
	fake_transport_expect_none(f.transport);
	step(&f);
	answer(&f, EVENT, 201); /* QuotaReserved */
	answer(&f, EVENT, 201); /* Admitted */
	fake_transport_expect_none(f.transport);
	end(&f);
}

static void no_event_of_a_refused_write(void **state)
{
	struct fixture f;

	(void)state;
	begin_settled(&f);
	add_workload(&f, "one", 0, "2");
	step(&f);
	answer(&f, WORKLOAD("one"), 403);
	answer(&f, QUEUE, 200);
	answer(&f, LOCAL, 200);
	step(&f);
	answer(&f, EVENT, 201); /* WorkloadWriteRefused */
	fake_transport_expect_none(f.transport);
	/* It is tried again by itself. */
	assert_true(f.due != CLOCK_NEVER);
	clock_fake_advance(&f.clock, 3 * CLOCK_NS_PER_S);
	step(&f);
	answer(&f, WORKLOAD("one"), 200);
	end(&f);
}

/* The preemptor stays at the top of its queue until its victim has stopped. */
static void who_waits_for_victims_is_not_looked_at_all_the_time(void **state)
{
	struct fixture f;
	double before;

	(void)state;
	begin_settled(&f);
	add_workload(&f, "low", 0, "2");
	step(&f);
	answer(&f, WORKLOAD("low"), 200);
	add_workload(&f, "high", 9, "3");
	step(&f);
	before = attempts(&f, "success") + attempts(&f, "inadmissible");
	for (unsigned i = 0; i < 10; i++) {
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
		step(&f);
	}
	assert_true(attempts(&f, "success") + attempts(&f, "inadmissible") <= before + 2);
	end(&f);
}

static void costs_follow_preemptions(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin_with(&f, true);
	see(&f, SCHED_WORKLOADS, "ns/one",
	    "{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"u-one\"},\"spec\":{"
	    "\"queueName\":\"other\"},\"status\":{\"schedulingStats\":{\"evictions\":[{\"reason\":"
	    "\"Preempted\",\"underlyingCause\":\"\",\"count\":2}]}}}");
	add_world(&f);
	step(&f);
	answer(&f, WORKLOAD("one"), 200);
	answer(&f, QUEUE, 200);
	answer(&f, LOCAL, 200);
	id = fake_transport_expect(f.transport,
				   "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/"
				   "one/status?fieldManager=headgate-preemption-cost");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"preemptionCost\":\"2\""));
	fake_transport_answer(f.transport, id, 200, "{}");
	end(&f);
}

/* Nothing runs for a Workload without an owner: its reservation goes with the eviction, in one
 * write. */
static void victims_without_a_job_are_written_once(void **state)
{
	struct fixture f;
	struct str body;

	(void)state;
	begin_settled(&f);
	add_workload(&f, "low", 0, "2");
	step(&f);
	answer(&f, WORKLOAD("low"), 200);
	answer(&f, QUEUE, 200);
	answer(&f, LOCAL, 200);
	step(&f);
	answer(&f, EVENT, 201);
	answer(&f, EVENT, 201);
	add_workload(&f, "high", 9, "3");
	step(&f);
	body = fake_transport_body(f.transport,
				   fake_transport_expect(f.transport, WORKLOAD("low")));
	assert_non_null(strstr(body.p, "\"Evicted\",\"status\":\"True\""));
	assert_non_null(strstr(body.p, "\"QuotaReserved\",\"status\":\"False\""));
	assert_null(strstr(body.p, "\"admission\""));
	end(&f);
}

/* What a cycle found out is no hurry: the next one may admit it. */
static void why_it_waits_is_written_a_moment_later(void **state)
{
	struct fixture f;
	struct str body;

	(void)state;
	begin_settled(&f);
	add_workload(&f, "big", 0, "9");
	step(&f);
	answer(&f, QUEUE, 200);
	answer(&f, LOCAL, 200);
	fake_transport_expect_none(f.transport);
	assert_int_equal(f.due, clock_mono(&f.clock.base) + QUOTA_EXPLAIN_AFTER_NS);
	clock_fake_advance(&f.clock, QUOTA_EXPLAIN_AFTER_NS);
	step(&f);
	body = fake_transport_body(f.transport,
				   fake_transport_expect(f.transport, WORKLOAD("big")));
	assert_non_null(strstr(body.p, "\"QuotaReserved\",\"status\":\"False\""));
	end(&f);
}

static void add_queue(struct fixture *f, unsigned i)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("q%u", i);
	CLEANUP(xmalloc_freep)
	char *queue = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"generation\":1," KEPT
		"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":"
		"[\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","
		"\"nominalQuota\":\"9\"}]}]}]}}",
		name);
	CLEANUP(xmalloc_freep)
	char *local = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"generation\":1},"
		"\"spec\":{\"clusterQueue\":\"%s\"}}",
		name, name);
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);

	see(f, SCHED_CLUSTER_QUEUES, name, queue);
	see(f, SCHED_LOCAL_QUEUES, key, local);
}

static void add_to_queue(struct fixture *f, const char *name, unsigned queue)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		"\"generation\":1},\"spec\":{\"queueName\":\"q%u\",\"podSets\":[{\"template\":"
		"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
		name, name, queue);

	see(f, SCHED_WORKLOADS, key, json);
}

/* How many of the Workloads a0, a1, ... (b0, ...) have quota. */
static unsigned count_held(const struct fixture *f, char letter)
{
	const struct quota *q = quota_cache_world(quota_engine_cache(f->engine));
	unsigned n = 0;

	for (unsigned i = 0; i < QUEUES; i++) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%c%u", letter, i);

		n += quota_workload_find(q, str_of(key))->holds != MODEL_NONE;
	}
	return n;
}

static void begin_queues(struct fixture *f)
{
	begin(f);
	for (unsigned i = 0; i < QUEUES; i++) {
		add_queue(f, i);
	}
	add_world(f);
	for (unsigned i = 0; i < QUEUES; i++) {
		CLEANUP(xmalloc_freep) char *first = xmalloc_printf("a%u", i);
		CLEANUP(xmalloc_freep) char *second = xmalloc_printf("b%u", i);

		add_to_queue(f, first, i);
		add_to_queue(f, second, i);
	}
	step(f);
}

static void answer_workload(struct fixture *f)
{
	uint64_t id = fake_transport_expect_prefix(
		f->transport, "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/");

	fake_transport_answer(f->transport, id, 200, "{\"metadata\":{\"resourceVersion\":\"99\"}}");
	step(f);
}

/* What a cycle gives is out before the next one gives more. */
static void a_cycle_waits_for_the_writes_of_the_last(void **state)
{
	struct fixture f;

	(void)state;
	begin_queues(&f);
	assert_int_equal(count_held(&f, 'a'), QUEUES);
	assert_int_equal(count_held(&f, 'b'), 0);
	for (unsigned i = QUOTA_PACE_AHEAD; i < QUEUES; i++) {
		assert_int_equal(count_held(&f, 'b'), 0);
		answer_workload(&f);
	}
	assert_int_equal(count_held(&f, 'b'), QUEUES);
	end(&f);
}

static void writes_that_hang_do_not_stop_it(void **state)
{
	struct fixture f;

	(void)state;
	begin_queues(&f);
	assert_true(f.due <= clock_mono(&f.clock.base) + QUOTA_PACE_PATIENCE_NS);
	clock_fake_advance(&f.clock, QUOTA_PACE_PATIENCE_NS - 1);
	step(&f);
	assert_int_equal(count_held(&f, 'b'), 0);
	clock_fake_advance(&f.clock, 1);
	step(&f);
	assert_int_equal(count_held(&f, 'b'), QUEUES);
	end(&f);
}

static void bad_objects_are_told(void **state)
{
	struct fixture f;

	(void)state;
	begin_settled(&f);
	see(&f, SCHED_CLUSTER_QUEUES, "x",
	    "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"queueingStrategy\":\"No\"}}");
	assert_int_equal(f.bad, 1);
	end(&f);
}

/* --- admission fair sharing --------------------------------------------------------------------*/

/* Statuses of queues, events. */
static void answer_all(struct fixture *f)
{
	while (fake_transport_pending(f->transport) > 0) {
		fake_transport_answer(f->transport, fake_transport_expect_prefix(f->transport, ""),
				      200, "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	}
}

/* Nothing else brings it back: neither the object nor a queue changes. */
static void what_happens_outside_of_cycles_is_written_again(void **state)
{
	struct fixture f;

	(void)state;
	begin_settled(&f);
	see(&f, SCHED_WORKLOADS, "ns/off",
	    "{\"metadata\":{\"name\":\"off\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{"
	    "\"active\":"
	    "false,\"podSets\":[{\"template\":{}}]}}");
	for (unsigned i = 0; i < 3; i++) {
		step(&f);
		answer(&f, WORKLOAD("off"), 422);
		answer_all(&f);
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S << i);
	}
	end(&f);
}

static void add_usage_world(struct fixture *f, const char *status)
{
	struct quota_options *o = &quota_cache_world(quota_engine_cache(f->engine))->options;
	CLEANUP(xmalloc_freep)
	char *other = xmalloc_printf("{\"metadata\":{\"name\":\"other\",\"namespace\":\"ns\","
				     "\"generation\":1},\"spec\":{\"clusterQueue\":\"team\"}"
				     "%s}",
				     status);

	o->admission_fair_sharing = true;
	o->usage.half_life_ns = o->usage.sampling_ns = FIVE_MINUTES;
	see(f, SCHED_LOCAL_QUEUES, "ns/other", other);
	add_world(f);
	see(f, SCHED_CLUSTER_QUEUES, "team",
	    "{\"metadata\":{\"name\":\"team\",\"generation\":2," KEPT
	    "},\"spec\":{\"namespaceSelector\":{},\"admissionScope\":{\"admissionMode\":"
	    "\"UsageBasedAdmissionFairSharing\"},\"resourceGroups\":[{\"coveredResources\":["
	    "\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","
	    "\"nominalQuota\":\"3\"}]}]}]}}");
	step(f);
	answer_all(f);
}

static double used(const struct fixture *f, const char *key)
{
	return quota_local_find(quota_cache_world(quota_engine_cache(f->engine)), str_of(key))
		->usage;
}

/* A failed admission leaves nothing; an entry counts at once, then what is held does. */
static void use_of_local_queues_is_sampled(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_usage_world(&f, "");
	add_workload(&f, "one", 0, "1");
	step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	answer(&f, WORKLOAD("one"), 422);
	answer_all(&f);
	assert_true(used(&f, "ns/lq") == 0);
	clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
	step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	answer(&f, WORKLOAD("one"), 200);
	answer_all(&f);
	clock_fake_advance(&f.clock, FIVE_MINUTES - 3 * CLOCK_NS_PER_S);
	step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	assert_true(f.due <= clock_mono(&f.clock.base) + CLOCK_NS_PER_S);
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	step(&f);
	assert_true(used(&f, "ns/lq") == 0.75);
	end(&f);
}

/* A new leader goes on from the statuses; while it leads, those are only what it wrote itself. */
static void use_is_read_back_after_a_restart(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_usage_world(&f, USED("4", "2023-11-14T22:08:20Z"));
	assert_true(used(&f, "ns/other") == 2); /* five minutes before WALL */
	see(&f, SCHED_LOCAL_QUEUES, "ns/other",
	    "{\"metadata\":{\"name\":\"other\",\"namespace\":\"ns\",\"generation\":1},"
	    "\"spec\":{\"clusterQueue\":\"team\"}" USED("9", "2023-11-14T22:13:20Z") "}");
	assert_true(used(&f, "ns/other") == 2);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_before_everything_is_listed),
		cmocka_unit_test(events_follow_the_write),
		cmocka_unit_test(no_event_of_a_refused_write),
		cmocka_unit_test(who_waits_for_victims_is_not_looked_at_all_the_time),
		cmocka_unit_test(costs_follow_preemptions),
		cmocka_unit_test(victims_without_a_job_are_written_once),
		cmocka_unit_test(why_it_waits_is_written_a_moment_later),
		cmocka_unit_test(a_cycle_waits_for_the_writes_of_the_last),
		cmocka_unit_test(writes_that_hang_do_not_stop_it),
		cmocka_unit_test(what_happens_outside_of_cycles_is_written_again),
		cmocka_unit_test(bad_objects_are_told),
		cmocka_unit_test(use_of_local_queues_is_sampled),
		cmocka_unit_test(use_is_read_back_after_a_restart),
	};

	return cmocka_run_group_tests_name("app/quota_engine", tests, NULL, NULL);
}
