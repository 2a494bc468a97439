#include "scheduler/ctl/multikueue/worker_cost.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "kube/transport.h"
#include "scheduler/ctl/multikueue/worker_access.h"
#include "scheduler/workloads/conf/kueue_conf.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define API MANAGING_CLUSTER_API
#define PODS                                                                                       \
	"podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, image: i, "     \
	"resources: {requests: {cpu: 1}}}]}}}]"
#define WORKLOAD(name, priority)                                                                   \
	"---\n{" API "kind: Workload, metadata: {name: " name                                      \
	", namespace: ns}, spec: {queueName: lq, priority: " priority ", " PODS "}"

/* "low" has the quota of the queue and has not run, "high" may preempt it, "same" may not. */
static const char objects[] =
	"{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n---\n"
	"{" API "kind: ResourceFlavor, metadata: {name: f}, spec: {}}\n---\n"
	"{" API "kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: {}, "
	"preemption: {withinClusterQueue: LowerPriority}, resourceGroups: [{coveredResources: "
	"[cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 1}]}]}]}}\n---\n"
	"{" API "kind: LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: "
	"cq}}\n" WORKLOAD("low", "0") ", status: {admission: {clusterQueue: cq, podSetAssignments: "
				      "[{name: main, count: 1, flavors: {cpu: f}, resourceUsage: "
				      "{cpu: '1'}}]}, conditions: [{type: QuotaReserved, status: "
				      "'True', reason: r, message: m, lastTransitionTime: "
				      "'2026-01-15T09:03:00Z'}]}}\n" WORKLOAD(
					      "high", "10") "}\n" WORKLOAD("same", "0") "}\n";

static struct live_fixture manager;
static struct worker_fixture worker;
static struct kueue_conf *conf;

static int begin(void **state UNUSED)
{
	managing_cluster_start(&manager);
	worker_fixture_start(&worker, true);
	managing_cluster_add_worker(&manager, "w1", &worker);
	worker_fixture_load(&worker, objects);
	return kueue_conf_read(NULL, NULL, NULL, &conf, NULL);
}

static int end(void **state UNUSED)
{
	kueue_conf_destroy(conf);
	worker_fixture_stop(&worker);
	live_fixture_stop(&manager);
	return 0;
}

static void read_cost(const char *key, struct arena *arena, struct worker_cost *ret)
{
	CLEANUP(worker_access_finish) struct worker_access a = { 0 };
	struct transport *m = managing_cluster_connect(&manager), *t = NULL;
	struct err err = ERR_INIT;

	worker_access_read(m, "kueue-system", "w1", &a);
	assert_int_equal(worker_access_connect(&a, &t, &err), 0);
	worker_cost_read(
		&(struct worker_cost_request){
			.worker = t, .conf = conf, .key = key, .limit_ns = 60 * CLOCK_NS_PER_S },
		arena, ret);
	transport_destroy(t);
	transport_destroy(m);
}

static void test_verdicts(void **state UNUSED)
{
	static const struct {
		const char *key;
		enum price_verdict verdict;
		int64_t cost;
		size_t victims;
	} rows[] = {
		/* A restart of one pod, and the default grace period. */
		{ "ns/high", PRICE_PREEMPTS, 60 + 30, 1 },
		{ "ns/same", PRICE_CANNOT, INT64_MAX, 0 },
		{ "ns/low", PRICE_FITS, 0, 0 },
		{ "ns/absent", PRICE_UNKNOWN, -1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct worker_cost c;

		unit_row(rows[i].key);
		read_cost(rows[i].key, arena, &c);
		assert_int_equal(c.verdict, rows[i].verdict);
		assert_true(c.cost == rows[i].cost);
		assert_int_equal(c.victims, rows[i].victims);
	}
}

static void test_errors(void **state UNUSED)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct worker_cost c;

	worker_fixture_set_faults(&worker,
				  "[{fault: status, code: 403, count: 0, path: '.*/cohorts'}]");
	read_cost("ns/high", arena, &c);
	assert_int_equal(c.verdict, PRICE_UNKNOWN);
	assert_non_null(strstr(c.why, "cohorts"));
	worker_fixture_set_faults(&worker, "[]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_verdicts, begin, end),
		cmocka_unit_test_setup_teardown(test_errors, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
