#include "api/kueue_defaults.h"

#include "lib/unit.h"

#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "lib/decode_fixture.h"

static void test_cluster_queue(void **state)
{
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, "{}", &q);
	kueue_defaults_cluster_queue(&q);
	assert_string_equal(q.spec.queueing_strategy, "BestEffortFIFO");
	assert_string_equal(q.spec.flavor_fungibility.when_can_borrow, "MayStopSearch");
	assert_string_equal(q.spec.flavor_fungibility.when_can_preempt, "TryNextFlavor");
	assert_null(q.spec.flavor_fungibility.preference);
	assert_string_equal(q.spec.preemption.reclaim_within_cohort, "Never");
	assert_string_equal(q.spec.preemption.borrow_within_cohort.policy, "Never");
	assert_string_equal(q.spec.preemption.within_cluster_queue, "Never");
	assert_string_equal(q.spec.stop_policy, "None");
	assert_int_equal(quantity_milli(*q.spec.fair_sharing.weight), 1000);
	assert_null(q.spec.namespace_selector);
}

static void test_what_is_set_stays(void **state)
{
	const char *text = "{'spec':{'queueingStrategy':'StrictFIFO','flavorFungibility':{'"
			   "whenCanBorrow':'TryNextFlavor','whenCanPreempt':'MayStopSearch'},'"
			   "preemption':{'reclaimWithinCohort':'Any','borrowWithinCohort':{'policy'"
			   ":'LowerPriority'},'withinClusterQueue':'LowerOrNewerEqualPriority'},'"
			   "stopPolicy':'Hold','fairSharing':{'weight':'0'}}}";
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields, text, &q);
	kueue_defaults_cluster_queue(&q);
	assert_string_equal(q.spec.queueing_strategy, KUEUE_STRICT_FIFO);
	assert_string_equal(q.spec.flavor_fungibility.when_can_borrow, KUEUE_TRY_NEXT_FLAVOR);
	assert_string_equal(q.spec.flavor_fungibility.when_can_preempt, KUEUE_MAY_STOP_SEARCH);
	assert_string_equal(q.spec.preemption.reclaim_within_cohort, KUEUE_ANY);
	assert_string_equal(q.spec.preemption.borrow_within_cohort.policy, KUEUE_LOWER_PRIORITY);
	assert_string_equal(q.spec.preemption.within_cluster_queue, KUEUE_LOWER_OR_NEWER);
	assert_string_equal(q.spec.stop_policy, KUEUE_STOP_HOLD);
	assert_true(quantity_is_zero(*q.spec.fair_sharing.weight));
}

static void test_names_of_v1beta1(void **state)
{
	struct api_cluster_queue q;
	(void)state;

	decode_fixture(&kueue_cluster_queue_fields,
		       "{'spec':{'flavorFungibility':{'whenCanBorrow':'Borrow','whenCanPreempt':'"
		       "Preempt'}}}",
		       &q);
	kueue_defaults_cluster_queue(&q);
	assert_string_equal(q.spec.flavor_fungibility.when_can_borrow, KUEUE_MAY_STOP_SEARCH);
	assert_string_equal(q.spec.flavor_fungibility.when_can_preempt, KUEUE_MAY_STOP_SEARCH);
}

static void test_other_queues(void **state)
{
	struct api_cohort o;
	struct api_local_queue q;
	(void)state;

	decode_fixture(&kueue_cohort_fields, "{}", &o);
	kueue_defaults_cohort(&o);
	assert_int_equal(quantity_value(*o.spec.fair_sharing.weight), 1);
	decode_fixture(&kueue_local_queue_fields, "{}", &q);
	kueue_defaults_local_queue(&q);
	assert_string_equal(q.spec.stop_policy, "None");
	assert_int_equal(quantity_value(*q.spec.fair_sharing.weight), 1);
}

static void test_workload(void **state)
{
	const char *text =
		"{'spec':{'podSets':[{},{'name':'b','count':0}]},'status':{'admission':{'"
		"podSetAssignments':[{},{'name':'b'},{'name':'main','count':7},{'name':'none'}]}}}";
	struct api_workload w;
	(void)state;

	decode_fixture(&kueue_workload_fields, text, &w);
	kueue_defaults_workload(&w);
	assert_int_equal(w.spec.active, 1);
	assert_int_equal(w.spec.priority, 0);
	assert_string_equal(w.spec.pod_sets.v[0].name, "main");
	assert_int_equal(w.spec.pod_sets.v[0].count, 1);
	assert_int_equal(w.spec.pod_sets.v[1].count, 0);
	assert_string_equal(w.status.admission->assignments.v[0].name, "main");
	assert_int_equal(w.status.admission->assignments.v[0].count, 1);
	assert_int_equal(w.status.admission->assignments.v[1].count, 0);
	assert_int_equal(w.status.admission->assignments.v[2].count, 7);
	assert_int_equal(w.status.admission->assignments.v[3].count, 0);
	decode_fixture(&kueue_workload_fields, "{'spec':{'active':false,'priority':-4}}", &w);
	kueue_defaults_workload(&w);
	assert_int_equal(w.spec.active, 0);
	assert_int_equal(w.spec.priority, -4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cluster_queue),    cmocka_unit_test(test_what_is_set_stays),
		cmocka_unit_test(test_names_of_v1beta1), cmocka_unit_test(test_other_queues),
		cmocka_unit_test(test_workload),
	};

	return cmocka_run_group_tests_name("kueue_defaults", tests, decode_fixture_open,
					   decode_fixture_close);
}
