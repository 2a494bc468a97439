/* The objects of a worker cluster, and the price of the Workload ns/p in it. Its victim ns/v was
 * admitted a quarter of an hour before ns/p was created; times are seconds from that creation. */
#include "scheduler/orchestrate/price_model.h"

#include <inttypes.h>

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/workloads/conf/kueue_conf.h"

#define BEGAN (INT64_C(1700000000) * CLOCK_NS_PER_S)
#define RAN 900
#define USAGE "\"flavors\":{\"cpu\":\"default\"},\"resourceUsage\":{\"cpu\":\"4\"}"

struct worker {
	struct kueue_conf *conf;
	struct price_model *m;
	struct arena *arena;
	int64_t offset_s; /* of its clock */
	bool parents;     /* Kueue has made variants of the Workloads that are added now */
};

static void begin(struct worker *w, int64_t offset_s)
{
	*w = (struct worker){ .arena = arena_create(0), .offset_s = offset_s };
	assert_int_equal(kueue_conf_read(NULL, NULL, NULL, &w->conf, NULL), 0);
	w->conf->options.preemption_gates = true;
	w->m = price_model_create(w->conf);
}

static void end(struct worker *w)
{
	price_model_destroy(w->m);
	kueue_conf_destroy(w->conf);
	arena_destroy(w->arena);
}

static void take(struct worker *w, enum sched_resource r, const char *key, const char *json)
{
	price_model_take(w->m, message_decode(r, str_of(key), str_of(json), 1));
}

/* ClusterQueue team with 4 cpu: withinClusterQueue LowerPriority. */
static void add_queues(struct worker *w)
{
	take(w, SCHED_NAMESPACES, "ns", "{\"metadata\":{\"name\":\"ns\"}}");
	take(w, SCHED_FLAVORS, "default", "{\"metadata\":{\"name\":\"default\"},\"spec\":{}}");
	take(w, SCHED_CLUSTER_QUEUES, "team",
	     "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"namespaceSelector\":{},"
	     "\"preemption\":{\"withinClusterQueue\":\"LowerPriority\"},"
	     "\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":"
	     "\"default\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]}}");
	take(w, SCHED_LOCAL_QUEUES, "ns/lq",
	     "{\"metadata\":{\"name\":\"lq\",\"namespace\":\"ns\"},\"spec\":{\"clusterQueue\":"
	     "\"team\"}}");
}

static const char *time_of(const struct worker *w, int64_t s)
{
	char text[CLOCK_RFC3339_MAX];

	clock_format_time(BEGAN + (w->offset_s + s) * CLOCK_NS_PER_S, text);
	return arena_dup(w->arena, text);
}

struct spec {
	const char *name;
	int priority;
	int64_t created_s;
	int count;
	const char *pod, *status; /* members of the pod template's spec, of the status */
};

static void add_workload(struct worker *w, struct spec s)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	const char *key = arena_printf(w->arena, "ns/%s", s.name);

	strbuf_printf(&json,
		      "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"u-%s\","
		      "\"creationTimestamp\":\"%s\",\"labels\":{\"" KUEUE_VARIANTS_PARENT
		      "\":\"%s\"}},\"spec\":{\"queueName\":\"lq\","
		      "\"priority\":%d,\"preemptionGates\":[{\"name\":\"g\"}],\"podSets\":["
		      "{\"name\":\"main\",\"count\":%d,\"template\":{\"spec\":{%s"
		      "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
		      "\"1\"}}}]}}}]},\"status\":{%s}}",
		      s.name, s.name, time_of(w, s.created_s), w->parents ? "true" : "false",
		      s.priority, s.count, s.pod, s.status);
	take(w, SCHED_WORKLOADS, key, json.p);
}

static const char *condition(const struct worker *w, const char *type, int64_t s)
{
	return arena_printf(w->arena,
			    "{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"r\",\"message\":"
			    "\"\",\"lastTransitionTime\":\"%s\"}",
			    type, time_of(w, s));
}

/* The status of a Workload that was admitted then, with so many pods. */
static const char *admitted(const struct worker *w, int64_t s, int pods, const char *more)
{
	return arena_printf(w->arena,
			    "\"conditions\":[%s,%s],\"admission\":{\"clusterQueue\":\"team\","
			    "\"podSetAssignments\":[{\"name\":\"main\",\"flavors\":{\"cpu\":"
			    "\"default\"},\"resourceUsage\":{\"cpu\":\"%d\"},\"count\":%d}]}%s",
			    condition(w, "QuotaReserved", s), condition(w, "Admitted", s), pods,
			    pods, more);
}

static struct price price_of(struct worker *w, const char *promised)
{
	struct price p;

	price_model_find(w->m, STR_LIT("ns/p"), &promised, promised != NULL, w->arena, &p);
	return p;
}

/* With a preemptor of two pods and a victim of four, and nothing else. */
static void fill(struct worker *w, const char *pod, const char *more)
{
	add_queues(w);
	price_model_rules_complete(w->m);
	add_workload(w, (struct spec){ "v", 0, -2 * RAN, 4, pod, admitted(w, -RAN, 4, more) });
	add_workload(w, (struct spec){ "p", 10, 0, 2, "", "" });
	price_model_complete(w->m);
}

/* A variant of two pods leaves room for two more, unless its quota counts twice. */
static void test_variants_count_once(void **state)
{
	struct worker w;

	(void)state;
	begin(&w, 0);
	add_queues(&w);
	price_model_rules_complete(w.m);
	add_workload(&w, (struct spec){ "v-x", 0, -2 * RAN, 2, "", admitted(&w, -RAN, 2, "") });
	w.parents = true;
	add_workload(&w, (struct spec){ "v", 0, -2 * RAN, 2, "", admitted(&w, -RAN, 2, "") });
	add_workload(&w, (struct spec){ "p", 10, 0, 2, "", "" });
	price_model_complete(w.m);
	assert_int_equal(price_of(&w, NULL).cost, 0);
	end(&w);
}

static void test_facts(void **state)
{
	static const struct {
		const char *name, *pod, *more;
		int64_t pods, grace_s, evictions;
	} rows[] = {
		{ "the default grace period", "", "", 4, 30, 0 },
		{ "that of the pods", "\"terminationGracePeriodSeconds\":45,", "", 4, 45, 0 },
		{ "none at all", "\"terminationGracePeriodSeconds\":0,", "", 4, 0, 0 },
		{ "a negative one is none", "\"terminationGracePeriodSeconds\":-9,", "", 4, 0, 0 },
		{ "pods that have ended", "",
		  ",\"reclaimablePods\":[{\"name\":\"main\",\"count\":1}]", 3, 30, 0 },
		{ "evictions of all reasons", "",
		  ",\"schedulingStats\":{\"evictions\":[{\"reason\":\"Preempted\",\"count\":2},"
		  "{\"reason\":\"PodsReadyTimeout\",\"count\":1},{\"reason\":\"r\"},"
		  "{\"reason\":\"r\",\"count\":-7}]}",
		  4, 30, 3 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct worker w;
		struct price p;

		unit_row(rows[i].name);
		begin(&w, 0);
		fill(&w, rows[i].pod, rows[i].more);
		p = price_of(&w, NULL);
		assert_int_equal(p.verdict, PRICE_PREEMPTS);
		assert_int_equal(p.n, 1);
		assert_int_equal(p.pods, 2);
		assert_string_equal(p.victims[0].key, "ns/v");
		assert_int_equal(p.victims[0].seconds, RAN);
		assert_int_equal(p.victims[0].pods, rows[i].pods);
		assert_int_equal(p.victims[0].grace_s, rows[i].grace_s);
		assert_int_equal(p.victims[0].evictions, rows[i].evictions);
		end(&w);
	}
}

/* Those that hold quota: of a partial admission fewer than the spec has, and none that has ended.
 */
static void test_pods(void **state)
{
	static const struct {
		const char *name, *podsets, *assignments, *more;
		int64_t pods;
	} rows[] = {
		{ "a partial admission", "{\"name\":\"main\",\"count\":9,\"template\":{}}",
		  "{\"name\":\"main\",\"count\":3," USAGE "}", "", 3 },
		{ "a pod set without a name", "{\"count\":9,\"template\":{}}",
		  "{\"name\":\"main\",\"count\":3," USAGE "}", "", 3 },
		{ "no count", "{\"name\":\"main\",\"template\":{}}",
		  "{\"name\":\"main\"," USAGE "}", "", 1 },
		{ "more have ended than there were",
		  "{\"name\":\"a\",\"count\":2,\"template\":{}},"
		  "{\"name\":\"b\",\"count\":4,\"template\":{}}",
		  "{\"name\":\"a\",\"count\":2},{\"name\":\"b\",\"count\":4," USAGE "}",
		  ",\"reclaimablePods\":[{\"name\":\"a\",\"count\":5}]", 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct worker w;

		unit_row(rows[i].name);
		begin(&w, 0);
		add_queues(&w);
		price_model_rules_complete(w.m);
		take(&w, SCHED_WORKLOADS, "ns/v",
		     arena_printf(w.arena,
				  "{\"metadata\":{\"name\":\"v\",\"namespace\":\"ns\",\"uid\":"
				  "\"u\"},\"spec\":{\"podSets\":[%s]},\"status\":{"
				  "\"conditions\":[%s],\"admission\":{\"clusterQueue\":\"team\","
				  "\"podSetAssignments\":[%s]}%s}}",
				  rows[i].podsets, condition(&w, "QuotaReserved", -RAN),
				  rows[i].assignments, rows[i].more));
		add_workload(&w, (struct spec){ "p", 10, 0, 2, "", "" });
		price_model_complete(w.m);
		assert_int_equal(price_of(&w, NULL).n, 1);
		assert_int_equal(price_of(&w, NULL).victims[0].pods, rows[i].pods);
		assert_int_equal(price_of(&w, NULL).victims[0].seconds, 0);
		end(&w);
	}
}

/* Admitted is False since a time that does not matter. */
static void test_not_admitted(void **state)
{
	struct worker w;
	const char *status;

	(void)state;
	begin(&w, 0);
	add_queues(&w);
	price_model_rules_complete(w.m);
	status = arena_printf(w.arena,
			      "\"conditions\":[%s,{\"type\":\"Admitted\",\"status\":\"False\","
			      "\"lastTransitionTime\":\"%s\"}],\"admission\":{\"clusterQueue\":"
			      "\"team\",\"podSetAssignments\":[{\"name\":\"main\"," USAGE "}]}",
			      condition(&w, "QuotaReserved", -RAN), time_of(&w, -RAN));
	add_workload(&w, (struct spec){ "v", 0, -RAN, 4, "", status });
	add_workload(&w, (struct spec){ "p", 10, 0, 2, "", "" });
	price_model_complete(w.m);
	assert_int_equal(price_of(&w, NULL).victims[0].seconds, 0);
	end(&w);
}

static int64_t cost_with_offset(int64_t offset_s)
{
	struct worker w;
	int64_t cost;

	begin(&w, offset_s);
	fill(&w, "", "");
	cost = price_of(&w, NULL).cost;
	end(&w);
	return cost;
}

static void test_a_wrong_clock_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(cost_with_offset(0), 4 * (RAN + 60) + 2 * 30);
	assert_int_equal(cost_with_offset(3600), cost_with_offset(0));
	assert_int_equal(cost_with_offset(-3600), cost_with_offset(0));
}

/* The newest of what its API server stamps and of its own conditions; not the conditions of
 * others. */
static void test_clock_of_the_worker(void **state)
{
	static const struct {
		const char *name;
		int64_t signal_s, other_created_s, other_condition_s, ran_s;
	} rows[] = {
		{ "its creation", -1, -1, -1, RAN },
		{ "its signal", 70, -1, -1, RAN + 70 },
		{ "the creation of another one", 70, 90, -1, RAN + 90 },
		{ "not a condition of another one", 70, -1, 100000, RAN + 70 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct worker w;
		const char *status;

		unit_row(rows[i].name);
		begin(&w, 0);
		add_queues(&w);
		price_model_rules_complete(w.m);
		add_workload(&w,
			     (struct spec){ "v", 0, -2 * RAN, 4, "", admitted(&w, -RAN, 4, "") });
		status = arena_printf(w.arena, "\"conditions\":[%s]",
				      condition(&w, "BlockedOnPreemptionGates", rows[i].signal_s));
		add_workload(&w, (struct spec){ "p", 10, 0, 2, "", status });
		status = arena_printf(w.arena, "\"conditions\":[%s]",
				      condition(&w, "Requeued", rows[i].other_condition_s));
		add_workload(&w, (struct spec){ "x", 0, rows[i].other_created_s, 1, "", status });
		price_model_complete(w.m);
		assert_int_equal(price_of(&w, NULL).victims[0].seconds, rows[i].ran_s);
		end(&w);
	}
}

/* The amount that v holds stays charged, and v is no victim: how much that is may not be clear. */
static void test_bad_objects_are_counted(void **state)
{
	struct worker w;

	(void)state;
	begin(&w, 0);
	add_queues(&w);
	take(&w, SCHED_CLUSTER_QUEUES, "odd",
	     "{\"metadata\":{\"name\":\"odd\"},\"spec\":{\"resourceGroups\":7}}");
	take(&w, SCHED_FLAVORS, "taint",
	     "{\"metadata\":{\"name\":\"taint\"},\"spec\":{\"nodeTaints\":[{\"key\":\"k\","
	     "\"effect\":\"odd\"}]}}");
	price_model_rules_complete(w.m);
	add_workload(&w, (struct spec){ "v", 0, -RAN, 4, "\"tolerations\":7,",
					admitted(&w, -RAN, 4, "") });
	add_workload(&w, (struct spec){ "y", 0, -RAN, -1, "", "" });
	add_workload(&w, (struct spec){ "p", 10, 0, 2, "", "" });
	price_model_complete(w.m);
	assert_int_equal(price_model_bad(w.m), 4);
	assert_int_equal(price_of(&w, NULL).verdict, PRICE_CANNOT);
	end(&w);
}

static void test_what_the_model_cannot_say(void **state)
{
	struct worker w;
	struct price p;

	(void)state;
	begin(&w, 0);
	add_queues(&w);
	price_model_rules_complete(w.m);
	price_model_complete(w.m);
	p = price_of(&w, NULL);
	assert_int_equal(p.verdict, PRICE_UNKNOWN);
	assert_int_equal(p.cost, REPLICA_COST_UNKNOWN);
	assert_non_null(p.message);
	end(&w);

	begin(&w, 0);
	add_queues(&w);
	price_model_rules_complete(w.m);
	add_workload(
		&w, (struct spec){ "p", 10, 0, 2, "\"resourceClaims\":[{\"name\":\"gpu\"}],", "" });
	price_model_complete(w.m);
	p = price_of(&w, NULL);
	assert_int_equal(p.verdict, PRICE_UNKNOWN);
	assert_int_equal(p.cost, REPLICA_COST_UNKNOWN);
	end(&w);
}

/* Nothing is admitted by a ClusterQueue of which it is not known how much is used. */
static void test_an_amount_that_cannot_be_read(void **state)
{
	struct worker w;
	struct price p;

	(void)state;
	begin(&w, 0);
	add_queues(&w);
	price_model_rules_complete(w.m);
	add_workload(&w, (struct spec){ "v", 0, -RAN, 4, "",
					arena_printf(w.arena,
						     "\"conditions\":[%s],\"admission\":{"
						     "\"clusterQueue\":\"team\","
						     "\"podSetAssignments\":[{\"name\":\"main\","
						     "\"flavors\":{\"cpu\":\"default\"},"
						     "\"resourceUsage\":{\"cpu\":\"x\"}}]}",
						     condition(&w, "QuotaReserved", -RAN)) });
	add_workload(&w, (struct spec){ "p", 10, 0, 2, "", "" });
	price_model_complete(w.m);
	p = price_of(&w, NULL);
	assert_int_equal(p.verdict, PRICE_UNKNOWN);
	assert_string_equal(p.message, "ClusterQueue team is not active: UnreadableWorkload");
	end(&w);
}

static void test_promised_victims(void **state)
{
	struct worker w;

	(void)state;
	begin(&w, 0);
	fill(&w, "", "");
	assert_int_equal(price_of(&w, NULL).verdict, PRICE_PREEMPTS);
	assert_int_equal(price_of(&w, "ns/v").verdict, PRICE_CANNOT);
	/* Nothing of it stays. */
	assert_int_equal(price_of(&w, NULL).verdict, PRICE_PREEMPTS);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_variants_count_once),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_not_admitted),
		cmocka_unit_test(test_a_wrong_clock_changes_nothing),
		cmocka_unit_test(test_clock_of_the_worker),
		cmocka_unit_test(test_bad_objects_are_counted),
		cmocka_unit_test(test_what_the_model_cannot_say),
		cmocka_unit_test(test_an_amount_that_cannot_be_read),
		cmocka_unit_test(test_promised_victims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
