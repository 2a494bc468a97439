#include "scheduler/ctl/multikueue/waiting_queues.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/transport.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define API MANAGING_CLUSTER_API
#define AT ", lastTransitionTime: '2026-01-15T09:02:00Z'}"
#define CHECK(name, controller)                                                                    \
	"{" API "kind: AdmissionCheck, metadata: {name: " name                                     \
	"}, spec: {controllerName: " controller                                                    \
	", parameters: {apiGroup: kueue.x-k8s.io, kind: MultiKueueConfig, name: "                  \
	"two}}}\n---\n"
#define WAITS_FOR(check) "{name: " check ", state: Pending, message: m" AT
#define WORKLOAD(name, queue, conditions, checks)                                                  \
	"{" API "kind: Workload, metadata: {name: " name                                           \
	", namespace: ns}, spec: {queueName: " queue                                               \
	", podSets: [{name: main, count: 1, template: {spec: {restartPolicy: Never, "              \
	"containers: [{name: c, image: i}]}}}]}, status: {conditions: [" conditions                \
	"], admissionChecks: [" checks "]}}\n---\n"

static struct live_fixture manager;
static struct transport *t;

static int begin(void **state UNUSED)
{
	managing_cluster_start(&manager);
	t = managing_cluster_connect(&manager);
	return 0;
}

static int end(void **state UNUSED)
{
	transport_destroy(t);
	live_fixture_stop(&manager);
	return 0;
}

static void expect(const struct waiting_queues *w, const char *cluster, const char *queues)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct waiting_queues_keys keys = VEC_INIT;

	unit_row(cluster);
	waiting_queues_of(w, cluster, &keys);
	for (size_t i = 0; i < keys.n; i++) {
		strbuf_printf(&text, "%s%s", i == 0 ? "" : " ", keys.v[i]);
	}
	vec_finish(&keys);
	assert_string_equal(text.p, queues);
}

/* Those of Workloads that wait for a check of MultiKueue, once each, for the clusters of its
 * config. */
static void queues_by_cluster(void **state UNUSED)
{
	struct waiting_queues *w = NULL;
	struct err err = ERR_INIT;

	live_fixture_load(
		&manager,
		"{" API "kind: MultiKueueConfig, metadata: {name: two}, spec: {clusters: [w4, w5]}}"
		"\n---\n" CHECK("mk2", "kueue.x-k8s.io/multikueue") CHECK("other", "example.com/c")
			WORKLOAD("second", "b", "", WAITS_FOR("mk2")) WORKLOAD(
				"elsewhere", "c", "", WAITS_FOR("other") ", " WAITS_FOR("none"))
				WORKLOAD("done", "d",
					 "{type: Finished, status: 'True', reason: r, "
					 "message: m" AT,
					 WAITS_FOR("mk")));
	managing_cluster_add_workload(&manager, "one", "z", "Pending", NULL);
	managing_cluster_add_workload(&manager, "same", "z", "Pending", NULL);
	managing_cluster_add_workload(&manager, "runs", "y", "Ready", NULL);
	assert_int_equal(waiting_queues_read(t, &w, &err), 0);
	expect(w, "w1", "ns/z");
	expect(w, "w4", "ns/b ns/z");
	expect(w, "w5", "ns/b");
	expect(w, "w6", "");
	waiting_queues_destroy(w);
}

static void a_list_that_may_not_be_read(void **state UNUSED)
{
	struct waiting_queues *w = NULL;
	struct err err = ERR_INIT;

	live_fixture_fault(&manager, "[{fault: status, code: 403, path: '.*/multikueueconfigs'}]");
	assert_int_equal(waiting_queues_read(t, &w, &err), -ERR_FORBIDDEN);
	assert_null(w);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(queues_by_cluster),
		TEST(a_list_that_may_not_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
