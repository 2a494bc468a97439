#include "scheduler/workloads/engine/workload_engine.h"

#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/net/fake_transport.h"
#include "lib/unit.h"
#include "lib/workloads/workload_engine_fixture.h"
#include "obs/metric.h"
#include "scheduler/workloads/conf/kueue_conf_metrics.h"
#include "scheduler/workloads/engine/cycle_pace.h"
#include "scheduler/workloads/engine/deferred_reasons.h"
#include "scheduler/workloads/ingest/workload_cache.h"

#define WORKLOAD(name)                                                                             \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/" name                         \
	"/status?fieldManager=kueue-admission&force=true"
#define QUEUE                                                                                      \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/clusterqueues/team/"                                   \
	"status?fieldManager=headgate-quota-status&force=true"
#define LOCAL                                                                                      \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues/lq/"                         \
	"status?fieldManager=headgate-quota-status&force=true"
#define COST(name)                                                                                 \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/" name                         \
	"/status?fieldManager=headgate-preemption-cost"
#define FIVE_MINUTES (300 * CLOCK_NS_PER_S)
#define USED(cpu, at)                                                                              \
	",\"status\":{\"fairSharing\":{\"weightedShare\":0,\"admissionFairSharingStatus\":{"       \
	"\"consumedResources\":{\"cpu\":\"" cpu "\"},\"lastUpdate\":\"" at "\"}}}"
#define QUEUES 8
#define EVENT "POST /api/v1/namespaces/ns/events"

static double attempts(const struct workload_engine_fixture *f, const char *result)
{
	static const char *const labels[] = { "result", "replica_role", NULL };
	const char *const values[] = { result, "leader" };

	return metric_cell_get(
		metric_cell(metric_register(f->counters, "kueue_admission_attempts_total", "",
					    METRIC_COUNTER, labels),
			    values));
}

/* Answers all requests, and adds their lines to ret. */
static void answer_lines(struct workload_engine_fixture *f, struct strbuf *ret)
{
	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport, "");

		strbuf_printf(ret, "%s\n", fake_transport_request(f->transport, id)->url);
		fake_transport_answer(f->transport, id, 200,
				      "{\"metadata\":{\"resourceVersion\":\"1\"}}");
	}
}

/* Statuses of queues, events. */
static void answer_all(struct workload_engine_fixture *f)
{
	CLEANUP(strbuf_finish) struct strbuf lines = STRBUF_INIT;

	answer_lines(f, &lines);
}

/* The world is listed, and the statuses of its queues are written. */
static void begin_settled(struct workload_engine_fixture *f)
{
	workload_engine_fixture_init(f, false);
	workload_engine_fixture_world(f);
	workload_engine_fixture_step(f);
	workload_engine_fixture_answer(f, QUEUE, 200);
	workload_engine_fixture_answer(f, LOCAL, 200);
	/* The first objects changed after the first cycle: a second one follows. */
	clock_fake_advance(&f->clock, 2 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(f);
	fake_transport_expect_none(f->transport);
}

static void nothing_before_everything_is_listed(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init(&f, false);
	workload_engine_fixture_workload(&f, "one", 0, "1");
	workload_engine_fixture_step(&f);
	assert_int_equal(f.due, CLOCK_NEVER);
	fake_transport_expect_none(f.transport);
	workload_engine_fixture_world(&f);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 200);
	workload_engine_fixture_finish(&f);
}

static void events_follow_the_write(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "one", 0, "2");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 200);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	fake_transport_expect_none(f.transport);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, EVENT, 201); /* QuotaReserved */
	workload_engine_fixture_answer(&f, EVENT, 201); /* Admitted */
	fake_transport_expect_none(f.transport);
	workload_engine_fixture_finish(&f);
}

static void no_event_of_a_refused_write(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "one", 0, "2");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 403);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, EVENT, 201); /* WorkloadWriteRefused */
	fake_transport_expect_none(f.transport);
	/* It is tried again by itself. */
	assert_true(f.due != CLOCK_NEVER);
	clock_fake_advance(&f.clock, 3 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 200);
	workload_engine_fixture_finish(&f);
}

/* The preemptor stays at the top of its queue until its victim has stopped. */
static void a_preemptor_is_not_tried_in_each_cycle(void **state)
{
	struct workload_engine_fixture f;
	double before;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "low", 0, "2");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("low"), 200);
	workload_engine_fixture_workload(&f, "high", 9, "3");
	workload_engine_fixture_step(&f);
	before = attempts(&f, "success") + attempts(&f, "inadmissible");
	for (unsigned i = 0; i < 10; i++) {
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
		workload_engine_fixture_step(&f);
	}
	assert_true(attempts(&f, "success") + attempts(&f, "inadmissible") <= before + 2);
	workload_engine_fixture_finish(&f);
}

static void see_preempted(struct workload_engine_fixture *f, const char *name, int times)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\"},\"spec\":{"
		"\"queueName\":\"other\"},\"status\":{\"schedulingStats\":{\"evictions\":[{"
		"\"reason\":\"Preempted\",\"underlyingCause\":\"\",\"count\":%d}]}}}",
		name, name, times);

	workload_engine_fixture_see(f, SCHED_WORKLOADS, key, json);
}

static void costs_follow_preemptions(void **state)
{
	struct workload_engine_fixture f;
	uint64_t id;

	(void)state;
	workload_engine_fixture_init(&f, true);
	see_preempted(&f, "one", 2);
	workload_engine_fixture_world(&f);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 200);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	id = fake_transport_expect(f.transport, COST("one"));
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"preemptionCost\":\"2\""));
	fake_transport_answer(f.transport, id, 200, "{}");
	/* Another one is looked at when it comes, not with the whole list. */
	see_preempted(&f, "two", 3);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("two"), 200);
	clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, COST("one"), 200);
	id = fake_transport_expect(f.transport, COST("two"));
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"preemptionCost\":\"3\""));
	fake_transport_answer(f.transport, id, 200, "{}");
	workload_engine_fixture_finish(&f);
}

/* The first Workload with a preemption gate makes the engine ask which fields of gates are served.
 */
static void gates_are_asked_about_once_there_are_some(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "plain", 0, "2");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("plain"), 200);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	fake_transport_expect_none(f.transport);
	workload_engine_fixture_see(
		&f, SCHED_WORKLOADS, "ns/gated",
		"{\"metadata\":{\"name\":\"gated\",\"namespace\":\"ns\",\"uid\":\"u-gated\"},"
		"\"spec\":"
		"{\"queueName\":\"other\",\"preemptionGates\":[{\"name\":\"example.com/g\"}]}}");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("gated"), 200);
	(void)fake_transport_expect(f.transport,
				    "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
				    "workloads.kueue.x-k8s.io");
	workload_engine_fixture_finish(&f);
}

/* Nothing runs for a Workload without an owner: its reservation goes with the eviction, in one
 * write. */
static void victims_without_a_job_are_written_once(void **state)
{
	struct workload_engine_fixture f;
	struct str body;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "low", 0, "2");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("low"), 200);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, EVENT, 201);
	workload_engine_fixture_answer(&f, EVENT, 201);
	workload_engine_fixture_workload(&f, "high", 9, "3");
	workload_engine_fixture_step(&f);
	body = fake_transport_body(f.transport,
				   fake_transport_expect(f.transport, WORKLOAD("low")));
	assert_non_null(strstr(body.p, "\"status\":\"True\",\"type\":\"Evicted\""));
	assert_non_null(strstr(body.p, "\"status\":\"False\",\"type\":\"QuotaReserved\""));
	assert_null(strstr(body.p, "\"admission\""));
	workload_engine_fixture_finish(&f);
}

/* The reason why it waits is not urgent: the next cycle may admit it. */
static void why_it_waits_is_written_a_moment_later(void **state)
{
	struct workload_engine_fixture f;
	struct str body;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_workload(&f, "big", 0, "9");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_answer(&f, LOCAL, 200);
	fake_transport_expect_none(f.transport);
	assert_int_equal(f.due, clock_mono(&f.clock.base) + DEFERRED_REASONS_AFTER_NS);
	clock_fake_advance(&f.clock, DEFERRED_REASONS_AFTER_NS);
	workload_engine_fixture_step(&f);
	body = fake_transport_body(f.transport,
				   fake_transport_expect(f.transport, WORKLOAD("big")));
	assert_non_null(strstr(body.p, "\"status\":\"False\",\"type\":\"QuotaReserved\""));
	workload_engine_fixture_finish(&f);
}

static void add_queue(struct workload_engine_fixture *f, unsigned i)
{
	CLEANUP(xmalloc_freep) char *name = xmalloc_printf("q%u", i);
	CLEANUP(xmalloc_freep)
	char *queue = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"generation\":1," WORKLOAD_ENGINE_FIXTURE_KEPT
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

	workload_engine_fixture_see(f, SCHED_CLUSTER_QUEUES, name, queue);
	workload_engine_fixture_see(f, SCHED_LOCAL_QUEUES, key, local);
}

static void add_to_queue(struct workload_engine_fixture *f, const char *name, unsigned queue)
{
	CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%s", name);
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		"\"generation\":1},\"spec\":{\"queueName\":\"q%u\",\"podSets\":[{\"template\":"
		"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}}",
		name, name, queue);

	workload_engine_fixture_see(f, SCHED_WORKLOADS, key, json);
}

/* How many of the Workloads a0, a1, ... (b0, ...) have quota. */
static unsigned count_held(const struct workload_engine_fixture *f, char letter)
{
	const struct quota_model *q = workload_cache_model(workload_engine_cache(f->engine));
	unsigned n = 0;

	for (unsigned i = 0; i < QUEUES; i++) {
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("ns/%c%u", letter, i);

		n += quota_workload_find(q, str_of(key))->holding.node != MODEL_NONE;
	}
	return n;
}

static void begin_queues(struct workload_engine_fixture *f)
{
	workload_engine_fixture_init(f, false);
	clock_fake_advance(&f->clock, 60 * CYCLE_PACE_LONGEST_NS); /* it has run for a while */
	for (unsigned i = 0; i < QUEUES; i++) {
		add_queue(f, i);
	}
	workload_engine_fixture_world(f);
	for (unsigned i = 0; i < QUEUES; i++) {
		CLEANUP(xmalloc_freep) char *first = xmalloc_printf("a%u", i);
		CLEANUP(xmalloc_freep) char *second = xmalloc_printf("b%u", i);

		add_to_queue(f, first, i);
		add_to_queue(f, second, i);
	}
	workload_engine_fixture_step(f);
}

static void answer_workload(struct workload_engine_fixture *f)
{
	uint64_t id = fake_transport_expect_prefix(
		f->transport, "PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/");

	fake_transport_answer(f->transport, id, 200, "{\"metadata\":{\"resourceVersion\":\"99\"}}");
	workload_engine_fixture_step(f);
}

/* A cycle begins only when the admissions of the last one are written. */
static void a_cycle_waits_for_the_writes_of_the_last(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_queues(&f);
	assert_int_equal(count_held(&f, 'a'), QUEUES);
	assert_int_equal(count_held(&f, 'b'), 0);
	for (unsigned i = CYCLE_PACE_AHEAD; i < QUEUES; i++) {
		assert_int_equal(count_held(&f, 'b'), 0);
		answer_workload(&f);
	}
	assert_int_equal(count_held(&f, 'b'), QUEUES);
	workload_engine_fixture_finish(&f);
}

static void writes_that_hang_do_not_stop_it(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_queues(&f);
	assert_true(f.due <= clock_mono(&f.clock.base) + CYCLE_PACE_PATIENCE_NS);
	clock_fake_advance(&f.clock, CYCLE_PACE_PATIENCE_NS - 1);
	workload_engine_fixture_step(&f);
	assert_int_equal(count_held(&f, 'b'), 0);
	clock_fake_advance(&f.clock, 1);
	workload_engine_fixture_step(&f);
	assert_int_equal(count_held(&f, 'b'), QUEUES);
	workload_engine_fixture_finish(&f);
}

/* Statuses of other queues do not wait until it is over, nor do gauges. */
static void a_failing_queue_status_does_not_delay_others(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init(&f, false);
	workload_engine_fixture_world(&f);
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	for (unsigned i = 0; i < 5; i++) {
		workload_engine_fixture_answer(&f, LOCAL, 500);
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
		workload_engine_fixture_step(&f);
	}
	workload_engine_fixture_answer(&f, LOCAL, 500);
	workload_engine_fixture_workload(&f, "a", 0, "1");
	workload_engine_fixture_step(&f);
	workload_engine_fixture_answer(&f, WORKLOAD("a"), 200);
	workload_engine_fixture_answer(&f, QUEUE, 200);
	workload_engine_fixture_finish(&f);
}

/* A queue of the same name, id and generation as one that is gone is another object, which has no
 * status yet. */
static void a_queue_that_is_created_again_gets_its_status(void **state)
{
	static const struct {
		const char *name;
		enum sched_resource kind;
		const char *key, *request;
	} rows[] = {
		{ "ClusterQueue", SCHED_CLUSTER_QUEUES, "q0",
		  "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/q0/status?" },
		{ "LocalQueue", SCHED_LOCAL_QUEUES, "ns/q0",
		  "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/localqueues/q0/status?" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct workload_engine_fixture f;
		CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, again = STRBUF_INIT;

		unit_row(rows[i].name);
		begin_settled(&f);
		add_queue(&f, 0);
		workload_engine_fixture_step(&f);
		answer_lines(&f, &first);
		assert_non_null(strstr(first.p, rows[i].request));
		workload_engine_fixture_gone(&f, rows[i].kind, rows[i].key);
		add_queue(&f, 0);
		clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
		workload_engine_fixture_step(&f);
		answer_lines(&f, &again);
		assert_non_null(strstr(again.p, rows[i].request));
		workload_engine_fixture_finish(&f);
	}
}

static void bad_objects_are_reported(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "x",
		"{\"metadata\":{\"name\":\"x\"},\"spec\":{\"queueingStrategy\":\"No\"}}");
	assert_int_equal(f.bad, 1);
	workload_engine_fixture_finish(&f);
}

static double admitted(const struct workload_engine_fixture *f, const char *tier)
{
	static const char *const labels[] = { "cluster_queue", "replica_role", "custom_tier",
					      NULL };
	const char *const values[] = { "team", "leader", tier };

	return metric_cell_get(
		metric_cell(metric_register(f->counters, "kueue_admitted_active_workloads", "",
					    METRIC_GAUGE, labels),
			    values));
}

static void see_tier(struct workload_engine_fixture *f, const char *tier)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf(
		"{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"u-one\","
		"\"generation\":1,\"labels\":{\"tier\":\"%s\"}},\"spec\":{\"queueName\":\"lq\","
		"\"podSets\":[{\"name\":\"main\",\"template\":{\"spec\":{\"containers\":[{"
		"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]},\"status\":{\"admission\":{"
		"\"clusterQueue\":\"team\",\"podSetAssignments\":[{\"name\":\"main\",\"count\":1,"
		"\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":\"1\"}}]},"
		"\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":"
		"\"QuotaReserved\",\"lastTransitionTime\":\"2023-11-14T22:13:20Z\"},{\"type\":"
		"\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\","
		"\"lastTransitionTime\":\"2023-11-14T22:13:20Z\"}]}}",
		tier);

	workload_engine_fixture_see(f, SCHED_WORKLOADS, "ns/one", json);
	clock_fake_advance(&f->clock, 10 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(f);
}

static void metrics_bear_labels_of_workloads(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init_conf(
		&f, false,
		"{\"featureGates\":{\"CustomMetricLabels\":true},\"metrics\":{\"customLabels\":[{"
		"\"name\":\"tier\",\"sourceKind\":\"Workload\",\"trackedValues\":[\"gold\"]}]}}");
	workload_engine_fixture_world(&f);
	see_tier(&f, "gold");
	assert_true(admitted(&f, "gold") == 1);
	see_tier(&f, "tin");
	assert_true(admitted(&f, "gold") == 0);
	assert_true(admitted(&f, KUEUE_CONF_METRICS_UNTRACKED) == 1);
	workload_engine_fixture_finish(&f);
}

/* --- admission fair sharing --------------------------------------------------------------------*/

/* Neither the object nor a queue changes: the engine must repeat the write itself. */
static void failed_writes_outside_of_cycles_are_repeated(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_see(
		&f, SCHED_WORKLOADS, "ns/off",
		"{\"metadata\":{\"name\":\"off\",\"namespace\":\"ns\",\"uid\":\"u\"},\"spec\":{"
		"\"active\":"
		"false,\"podSets\":[{\"template\":{}}]}}");
	for (unsigned i = 0; i < 3; i++) {
		workload_engine_fixture_step(&f);
		workload_engine_fixture_answer(&f, WORKLOAD("off"), 422);
		answer_all(&f);
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S << i);
	}
	workload_engine_fixture_finish(&f);
}

/* Cancels all requests; their lines. */
static void cancel_all(struct workload_engine_fixture *f, struct strbuf *ret)
{
	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport, "");

		strbuf_printf(ret, "%s\n", fake_transport_request(f->transport, id)->url);
		fake_transport_fail(f->transport, id, ERR_CANCELLED, false);
	}
}

/* As when the lease was lost and is held again: no object has changed meanwhile. */
static void cancelled_writes_are_sent_again(void **state)
{
	struct workload_engine_fixture f;
	CLEANUP(strbuf_finish) struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	(void)state;
	begin_settled(&f);
	workload_engine_fixture_see(
		&f, SCHED_CLUSTER_QUEUES, "new",
		"{\"metadata\":{\"name\":\"new\",\"uid\":\"u\",\"resourceVersion\":\"7\","
		"\"generation\":1},\"spec\":{\"namespaceSelector\":{}}}");
	workload_engine_fixture_see(
		&f, SCHED_FLAVORS, "bare",
		"{\"metadata\":{\"name\":\"bare\",\"uid\":\"u\",\"resourceVersion\":\"8\"}}");
	workload_engine_fixture_step(&f);
	cancel_all(&f, &first);
	assert_non_null(strstr(first.p, "/clusterqueues/new\n"));
	assert_non_null(strstr(first.p, "/clusterqueues/new/status?"));
	assert_non_null(strstr(first.p, "/resourceflavors/bare\n"));
	clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	cancel_all(&f, &second);
	assert_string_equal(second.p, first.p);
	workload_engine_fixture_finish(&f);
}

static void add_usage_world(struct workload_engine_fixture *f, const char *status)
{
	struct quota_options *o = &workload_cache_model(workload_engine_cache(f->engine))->options;
	CLEANUP(xmalloc_freep)
	char *other = xmalloc_printf("{\"metadata\":{\"name\":\"other\",\"namespace\":\"ns\","
				     "\"generation\":1},\"spec\":{\"clusterQueue\":\"team\"}"
				     "%s}",
				     status);

	o->admission_fair_sharing = true;
	o->usage.half_life_ns = o->usage.sampling_ns = FIVE_MINUTES;
	workload_engine_fixture_see(f, SCHED_LOCAL_QUEUES, "ns/other", other);
	workload_engine_fixture_world(f);
	workload_engine_fixture_see(
		f, SCHED_CLUSTER_QUEUES, "team",
		"{\"metadata\":{\"name\":\"team\",\"generation\":2," WORKLOAD_ENGINE_FIXTURE_KEPT
		"},\"spec\":{\"namespaceSelector\":{},\"admissionScope\":{\"admissionMode\":"
		"\"UsageBasedAdmissionFairSharing\"},\"resourceGroups\":[{\"coveredResources\":["
		"\"cpu\"],\"flavors\":[{\"name\":\"default\",\"resources\":[{\"name\":\"cpu\","
		"\"nominalQuota\":\"3\"}]}]}]}}");
	workload_engine_fixture_step(f);
	answer_all(f);
}

static double used(const struct workload_engine_fixture *f, const char *key)
{
	return quota_local_find(workload_cache_model(workload_engine_cache(f->engine)), str_of(key))
		->usage;
}

/* A failed admission leaves nothing; an entry counts at once, then what is held does. */
static void use_of_local_queues_is_sampled(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init(&f, false);
	add_usage_world(&f, "");
	workload_engine_fixture_workload(&f, "one", 0, "1");
	workload_engine_fixture_step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 422);
	answer_all(&f);
	assert_true(used(&f, "ns/lq") == 0);
	clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	workload_engine_fixture_answer(&f, WORKLOAD("one"), 200);
	answer_all(&f);
	clock_fake_advance(&f.clock, FIVE_MINUTES - 3 * CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	assert_true(used(&f, "ns/lq") == 0.5);
	assert_true(f.due <= clock_mono(&f.clock.base) + CLOCK_NS_PER_S);
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	workload_engine_fixture_step(&f);
	assert_true(used(&f, "ns/lq") == 0.75);
	workload_engine_fixture_finish(&f);
}

/* A new leader goes on from the statuses; while it leads, those are only what it wrote itself. */
static void use_is_read_back_after_a_restart(void **state)
{
	struct workload_engine_fixture f;

	(void)state;
	workload_engine_fixture_init(&f, false);
	add_usage_world(&f, USED("4", "2023-11-14T22:08:20Z"));
	assert_true(used(&f, "ns/other") ==
		    2); /* five minutes before WORKLOAD_ENGINE_FIXTURE_WALL */
	workload_engine_fixture_see(
		&f, SCHED_LOCAL_QUEUES, "ns/other",
		"{\"metadata\":{\"name\":\"other\",\"namespace\":\"ns\",\"generation\":1},"
		"\"spec\":{\"clusterQueue\":\"team\"}" USED("9", "2023-11-14T22:13:20Z") "}");
	assert_true(used(&f, "ns/other") == 2);
	workload_engine_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_are_asked_about_once_there_are_some),
		cmocka_unit_test(nothing_before_everything_is_listed),
		cmocka_unit_test(events_follow_the_write),
		cmocka_unit_test(no_event_of_a_refused_write),
		cmocka_unit_test(a_preemptor_is_not_tried_in_each_cycle),
		cmocka_unit_test(costs_follow_preemptions),
		cmocka_unit_test(victims_without_a_job_are_written_once),
		cmocka_unit_test(why_it_waits_is_written_a_moment_later),
		cmocka_unit_test(a_cycle_waits_for_the_writes_of_the_last),
		cmocka_unit_test(writes_that_hang_do_not_stop_it),
		cmocka_unit_test(cancelled_writes_are_sent_again),
		cmocka_unit_test(failed_writes_outside_of_cycles_are_repeated),
		cmocka_unit_test(a_failing_queue_status_does_not_delay_others),
		cmocka_unit_test(a_queue_that_is_created_again_gets_its_status),
		cmocka_unit_test(bad_objects_are_reported),
		cmocka_unit_test(metrics_bear_labels_of_workloads),
		cmocka_unit_test(use_of_local_queues_is_sampled),
		cmocka_unit_test(use_is_read_back_after_a_restart),
	};

	return cmocka_run_group_tests_name("workloads/engine/workload_engine", tests, NULL, NULL);
}
