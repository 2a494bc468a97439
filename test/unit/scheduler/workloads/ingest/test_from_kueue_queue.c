#include "scheduler/workloads/ingest/from_kueue.h"

#include <stdio.h>

#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"

static void test_defaults(void **state)
{
	struct quota_model *q = quota_create();
	struct api_cluster_queue cq;
	const struct quota_node *n;

	(void)state;
	decode_fixture(&kueue_cluster_queue_fields, "{'metadata':{'name':'cq'}}", &cq);
	assert_int_equal(from_kueue_queue(q, &cq, NULL), 0);
	n = quota_queue_find(q, STR_LIT("cq"));
	assert_true(n->exists && n->is_queue);
	assert_null(n->parent);
	assert_true(n->weight == 1);
	assert_true(n->queue->namespaces.absent);
	assert_int_equal(n->queue->strategy, QUOTA_BEST_EFFORT_FIFO);
	assert_int_equal(n->queue->when_can_borrow, QUOTA_MAY_STOP_SEARCH);
	assert_int_equal(n->queue->when_can_preempt, QUOTA_TRY_NEXT_FLAVOR);
	assert_int_equal(n->queue->preference, QUOTA_BORROWING_OVER_PREEMPTION);
	assert_int_equal(n->queue->within_queue, QUOTA_NEVER);
	assert_int_equal(n->queue->reclaim, QUOTA_NEVER);
	assert_int_equal(n->queue->borrow_within, QUOTA_NEVER);
	assert_false(n->queue->has_threshold || n->queue->terminating || n->queue->usage_based);
	assert_int_equal(n->queue->stop, QUOTA_RUN);
	quota_destroy(q);
}

static void test_everything(void **state)
{
	struct quota_model *q = quota_create();
	struct api_cluster_queue cq;
	const struct cluster_queue *queue;

	(void)state;
	decode_fixture(
		&kueue_cluster_queue_fields,
		"{'metadata':{'name':'cq','deletionTimestamp':'2026-01-01T00:00:00Z'},'spec':{'"
		"cohortName':'team','queueingStrategy':'StrictFIFO','namespaceSelector':{'"
		"matchLabels'"
		":{'a':'b'},'matchExpressions':[{'key':'c','operator':'NotIn','values':['d','e']}]}"
		",'"
		"flavorFungibility':{'whenCanBorrow':'TryNextFlavor','whenCanPreempt':'"
		"MayStopSearch',"
		"'preference':'PreemptionOverBorrowing'},'preemption':{'reclaimWithinCohort':'Any',"
		"'"
		"withinClusterQueue':'LowerOrNewerEqualPriority','borrowWithinCohort':{'policy':'"
		"LowerPriority','maxPriorityThreshold':100}},'stopPolicy':'Hold','fairSharing':{'"
		"weight':'3'},'admissionScope':{'admissionMode':'UsageBasedAdmissionFairSharing'},'"
		"admissionChecksStrategy':{'admissionChecks':[{'name':'x','onFlavors':['f','g']},{'"
		"name':'y'}]}}}",
		&cq);
	assert_int_equal(from_kueue_queue(q, &cq, NULL), 0);
	assert_int_equal(from_kueue_queue(q, &cq, NULL), 0);
	queue = quota_queue_find(q, STR_LIT("cq"))->queue;
	assert_string_equal(quota_queue_find(q, STR_LIT("cq"))->parent, "team");
	assert_true(quota_queue_find(q, STR_LIT("cq"))->weight == 3);
	assert_int_equal(queue->strategy, QUOTA_STRICT_FIFO);
	assert_int_equal(queue->when_can_borrow, QUOTA_TRY_NEXT_FLAVOR);
	assert_int_equal(queue->when_can_preempt, QUOTA_MAY_STOP_SEARCH);
	assert_int_equal(queue->preference, QUOTA_PREEMPTION_OVER_BORROWING);
	assert_int_equal(queue->within_queue, QUOTA_LOWER_OR_NEWER_EQUAL);
	assert_int_equal(queue->reclaim, QUOTA_ANY);
	assert_int_equal(queue->borrow_within, QUOTA_LOWER_PRIORITY);
	assert_true(queue->has_threshold && queue->terminating && queue->usage_based);
	assert_int_equal(queue->threshold, 100);
	assert_int_equal(queue->stop, QUOTA_HOLD);
	assert_false(queue->namespaces.absent);
	assert_int_equal(queue->namespaces.nexprs, 2);
	assert_int_equal(queue->namespaces.exprs[0].op, MATCH_IN);
	assert_string_equal(queue->namespaces.exprs[0].values[0], "b");
	assert_int_equal(queue->namespaces.exprs[1].op, MATCH_NOT_IN);
	assert_int_equal(queue->namespaces.exprs[1].nvalues, 2);
	assert_int_equal(queue->checks.n, 2);
	assert_int_equal(queue->checks.v[0].nflavors, 2);
	assert_int_equal(queue->checks.v[0].flavors[1], quota_flavor_find(q, STR_LIT("g"))->id);
	assert_int_equal(queue->checks.v[1].nflavors, 0);
	quota_destroy(q);
}

/* v1beta1 called them so. */
static void test_old_names_of_fungibility(void **state)
{
	struct quota_model *q = quota_create();
	struct api_cluster_queue cq;

	(void)state;
	decode_fixture(
		&kueue_cluster_queue_fields,
		"{'metadata':{'name':'cq'},'spec':{'namespaceSelector':{},'flavorFungibility':{'"
		"whenCanBorrow':'Borrow','whenCanPreempt':'Preempt'}}}",
		&cq);
	assert_int_equal(from_kueue_queue(q, &cq, NULL), 0);
	assert_int_equal(quota_queue_find(q, STR_LIT("cq"))->queue->when_can_borrow,
			 QUOTA_MAY_STOP_SEARCH);
	assert_int_equal(quota_queue_find(q, STR_LIT("cq"))->queue->when_can_preempt,
			 QUOTA_MAY_STOP_SEARCH);
	assert_true(namespace_selector_matches(
		&quota_queue_find(q, STR_LIT("cq"))->queue->namespaces, NULL, 0));
	quota_destroy(q);
}

static void test_a_bad_queue_keeps_what_it_was(void **state)
{
	static const struct {
		const char *spec, *error;
	} rows[] = {
		{ "'queueingStrategy':'LIFO'", "spec.queueingStrategy: unknown \"LIFO\"" },
		{ "'preemption':{'borrowWithinCohort':{'policy':'Maybe'}}",
		  "spec.preemption.borrowWithinCohort.policy: unknown \"Maybe\"" },
		{ "'flavorFungibility':{'whenCanBorrow':'Preempt'}",
		  "spec.flavorFungibility.whenCanBorrow: unknown \"Preempt\"" },
		{ "'namespaceSelector':{'matchExpressions':[{'key':'a','operator':'Gt'}]}",
		  "spec.namespaceSelector.matchExpressions[0]: operator: not for labels: \"Gt\"" },
		{ "'admissionChecksStrategy':{'admissionChecks':[{}]}",
		  "spec.admissionChecksStrategy.admissionChecks[0].name: missing" },
		{ "'resourceGroups':[{'flavors':[{}]}]",
		  "spec.resourceGroups[0].flavors[0].name: missing" },
		{ "'fairSharing':{'weight':'-1'}", "spec.fairSharing.weight: negative" },
	};
	struct quota_model *q = quota_create();
	struct api_cluster_queue cq;

	(void)state;
	decode_fixture(&kueue_cluster_queue_fields,
		       "{'metadata':{'name':'cq'},'spec':{'cohortName':'team'}}", &cq);
	assert_int_equal(from_kueue_queue(q, &cq, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		char text[300], want[200];

		unit_row(rows[i].spec);
		(void)snprintf(text, sizeof(text), "{'metadata':{'name':'cq'},'spec':{%s}}",
			       rows[i].spec);
		(void)snprintf(want, sizeof(want), "ClusterQueue cq: %s", rows[i].error);
		decode_fixture(&kueue_cluster_queue_fields, text, &cq);
		assert_int_equal(from_kueue_queue(q, &cq, &err), -ERR_INVALID);
		assert_string_equal(err.text, want);
		assert_string_equal(quota_queue_find(q, STR_LIT("cq"))->parent, "team");
	}
	quota_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_old_names_of_fungibility),
		cmocka_unit_test(test_a_bad_queue_keeps_what_it_was),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
