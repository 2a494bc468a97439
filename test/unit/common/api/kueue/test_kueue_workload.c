#include "api/kueue/kueue_workload.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "lib/decode_fixture.h"

static void test_spec(void **state)
{
	const char *text =
		"{'spec':{'podSets':[],'queueName':'lq','priorityClassRef':{'group':'kueue.x-k8s."
		"io','kind':'WorkloadPriorityClass','name':'p'},'priority':-1,'active':false,'"
		"maximumExecutionTimeSeconds':60,'preemptionGates':[{'name':'g'}]}}";
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	assert_string_equal(w.spec.queue_name, "lq");
	assert_string_equal(w.spec.priority_class_ref->name, "p");
	assert_int_equal(w.spec.priority, -1);
	assert_false(kueue_workload_is_active(&w));
	assert_int_equal(w.spec.max_execution_time, 60);
	assert_string_equal(w.spec.preemption_gates.v[0].name, "g");
}

static void test_pod_template(void **state)
{
	const char *text = "{'spec':{'podSets':[{'template':{'metadata':{'labels':{'a':'b'}},'spec'"
			   ":{'containers':[{'name':'c','resources':{'requests':{'cpu':'1'},'"
			   "limits':{'memory':'2Gi'}}}],'initContainers':[{'name':'i','"
			   "restartPolicy':'Always'}],'nodeSelector':{'pool':'x'},'affinity':{'"
			   "nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
			   "nodeSelectorTerms':[{'matchExpressions':[{'key':'k','operator':'Exists'"
			   "}]}]}}},'tolerations':[{'key':'t'}],'overhead':{'cpu':'10m'},'"
			   "runtimeClassName':'gvisor','priorityClassName':'high'}}}]}}";
	const struct api_pod_spec *pod;
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	pod = &w.spec.pod_sets.v[0].template_.spec;
	assert_true(field_map_is(&w.spec.pod_sets.v[0].template_.meta.labels, "a", "b"));
	assert_non_null(field_resources_get(&pod->containers.v[0].resources.requests, "cpu"));
	assert_non_null(field_resources_get(&pod->containers.v[0].resources.limits, "memory"));
	assert_string_equal(pod->init_containers.v[0].restart_policy, "Always");
	assert_true(field_map_is(&pod->node_selector, "pool", "x"));
	assert_string_equal(pod->affinity->node->required->terms.v[0].expressions.v[0].key, "k");
	assert_string_equal(pod->tolerations.v[0].key, "t");
	assert_int_equal(quantity_milli(*field_resources_get(&pod->overhead, "cpu")), 10);
	assert_string_equal(pod->runtime_class_name, "gvisor");
	assert_string_equal(pod->priority_class_name, "high");
}

static void test_pod_sets(void **state)
{
	const char *text = "{'spec':{'podSets':[{'name':'driver','count':1},{'name':'workers','"
			   "count':0,'minCount':3,'topologyRequest':{'required':'rack','"
			   "unconstrained':false,'podSetGroupName':'g','subGroupCount':2,'"
			   "podSetSliceSize':4,'podsetSliceRequiredTopologyConstraints':[{'"
			   "topology':'host','size':2}]}},{'template':{}}]}}";
	const struct api_topology_request *t;
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	assert_int_equal(w.spec.pod_sets.n, 3);
	assert_int_equal(w.spec.pod_sets.v[0].min_count, FIELD_NO_I32);
	assert_null(w.spec.pod_sets.v[0].topology_request);
	assert_int_equal(w.spec.pod_sets.v[1].count, 0);
	assert_int_equal(w.spec.pod_sets.v[1].min_count, 3);
	t = w.spec.pod_sets.v[1].topology_request;
	assert_string_equal(t->required, "rack");
	assert_null(t->preferred);
	assert_int_equal(t->unconstrained, 0);
	assert_string_equal(t->group_name, "g");
	assert_int_equal(t->sub_group_count, 2);
	assert_int_equal(t->slice_size, 4);
	assert_int_equal(t->slice_constraints.v[0].size, 2);
	assert_null(w.spec.pod_sets.v[2].name);
	assert_int_equal(w.spec.pod_sets.v[2].count, FIELD_NO_I32);
}

static void test_absence(void **state)
{
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, "{}", &w);
	assert_int_equal(w.spec.priority, FIELD_NO_I32);
	assert_int_equal(w.spec.max_execution_time, FIELD_NO_I32);
	assert_true(kueue_workload_is_active(&w));
	assert_null(w.spec.priority_class_ref);
	assert_null(w.status.admission);
	assert_null(w.status.requeue_state);
	assert_null(w.status.scheduling_stats);
	assert_null(w.status.preemption_cost);
	assert_int_equal(w.status.past_execution_time, FIELD_NO_I32);
	assert_int_equal(kueue_workload_stage(&w), KUEUE_WORKLOAD_PENDING);
	assert_null(kueue_workload_assignment(&w, "main"));
	assert_null(kueue_workload_check(&w, "c"));
	assert_int_equal(kueue_workload_reclaimable(&w, "main"), 0);
}

static void test_admission(void **state)
{
	const char *text = "{'status':{'admission':{'clusterQueue':'cq','podSetAssignments':[{'"
			   "name':'main','flavors':{'cpu':'spot'},'resourceUsage':{'cpu':'4'},'"
			   "count':4,'topologyAssignment':{'levels':['host'],'slices':[]},'"
			   "delayedTopologyRequest':'Pending'},{'name':'x'}]}}}";
	const struct api_pod_set_assignment *a;
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	a = kueue_workload_assignment(&w, "main");
	assert_string_equal(w.status.admission->cluster_queue, "cq");
	assert_true(field_map_is(&a->flavors, "cpu", "spot"));
	assert_int_equal(quantity_value(*field_resources_get(&a->usage, "cpu")), 4);
	assert_int_equal(a->count, 4);
	assert_true(a->topology_assignment.len > 0);
	assert_string_equal(a->delayed_topology, "Pending");
	assert_int_equal(kueue_workload_assignment(&w, "x")->count, FIELD_NO_I32);
	assert_null(kueue_workload_assignment(&w, "x")->topology_assignment.p);
	assert_null(kueue_workload_assignment(&w, "y"));
}

static void test_status(void **state)
{
	const char *text =
		"{'status':{'requeueState':{'count':2,'requeueAt':'2026-01-02T03:04:05Z'},'"
		"reclaimablePods':[{'name':'main','count':3}],'admissionChecks':[{'name':'c','"
		"state':'Retry','message':'m','requeueAfterSeconds':30,'retryCount':1,'"
		"podSetUpdates':[{'name':'main','labels':{'l':'1'},'nodeSelector':{'n':'2'},'"
		"tolerations':[{'key':'t'}]}]}],'resourceRequests':[{'name':'main','resources':{'"
		"cpu':'1'}}],'accumulatedPastExecutionTimeSeconds':5,'schedulingStats':{'evictions'"
		":[{'reason':'Preempted','underlyingCause':'','count':2}]},'nominatedClusterNames':"
		"['a','b'],'clusterName':'a','unhealthyNodes':[{'name':'n1'}],'preemptionCost':'"
		"1500m'}}";
	const struct api_check_state *check;
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	assert_int_equal(w.status.requeue_state->count, 2);
	assert_int_equal(w.status.requeue_state->requeue_at, INT64_C(1767323045) * 1000000000);
	assert_int_equal(kueue_workload_reclaimable(&w, "main"), 3);
	assert_int_equal(kueue_workload_reclaimable(&w, "x"), 0);
	check = kueue_workload_check(&w, "c");
	assert_string_equal(check->state, "Retry");
	assert_int_equal(check->requeue_after, 30);
	assert_int_equal(check->retry_count, 1);
	assert_string_equal(check->updates.v[0].tolerations.v[0].key, "t");
	assert_string_equal(w.status.resource_requests.v[0].name, "main");
	assert_int_equal(w.status.past_execution_time, 5);
	assert_int_equal(w.status.scheduling_stats->evictions.v[0].count, 2);
	assert_int_equal(w.status.nominated_clusters.n, 2);
	assert_string_equal(w.status.cluster_name, "a");
	assert_string_equal(w.status.unhealthy_nodes.v[0].name, "n1");
	assert_int_equal(quantity_milli(*w.status.preemption_cost), 1500);
}

static const struct {
	const char *conditions;
	enum kueue_workload_stage stage;
	bool reserving;
} stages[] = {
	{ "", KUEUE_WORKLOAD_PENDING, false },
	{ "{'type':'QuotaReserved','status':'False'}", KUEUE_WORKLOAD_PENDING, false },
	{ "{'type':'QuotaReserved','status':'True'}", KUEUE_WORKLOAD_RESERVING, true },
	{ "{'type':'QuotaReserved','status':'True'},{'type':'Admitted','status':'True'}",
	  KUEUE_WORKLOAD_ADMITTED, true },
	{ "{'type':'QuotaReserved','status':'True'},{'type':'Finished','status':'True'}",
	  KUEUE_WORKLOAD_FINISHED, true },
};

static void test_stages(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_workload w;
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		unit_row(stages[i].conditions);
		strbuf_reset(&text);
		strbuf_printf(&text, "{'status':{'conditions':[%s]}}", stages[i].conditions);
		decode_fixture(&kueue_workload_fields, text.p, &w);
		assert_int_equal(kueue_workload_stage(&w), stages[i].stage);
		assert_int_equal(kueue_workload_is_reserving(&w), stages[i].reserving);
	}
}

/* A Workload with n empty pod sets. */
static void many(struct strbuf *out, size_t n)
{
	strbuf_reset(out);
	strbuf_add_c(out, "{'spec':{'podSets':[");
	for (size_t i = 0; i < n; i++) {
		strbuf_add_c(out, i == 0 ? "{}" : ",{}");
	}
	strbuf_add_c(out, "]}}");
}

/* Workloads are kept by the thousand: a list of one pod set holds no room for more. */
static void test_size_in_memory(void **state UNUSED)
{
	static const char text[] = "{\"spec\":{\"podSets\":[{\"count\":1}]}}";
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_workload w;

	assert_int_equal(decode_text(&kueue_workload_fields, str_of(text), &w, arena, NULL), 0);
	assert_int_equal(w.spec.pod_sets.n, 1);
	assert_true(arena_used(arena) < 2 * sizeof(struct api_pod_set));
}

static void test_limits(void **state)
{
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_workload w;
	(void)state;

	many(&text, 20000);
	decode_fixture(&kueue_workload_fields, text.p, &w);
	assert_int_equal(w.spec.pod_sets.n, 20000);
	many(&text, DECODE_MAX_BYTES / sizeof(struct api_pod_set));
	decode_fixture_fails(&kueue_workload_fields, text.p,
			     "spec.podSets: lists and maps of more than 67108864 bytes in memory");
	decode_fixture(&kueue_workload_fields,
		       "{'spec':{'podSets':[{'count':2147483647}],'priority':-2147483647}}", &w);
	assert_int_equal(w.spec.pod_sets.v[0].count, INT32_MAX);
	assert_int_equal(w.spec.priority, -INT32_MAX);
	decode_fixture_fails(
		&kueue_workload_fields, "{'spec':{'podSets':[{},{'count':2147483648}]}}",
		"spec.podSets[1].count: not an integer between -2147483647 and 2147483647");
	decode_fixture_fails(&kueue_workload_fields,
			     "{'spec':{'podSets':[{'template':{'spec':{'containers':[{'resources':{"
			     "'requests':{'cpu':'x'}}}]}}}]}}",
			     "spec.podSets[0].template.spec.containers[0].resources.requests.cpu: "
			     "invalid quantity \"x\"");
	decode_fixture_fails(&kueue_workload_fields, "{'status':{'preemptionCost':true}}",
			     "status.preemptionCost: expected quantity, got boolean");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec),      cmocka_unit_test(test_pod_template),
		cmocka_unit_test(test_pod_sets),  cmocka_unit_test(test_absence),
		cmocka_unit_test(test_admission), cmocka_unit_test(test_status),
		cmocka_unit_test(test_stages),    cmocka_unit_test(test_size_in_memory),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests_name("kueue_workload", tests, decode_fixture_open,
					   decode_fixture_close);
}
