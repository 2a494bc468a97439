#include "api/volcano/scheduling.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/err.h"
#include "enc/decode.h"

static void test_queue(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const char *text =
		"{\"apiVersion\":\"scheduling.volcano.sh/"
		"v1beta1\",\"kind\":\"Queue\",\"metadata\":{"
		"\"name\":\"q\"},\"spec\":{\"weight\":1,\"reclaimable\":false,\"parent\":\"root\","
		"\"priority\":5,\"capability\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"guarantee\":{"
		"\"resource\":{\"cpu\":\"500m\"}},\"deserved\":{},\"dequeueStrategy\":\"fifo\","
		"\"affinity\":{\"nodeGroupAffinity\":{"
		"\"requiredDuringSchedulingIgnoredDuringExecution\":[\"g\"]}},\"extendClusters\":[{"
		"\"name\":\"c\",\"weight\":0,\"capacity\":{\"cpu\":\"1\"}}]},\"status\":{\"state\":"
		"\"Open\",\"allocated\":{\"cpu\":\"0\"},\"reservation\":{\"nodes\":[\"n\"]},"
		"\"running\":2}}";
	struct api_queue q;
	(void)state;

	assert_int_equal(decode_text(&scheduling_queue_fields, str_of(text), &q, arena, NULL), 0);
	assert_int_equal(q.spec.weight, 1);
	assert_int_equal(q.spec.reclaimable, 0);
	assert_string_equal(q.spec.parent, "root");
	assert_int_equal(q.spec.priority, 5);
	assert_int_equal(q.spec.capability.n, 2);
	assert_true(quantity_milli(*field_resources_get(&q.spec.guarantee.resource, "cpu")) == 500);
	assert_non_null(q.spec.deserved.v);
	assert_int_equal(q.spec.deserved.n, 0);
	assert_string_equal(q.spec.dequeue_strategy, "fifo");
	assert_string_equal(q.spec.affinity->node_group->required.v[0], "g");
	assert_int_equal(q.spec.extend_clusters.v[0].weight, 0);
	assert_string_equal(q.status.state, "Open");
	assert_string_equal(q.status.reservation.nodes.v[0], "n");
	assert_int_equal(q.status.running, 2);
}

static void test_queue_defaults(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_queue q;
	(void)state;

	assert_int_equal(decode_text(&scheduling_queue_fields, STR_LIT("{}"), &q, arena, NULL), 0);
	assert_int_equal(q.spec.weight, FIELD_NO_I32);
	assert_int_equal(q.spec.reclaimable, FIELD_TRI_ABSENT);
	assert_null(q.spec.capability.v);
	assert_null(q.status.state);
}

static void test_kueue_pod_group(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	const char *text =
		"{\"metadata\":{\"name\":\"g\"},\"spec\":{\"minMember\":4,\"minTaskMember\":{"
		"\"worker\":3,\"ps\":1},\"queue\":\"q\",\"minResources\":{},\"networkTopology\":{"
		"\"mode\":\"hard\",\"highestTierAllowed\":2},\"subGroupPolicy\":[{\"name\":\"s\","
		"\"subGroupSize\":2,\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}},"
		"\"matchLabelKeys\":[\"k\"]}]},\"status\":{\"phase\":\"Inqueue\",\"conditions\":[{"
		"\"type\":\"Unschedulable\",\"transitionID\":\"t\"}],\"succeeded\":1}}";
	struct api_pod_group g;
	(void)state;

	assert_int_equal(decode_text(&scheduling_pod_group_fields, str_of(text), &g, arena, NULL),
			 0);
	assert_int_equal(g.spec.min_member, 4);
	assert_int_equal(g.spec.min_task_member.n, 2);
	assert_string_equal(g.spec.min_task_member.v[1].key, "worker");
	assert_int_equal(g.spec.min_task_member.v[1].value, 3);
	assert_non_null(g.spec.min_resources.v);
	assert_int_equal(g.spec.min_resources.n, 0);
	assert_int_equal(g.spec.network_topology->highest_tier_allowed, 2);
	assert_null(g.spec.network_topology->highest_tier_name);
	assert_int_equal(g.spec.sub_group_policy.v[0].sub_group_size, 2);
	assert_int_equal(g.spec.sub_group_policy.v[0].min_sub_groups, FIELD_NO_I32);
	assert_string_equal(
		field_map_get(&g.spec.sub_group_policy.v[0].label_selector->match_labels, "a"),
		"b");
	assert_string_equal(g.status.phase, "Inqueue");
	assert_string_equal(g.status.conditions.v[0].transition_id, "t");
	assert_int_equal(g.status.succeeded, 1);
}

static void test_pod_group_without_min_resources(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_pod_group g;
	(void)state;

	assert_int_equal(decode_text(&scheduling_pod_group_fields, STR_LIT("{\"spec\":{}}"), &g,
				     arena, NULL),
			 0);
	assert_null(g.spec.min_resources.v);
	assert_int_equal(g.spec.min_member, 0);
}

static void test_priority_class(void **state)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct api_priority_class p;
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(decode_text(&scheduling_priority_class_fields,
				     STR_LIT("{\"metadata\":{\"name\":\"h\"},\"value\":-7,"
					     "\"preemptionPolicy\":\"Never\"}"),
				     &p, arena, NULL),
			 0);
	assert_int_equal(p.value, -7);
	assert_false(p.global_default);
	assert_string_equal(p.preemption_policy, "Never");
	assert_int_equal(decode_text(&scheduling_priority_class_fields,
				     STR_LIT("{\"value\":\"7\"}"), &p, arena, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "value: expected integer, got string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_queue_defaults),
		cmocka_unit_test(test_kueue_pod_group),
		cmocka_unit_test(test_pod_group_without_min_resources),
		cmocka_unit_test(test_priority_class),
	};

	return cmocka_run_group_tests_name("scheduling", tests, NULL, NULL);
}
