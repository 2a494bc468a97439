#include "scheduler/ctl/sim/simulation.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/pods/model/cluster.h"
#include "unit/scheduler/ctl/sim_fixture.h"

static void check_steps(const struct simulation *s, const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;

	sim_fixture_steps(s, &got);
	assert_string_equal(got.p, expected);
}

static enum task_status status_of(const struct simulation *s, const char *key)
{
	const struct task *t = cluster_task_find(simulation_cluster(s), str_of(key));

	assert_non_null(t);
	return simulation_task_status(s, t);
}

/* Ungated, bound when the patch is acknowledged, running after that; the third has no quota until
 * the first is gone. */
static void test_cycles(void **state)
{
	CLEANUP(simulation_destroyp)
	struct simulation *s = sim_fixture_create(
		SIM_FIXTURE_CLUSTER SIM_FIXTURE_GROUP("g", "1")
			SIM_FIXTURE_POD("p1", "g", "2", SIM_FIXTURE_GATED)
				SIM_FIXTURE_POD("p2", "g", "2", SIM_FIXTURE_GATED));
	const struct task *p2;

	(void)state;
	assert_true(simulation_run_cycle(s));
	check_steps(s, "1 Ungate ns/p1");
	assert_int_equal(status_of(s, "ns/p1"), TASK_PENDING);
	assert_true(simulation_run_cycle(s));
	assert_int_equal(status_of(s, "ns/p1"), TASK_BINDING);
	assert_false(simulation_run_cycle(s));
	assert_int_equal(status_of(s, "ns/p1"), TASK_RUNNING);
	assert_int_equal(cluster_task_find(simulation_cluster(s), STR_LIT("ns/p1"))->charge,
			 CHARGE_BOUND);
	p2 = cluster_task_find(simulation_cluster(s), STR_LIT("ns/p2"));
	assert_string_equal(
		simulation_why(s, p2),
		"queue q has not enough quota left: insufficient cpu (2 cpu requested, 1 of "
		"3 left in queue q)");
	assert_true(simulation_delete(s, SCHED_PODS, STR_LIT("ns/p1")));
	assert_false(simulation_delete(s, SCHED_PODS, STR_LIT("ns/p1")));
	assert_true(simulation_run_cycle(s));
	assert_true(simulation_run_cycle(s));
	assert_false(simulation_run_cycle(s));
	check_steps(s, "1 Ungate ns/p1; 2 Bind ns/p1 n1; 4 Ungate ns/p2; 5 Bind ns/p2 n1");
	assert_int_equal(simulation_cycles(s), 6);
}

static void test_no_node_is_published(void **state)
{
	CLEANUP(simulation_destroyp)
	struct simulation *s =
		sim_fixture_create(SIM_FIXTURE_CLUSTER SIM_FIXTURE_GROUP("g", "1") SIM_FIXTURE_POD(
			"p1", "g", "2", SIM_FIXTURE_GATED ", nodeSelector: {pool: none}"));

	(void)state;
	(void)simulation_run_cycle(s);
	(void)simulation_run_cycle(s);
	check_steps(s, "1 Ungate ns/p1; 2 Publish ns/p1");
}

/* Pod new fits as soon as old is gone. */
#define RELEASING                                                                                  \
	"{kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 9}}}\n---\n"      \
	"{kind: Pod, metadata: {name: old, deletionTimestamp: \"2026-01-01T00:00:00Z\"}, spec: "   \
	"{nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 2}}}]}, status: "       \
	"{phase: Running}}\n---\n"                                                                 \
	"{kind: Pod, metadata: {name: new}, spec: {schedulerName: volcano, containers: [{name: "   \
	"c, resources: {requests: {cpu: 2}}}]}}\n"

static void test_room_that_is_being_released_is_pipelined(void **state)
{
	CLEANUP(simulation_destroyp) struct simulation *s = sim_fixture_create(RELEASING);

	(void)state;
	assert_true(simulation_run_cycle(s));
	check_steps(s, "1 Pipeline default/new n1");
	assert_int_equal(status_of(s, "default/new"), TASK_PIPELINED);
	(void)simulation_run_cycle(s);
	assert_false(simulation_run_cycle(s));
	assert_int_equal(status_of(s, "default/new"), TASK_PIPELINED);
	assert_true(simulation_delete(s, SCHED_PODS, STR_LIT("default/old")));
	assert_true(simulation_run_cycle(s));
	assert_int_equal(status_of(s, "default/new"), TASK_BINDING);
}

static void test_a_placement_that_a_later_cycle_does_not_find_ends(void **state)
{
	CLEANUP(simulation_destroyp) struct simulation *s = sim_fixture_create(RELEASING);

	(void)state;
	(void)simulation_run_cycle(s);
	assert_int_equal(status_of(s, "default/new"), TASK_PIPELINED);
	assert_true(simulation_delete(s, SCHED_NODES, STR_LIT("n1")));
	(void)simulation_run_cycle(s);
	assert_int_equal(status_of(s, "default/new"), TASK_PENDING);
}

static void test_defaults_of_the_api_server(void **state)
{
	CLEANUP(simulation_destroyp)
	struct simulation *s = sim_fixture_create(
		"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, "
		"value: 7}\n---\n"
		"{kind: Pod, metadata: {name: a}, spec: {schedulerName: volcano, "
		"priorityClassName: high}}\n---\n"
		"{kind: Pod, metadata: {name: b}, spec: {schedulerName: volcano}, "
		"status: {phase: Running}}\n");
	const struct cluster *c = simulation_cluster(s);

	(void)state;
	assert_int_equal(cluster_task_find(c, STR_LIT("default/a"))->priority, 7);
	assert_non_null(cluster_podgroup_find(c, STR_LIT("default/podgroup-a")));
	assert_int_equal(status_of(s, "default/b"), TASK_RUNNING);
	assert_true(queue_find(c, STR_LIT("default"))->exists);
}

static void test_deletions(void **state)
{
	static const struct {
		enum sched_resource kind;
		const char *key;
	} rows[] = {
		{ SCHED_QUEUES, "q" },
		{ SCHED_NODES, "n1" },
		{ SCHED_PODGROUPS, "ns/g" },
		{ SCHED_PODS, "ns/p" },
	};
	CLEANUP(simulation_destroyp)
	struct simulation *s = sim_fixture_create(SIM_FIXTURE_CLUSTER SIM_FIXTURE_GROUP("g", "1")
							  SIM_FIXTURE_POD("p", "g", "1", ""));

	(void)state;
	(void)simulation_run_cycle(s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_true(simulation_delete(s, rows[i].kind, str_of(rows[i].key)));
		assert_false(simulation_delete(s, rows[i].kind, str_of(rows[i].key)));
		(void)simulation_run_cycle(s);
		assert_null(cluster_verify(simulation_cluster(s)));
	}
}

/* The labels of a namespace decide which queues its pods may use. */
static void test_a_deleted_namespace_loses_its_queues(void **state)
{
	CLEANUP(simulation_destroyp)
	struct simulation *s = sim_fixture_create(
		"{apiVersion: v1, kind: Namespace, metadata: {name: ns, labels: {team: a}}}\n---\n"
		"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q, "
		"annotations: {headgate.io/namespace-selector: team=a}}}\n---\n" SIM_FIXTURE_GROUP(
			"g", "1"));
	const struct podgroup *g = cluster_podgroup_find(simulation_cluster(s), STR_LIT("ns/g"));

	(void)state;
	assert_int_equal(g->barred_by, MODEL_NONE);
	(void)simulation_delete(s, SCHED_NAMESPACES, STR_LIT("ns"));
	assert_int_not_equal(g->barred_by, MODEL_NONE);
	assert_false(simulation_delete(s, SCHED_NAMESPACES, STR_LIT("absent")));
}

static void test_errors_name_document_object_and_field(void **state)
{
	static const struct {
		const char *yaml, *expected;
	} rows[] = {
		{ "{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, resources: "
		  "{requests: {cpu: much}}}]}}",
		  "f: document 1: Pod default/p: spec.containers[0].resources.requests.cpu: " },
		{ SIM_FIXTURE_CLUSTER "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, "
				      "metadata: {name: g}, spec: {minMember: -1}}",
		  "f: document 3: PodGroup default/g: spec.minMember: negative" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		sim_fixture_refused(rows[i].yaml, &err);
		if (!str_has_prefix(str_of(err.text), rows[i].expected)) {
			fail_msg("%s", err.text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_no_node_is_published),
		cmocka_unit_test(test_room_that_is_being_released_is_pipelined),
		cmocka_unit_test(test_a_placement_that_a_later_cycle_does_not_find_ends),
		cmocka_unit_test(test_defaults_of_the_api_server),
		cmocka_unit_test(test_deletions),
		cmocka_unit_test(test_a_deleted_namespace_loses_its_queues),
		cmocka_unit_test(test_errors_name_document_object_and_field),
	};

	return cmocka_run_group_tests_name("ctl/sim/simulation", tests, NULL, NULL);
}
