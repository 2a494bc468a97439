#include "api/kueue/kueue.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/err.h"
#include "lib/decode_fixture.h"

static void test_queue(void **state)
{
	const char *text = "{'metadata':{'name':'cq'},'spec':{'resourceGroups':[{'coveredResources'"
			   ":['cpu','memory'],'flavors':[{'name':'spot','resources':[{'name':'cpu',"
			   "'nominalQuota':9,'borrowingLimit':'500m','lendingLimit':'0'},{'name':'"
			   "memory','nominalQuota':'36Gi'}]},{'name':'ondemand','resources':[]}]}],"
			   "'cohortName':'team','queueingStrategy':'StrictFIFO','namespaceSelector'"
			   ":{'matchExpressions':[{'key':'k','operator':'In','values':['a']}]}}}";
	const struct api_flavor_quotas *f;
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, text, &q);
	assert_int_equal(q.spec.resource_groups.v[0].covered_resources.n, 2);
	f = kueue_find_flavor(&q.spec.resource_groups, "spot");
	assert_ptr_equal(f, &q.spec.resource_groups.v[0].flavors.v[0]);
	assert_int_equal(quantity_value(*f->resources.v[0].nominal), 9);
	assert_int_equal(quantity_milli(*f->resources.v[0].borrowing_limit), 500);
	assert_true(quantity_is_zero(*f->resources.v[0].lending_limit));
	assert_null(f->resources.v[1].borrowing_limit);
	assert_null(f->resources.v[1].lending_limit);
	assert_null(kueue_find_flavor(&q.spec.resource_groups, "cpu"));
	assert_string_equal(q.spec.cohort, "team");
	assert_string_equal(q.spec.queueing_strategy, KUEUE_STRICT_FIFO);
	assert_string_equal(q.spec.namespace_selector->match_expressions.v[0].key, "k");
}

static void test_policies(void **state)
{
	const char *text =
		"{'spec':{'flavorFungibility':{'whenCanBorrow':'TryNextFlavor','preference':'"
		"PreemptionOverBorrowing'},'preemption':{'reclaimWithinCohort':'Any','"
		"borrowWithinCohort':{'policy':'LowerPriority','maxPriorityThreshold':-3},'"
		"withinClusterQueue':'LowerPriority'},'admissionChecksStrategy':{'admissionChecks':"
		"[{'name':'c','onFlavors':['spot']}]},'stopPolicy':'Hold','fairSharing':{'weight':'"
		"1500m'},'admissionScope':{'admissionMode':'NoAdmissionFairSharing'},'"
		"concurrentAdmissionPolicy':{'migration':{'mode':'RetainFirstAdmission','"
		"constraints':{'lastAcceptableFlavorName':'f'}}}}}";
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, text, &q);
	assert_string_equal(q.spec.flavor_fungibility.when_can_borrow, KUEUE_TRY_NEXT_FLAVOR);
	assert_string_equal(q.spec.flavor_fungibility.preference, KUEUE_PREEMPTION_OVER_BORROWING);
	assert_string_equal(q.spec.preemption.reclaim_within_cohort, KUEUE_ANY);
	assert_string_equal(q.spec.preemption.borrow_within_cohort.policy, KUEUE_LOWER_PRIORITY);
	assert_int_equal(q.spec.preemption.borrow_within_cohort.max_priority_threshold, -3);
	assert_string_equal(q.spec.preemption.within_cluster_queue, KUEUE_LOWER_PRIORITY);
	assert_string_equal(q.spec.admission_checks.checks.v[0].on_flavors.v[0], "spot");
	assert_string_equal(q.spec.stop_policy, KUEUE_STOP_HOLD);
	assert_int_equal(quantity_milli(*q.spec.fair_sharing.weight), 1500);
	assert_string_equal(q.spec.admission_scope->mode, "NoAdmissionFairSharing");
	assert_string_equal(q.spec.concurrent_admission->migration.mode, "RetainFirstAdmission");
}

static void test_absence(void **state)
{
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, "{}", &q);
	assert_null(q.spec.namespace_selector);
	assert_null(q.spec.cohort);
	assert_null(q.spec.queueing_strategy);
	assert_null(q.spec.fair_sharing.weight);
	assert_null(q.status.fair_sharing);
	assert_null(q.spec.admission_scope);
	assert_null(q.spec.concurrent_admission);
	assert_int_equal(q.spec.preemption.borrow_within_cohort.max_priority_threshold,
			 FIELD_NO_I32);
	/* No selector selects nothing, an empty one everything. */
	decode_fixture(&kueue_cluster_queue_fields, "{'spec':{'namespaceSelector':{}}}", &q);
	assert_non_null(q.spec.namespace_selector);
}

static void test_status(void **state)
{
	const char *text =
		"{'status':{'conditions':[{'type':'Active','status':'True','reason':'Ready','"
		"observedGeneration':4}],'flavorsReservation':[{'name':'f','resources':[{'name':'"
		"cpu','total':'5','borrowed':'1'}]}],'flavorsUsage':[{'name':'f','resources':[{'"
		"name':'cpu','total':'3'}]}],'pendingWorkloads':1,'reservingWorkloads':2,'"
		"admittedWorkloads':3,'fairSharing':{'weightedShare':9223372036854775807}}}";
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, text, &q);
	assert_true(meta_condition_is_true(&q.status.conditions, KUEUE_ACTIVE));
	assert_false(meta_condition_is_true(&q.status.conditions, "Other"));
	assert_int_equal(q.status.conditions.v[0].observed_generation, 4);
	assert_int_equal(
		quantity_value(*q.status.totals.flavors_reservation.v[0].resources.v[0].borrowed),
		1);
	assert_int_equal(quantity_value(*q.status.totals.flavors_usage.v[0].resources.v[0].total),
			 3);
	assert_null(q.status.totals.flavors_usage.v[0].resources.v[0].borrowed);
	assert_int_equal(q.status.totals.pending, 1);
	assert_int_equal(q.status.totals.reserving, 2);
	assert_int_equal(q.status.totals.admitted, 3);
	assert_int_equal(q.status.fair_sharing->weighted_share, INT64_MAX);
}

static void test_cohort(void **state)
{
	struct api_cohort o;
	(void)state;

	decode_fixture(&kueue_cohort_fields,
		       "{'spec':{'parentName':'p','fairSharing':{'weight':0},'resourceGroups':[{'"
		       "flavors':[{'name':'f'}]}]},'status':{'fairSharing':{'weightedShare':7}}}",
		       &o);
	assert_string_equal(o.spec.parent, "p");
	assert_true(quantity_is_zero(*o.spec.fair_sharing.weight));
	assert_non_null(kueue_find_flavor(&o.spec.resource_groups, "f"));
	assert_int_equal(o.status.fair_sharing->weighted_share, 7);
}

static void test_local_queue(void **state)
{
	const char *text = "{'spec':{'clusterQueue':'cq','stopPolicy':'HoldAndDrain','fairSharing':"
			   "{'weight':'2'}},'status':{'pendingWorkloads':1,'fairSharing':{'"
			   "weightedShare':5,'admissionFairSharingStatus':{'consumedResources':{'"
			   "cpu':'1500m'},'lastUpdate':'2026-01-02T03:04:05Z'}}}}";
	const struct api_admission_usage *usage;
	struct api_local_queue q;
	(void)state;

	decode_fixture(&kueue_local_queue_fields, text, &q);
	assert_string_equal(q.spec.cluster_queue, "cq");
	assert_string_equal(q.spec.stop_policy, KUEUE_STOP_HOLD_AND_DRAIN);
	assert_int_equal(q.status.totals.pending, 1);
	assert_int_equal(q.status.fair_sharing->weighted_share, 5);
	usage = q.status.fair_sharing->admission;
	assert_int_equal(quantity_milli(*field_resources_get(&usage->consumed, "cpu")), 1500);
	assert_int_equal(usage->last_update, INT64_C(1767323045) * 1000000000);
	decode_fixture(&kueue_local_queue_fields, "{'status':{'fairSharing':{}}}", &q);
	assert_null(q.status.fair_sharing->admission);
}

static void test_flavor(void **state)
{
	const char *text = "{'spec':{'nodeLabels':{'pool':'spot'},'nodeTaints':[{'key':'spot','"
			   "value':'true','effect':'NoSchedule'}],'tolerations':[{'key':'spot','"
			   "operator':'Exists'}],'topologyName':'t'}}";
	struct api_resource_flavor f;
	(void)state;

	decode_fixture(&kueue_resource_flavor_fields, text, &f);
	assert_true(field_map_is(&f.spec.node_labels, "pool", "spot"));
	assert_string_equal(f.spec.node_taints.v[0].effect, "NoSchedule");
	assert_string_equal(f.spec.tolerations.v[0].operator_, "Exists");
	assert_string_equal(f.spec.topology_name, "t");
}

static void test_small_kinds(void **state)
{
	struct api_workload_priority_class p;
	struct api_admission_check a;
	struct api_topology t;
	(void)state;

	decode_fixture(&kueue_workload_priority_class_fields, "{'value':-5,'description':'d'}", &p);
	assert_int_equal(p.value, -5);
	assert_string_equal(p.description, "d");
	decode_fixture(&kueue_workload_priority_class_fields, "{}", &p);
	assert_int_equal(p.value, FIELD_NO_I32);
	decode_fixture(&kueue_admission_check_fields,
		       "{'spec':{'controllerName':'c','parameters':{'apiGroup':'g','kind':'k','"
		       "name':'n'}},'status':{'conditions':[{'type':'Active','status':'False'}]}}",
		       &a);
	assert_string_equal(a.spec.controller_name, "c");
	assert_string_equal(a.spec.parameters->api_group, "g");
	assert_false(meta_condition_is_true(&a.status.conditions, KUEUE_ACTIVE));
	decode_fixture(&kueue_topology_fields,
		       "{'spec':{'levels':[{'nodeLabel':'rack'},{'nodeLabel':'host'}]}}", &t);
	assert_string_equal(t.spec.levels.v[1].node_label, "host");
}

static void test_errors_name_the_path(void **state)
{
	(void)state;

	decode_fixture_fails(&kueue_cluster_queue_fields,
			     "{'spec':{'resourceGroups':[{'flavors':[{'name':'f','resources':[{'"
			     "name':'cpu','nominalQuota':'1x'}]}]}]}}",
			     "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: invalid "
			     "quantity \"1x\"");
	decode_fixture_fails(&kueue_cluster_queue_fields,
			     "{'spec':{'preemption':{'borrowWithinCohort':{'maxPriorityThreshold':"
			     "2147483648}}}}",
			     "spec.preemption.borrowWithinCohort.maxPriorityThreshold: not an "
			     "integer between -2147483647 and 2147483647");
	decode_fixture_fails(&kueue_workload_priority_class_fields, "{'value':'7'}",
			     "value: expected integer, got string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_absence),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_cohort),
		cmocka_unit_test(test_local_queue),
		cmocka_unit_test(test_flavor),
		cmocka_unit_test(test_small_kinds),
		cmocka_unit_test(test_errors_name_the_path),
	};

	return cmocka_run_group_tests_name("kueue", tests, decode_fixture_open,
					   decode_fixture_close);
}
