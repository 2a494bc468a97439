#include "scheduler/workloads/ingest/from_kueue_priv.h"

#include <stdio.h>

#include "api/kueue/kueue.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"

static void test_groups(void **state)
{
	struct quota_model *q = quota_create();
	struct quota_node *n = quota_queue_get(q, STR_LIT("cq"));
	struct api_cluster_queue cq;
	uint32_t cpu, pods;

	(void)state;
	decode_fixture(
		&kueue_cluster_queue_fields,
		"{'spec':{'resourceGroups':[{'coveredResources':['cpu','memory'],'flavors':[{'"
		"name':'a','resources':[{'name':'cpu','nominalQuota':'1','borrowingLimit':'0'},"
		"{'name':'memory','nominalQuota':'1Gi'}]},{'name':'b','resources':[{'name':'cpu'"
		",'nominalQuota':'2'},{'name':'memory','nominalQuota':'0'}]}]},{'"
		"coveredResources':['pods'],'flavors':[{'name':'c','resources':[{'name':'pods','"
		"nominalQuota':'9'}]}]}]}}",
		&cq);
	assert_int_equal(from_kueue_groups_check(&cq.spec.resource_groups, NULL), 0);
	from_kueue_groups_fill(q, &cq.spec.resource_groups, n);
	assert_int_equal(n->groups.n, 2);
	assert_true(n->queue->covers_pods);
	cpu = quota_resource(q, STR_LIT("cpu"));
	pods = quota_resource(q, STR_LIT("pods"));
	assert_int_equal(quota_node_group(n, cpu)->nflavors, 2);
	assert_int_equal(quota_node_group(n, cpu)->nresources, 2);
	assert_int_equal(quota_node_group(n, pods)->flavors[0],
			 quota_flavor_find(q, STR_LIT("c"))->id);
	assert_int_equal(n->cells.n, 5);
	assert_int_equal(
		quota_node_cell(n, quota_pair_find(q, quota_flavor_find(q, STR_LIT("a"))->id, cpu))
			->borrowing,
		0);
	assert_int_equal(
		quota_node_cell(n, quota_pair_find(q, quota_flavor_find(q, STR_LIT("c"))->id, pods))
			->nominal,
		9);
	quota_destroy(q);
}

static void test_errors_name_the_field(void **state)
{
	static const struct {
		const char *resource, *error;
	} rows[] = {
		{ "{'nominalQuota':'1'}", "resources[0].name: missing" },
		{ "{'name':'cpu'}", "resources[0].nominalQuota: missing" },
		{ "{'name':'cpu','nominalQuota':'-1'}", "resources[0].nominalQuota: negative" },
		{ "{'name':'cpu','nominalQuota':'1'},{'name':'m','nominalQuota':'1','"
		  "borrowingLimit':'-1'}",
		  "resources[1].borrowingLimit: negative" },
		{ "{'name':'cpu','nominalQuota':'1','lendingLimit':'-1m'}",
		  "resources[0].lendingLimit: negative" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_cluster_queue cq;
		struct err err = ERR_INIT;
		char text[400], want[200];

		unit_row(rows[i].resource);
		(void)snprintf(
			text, sizeof(text),
			"{'spec':{'resourceGroups':[{},{'flavors':[{'name':'f','resources':[%s]"
			"}]}]}}",
			rows[i].resource);
		(void)snprintf(want, sizeof(want), "spec.resourceGroups[1].flavors[0].%s",
			       rows[i].error);
		decode_fixture(&kueue_cluster_queue_fields, text, &cq);
		assert_int_equal(from_kueue_groups_check(&cq.spec.resource_groups, &err),
				 -ERR_INVALID);
		assert_string_equal(err.text, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_errors_name_the_field),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
