/* From manifests; from a cluster is in test/integration/test_ctl_quota.c. */
#include "scheduler/ctl/explain/live_workloads.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "lib/folder.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/workloads/model/quota_store.h"

#define API QUOTA_SIM_API
#define QUEUE(name, more, flavor, quota)                                                           \
	"{" API "kind: ClusterQueue, metadata: {name: " name                                       \
	"}, spec: {namespaceSelector: {}" more                                                     \
	", resourceGroups: [{coveredResources: [cpu], flavors: [{name: " flavor                    \
	", resources: [{name: cpu, nominalQuota: " quota "}]}]}]}}\n---\n"

static struct folder folder;

static int begin(void **state)
{
	(void)state;
	folder_make(&folder);
	folder_write(&folder, "good.yaml",
		     QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("good", "1", "0", ""));
	return 0;
}

static int end(void **state)
{
	(void)state;
	folder_remove(&folder);
	return 0;
}

static void load(struct live_workloads *s, const struct quota_model **ret_q)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_dup(folder.path);
	struct cluster_args a = { .files = { { path }, 1 }, .as_is = true };
	struct err err = ERR_INIT;

	if (live_workloads_load(&a, s, &err) < 0) {
		fail_msg("%s", err.text);
	}
	*ret_q = forest_model(workload_simulation_forest(s->world));
}

static void expect_good_waits(const struct quota_model *q)
{
	const struct workload *w = quota_workload_find(q, STR_LIT("team/good"));

	assert_non_null(w);
	assert_int_equal(w->pending.where, QUOTA_HEAP);
	assert_int_equal(quota_queue_find(q, STR_LIT("cq"))->queue->inactive, QUOTA_ACTIVE);
}

static void test_unreadable_objects_are_left_out(void **state)
{
	CLEANUP(live_workloads_finish) struct live_workloads s = { 0 };
	const struct quota_model *q;
	const struct quota_node *n;

	(void)state;
	folder_write(
		&folder, "unread.yaml",
		QUEUE("text", "", "f", "4x") QUEUE(
			"list", "", "f",
			"[4]") "{" API
			       "kind: Workload, metadata: {name: many, namespace: team}, spec: "
			       "{queueName: lq, podSets: [{name: m, count: 99999999999}]}}\n");
	load(&s, &q);
	n = quota_queue_find(q, STR_LIT("text"));
	assert_true(n == NULL || !n->exists);
	n = quota_queue_find(q, STR_LIT("list"));
	assert_true(n == NULL || !n->exists);
	assert_null(quota_workload_find(q, STR_LIT("team/many")));
	expect_good_waits(q);
}

/* An error in one queue does not affect the others. */
static void test_bad_queues_are_on_their_own(void **state)
{
	static const struct {
		const char *queue;
		enum quota_inactive why;
	} rows[] = {
		{ "lost", QUOTA_FLAVOR_NOT_FOUND },
		{ "round", QUOTA_COHORT_CYCLE },
		{ "large", QUOTA_ACTIVE },
	};
	CLEANUP(live_workloads_finish) struct live_workloads s = { 0 };
	const struct quota_model *q;
	const struct quota_node *n;

	(void)state;
	folder_write(
		&folder, "bad.yaml",
		QUEUE("lost", "", "nope", "4") QUEUE("round", ", cohortName: x", "f", "4") QUEUE(
			"large", "", "f",
			"1e40") "{" API
				"kind: Cohort, metadata: {name: x}, spec: {parentName: y}}\n---\n"
				"{" API "kind: Cohort, metadata: {name: y}, spec: {parentName: "
				"x}}\n---\n{" API
				"kind: LocalQueue, metadata: {name: stray, namespace: team}, spec: "
				"{clusterQueue: nope}}\n");
	load(&s, &q);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].queue);
		n = quota_queue_find(q, str_of(rows[i].queue));
		assert_non_null(n);
		if (rows[i].why == QUOTA_COHORT_CYCLE) {
			assert_false(forest_is_placed(workload_simulation_forest(s.world), n->id));
		} else {
			assert_int_equal(n->queue->inactive, rows[i].why);
		}
	}
	assert_int_equal(quota_node_cell(n, n->cells.v[0].pair)->nominal, QUOTA_UNLIMITED);
	expect_good_waits(q);
}

static void test_time_and_kinds(void **state)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/good.yaml", folder.path);
	CLEANUP(live_workloads_finish) struct live_workloads s = { 0 }, t = { 0 };
	struct cluster_args a = { .files = { { path }, 1 } };

	(void)state;
	assert_int_equal(live_workloads_read(&a, 1u << SCHED_WORKLOADS, NULL, &s, NULL), 0);
	assert_null(s.world);
	assert_int_equal(s.now, INT64_C(1768467600) * 1000000000); /* the youngest one */
	a.has_now = true;
	a.now = 5;
	assert_int_equal(live_workloads_read(&a, 1u << SCHED_WORKLOADS, NULL, &t, NULL), 0);
	assert_int_equal(t.now, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unreadable_objects_are_left_out),
		cmocka_unit_test(test_bad_queues_are_on_their_own),
		cmocka_unit_test(test_time_and_kinds),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
