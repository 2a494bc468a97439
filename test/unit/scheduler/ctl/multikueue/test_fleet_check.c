/* headgatectl multikueue check: a manager with four workers, of which one is as it should be. */
#include "scheduler/ctl/multikueue/fleet_check.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/recorded.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define API MANAGING_CLUSTER_API
#define REPLICA(name, gates)                                                                       \
	"{" API "kind: Workload, metadata: {name: " name                                           \
	", namespace: ns, labels: {kueue.x-k8s.io/multikueue-origin: multikueue}}, spec: "         \
	"{queueName: lq, preemptionGates: [" gates "], podSets: [{name: main, count: 1, "          \
	"template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}]}}\n---\n"
#define GATE "{name: kueue.x-k8s.io/multikueue}"
#define NAMESPACE "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n---\n"
#define LOCAL_QUEUE                                                                                \
	"{" API "kind: LocalQueue, metadata: {name: lq, namespace: ns}, spec: {clusterQueue: "     \
	"cq}}\n---\n"

static struct live_fixture manager;
static struct worker_fixture workers[3];

static int begin(void **state UNUSED)
{
	static const char *const missing[] = { "patch workloads.kueue.x-k8s.io/status",
					       "list cohorts.kueue.x-k8s.io", NULL };

	managing_cluster_start(&manager);
	for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
		char name[] = { 'w', (char)('1' + i), '\0' };

		worker_fixture_start(&workers[i], i != 2);
		managing_cluster_add_worker(&manager, name, &workers[i]);
	}
	/* The fourth has no Secret; there is no MultiKueueCluster w5. */
	live_fixture_load(
		&manager,
		"{" API "kind: MultiKueueCluster, metadata: {name: w4}, spec: "
		"{clusterSource: {kubeConfig: {location: gone}}}}\n---\n{" API
		"kind: MultiKueueConfig, metadata: {name: more}, spec: {clusters: [w1, w5]}}");
	managing_cluster_add_workload(&manager, "waits", "lq", "Pending", NULL);
	worker_fixture_load(&workers[0], NAMESPACE LOCAL_QUEUE REPLICA("waits", GATE));
	worker_fixture_load(&workers[1],
			    NAMESPACE REPLICA("r1", GATE) REPLICA("r2", "") REPLICA("r3", ""));
	worker_fixture_behave(&workers[1], (struct worker_behaviour){ .missing = missing });
	return 0;
}

static int end(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(workers); i++) {
		worker_fixture_stop(&workers[i]);
	}
	live_fixture_stop(&manager);
	return 0;
}

/* Ports differ from run to run. */
static void add_output(const char *line, int code, struct strbuf *all)
{
	const char *p = manager.out.p, *at;

	strbuf_printf(all, "$ headgatectl %s\n", line);
	while ((at = strstr(p, "localhost:")) != NULL) {
		strbuf_add(all, p, (size_t)(at - p));
		strbuf_add_c(all, "localhost:PORT");
		p = at + strlen("localhost:");
		p += strspn(p, "0123456789");
	}
	strbuf_printf(all, "%s(exit code %d)\n\n", p, code);
}

static void findings_of_each_worker(void **state UNUSED)
{
	static const struct {
		const char *line;
		int code;
	} rows[] = {
		{ "multikueue check w1", VERB_OK },
		{ "multikueue check", VERB_FAILED },
		{ "multikueue check w2 none -o json", VERB_FAILED },
		{ "multikueue check w1 --origin=other --for=manager", VERB_OK },
	};
	CLEANUP(strbuf_finish) struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int code = live_fixture_run(&manager, rows[i].line);

		unit_row(rows[i].line);
		add_output(rows[i].line, code, &all);
		assert_int_equal(code, rows[i].code);
	}
	recorded_check("test/unit/scheduler/ctl/outputs/multikueue_check.txt", &all);
}

/* Nothing is known of the others when one does not answer, but of this one. */
static void a_silent_worker_does_not_hold_the_others(void **state UNUSED)
{
	worker_fixture_behave(&workers[1], (struct worker_behaviour){ .silent = true });
	assert_int_equal(live_fixture_run(&manager, "multikueue check w1 w2 --request-timeout=2s"),
			 VERB_FAILED);
	assert_non_null(strstr(manager.out.p, "w1        LocalQueues   ok"));
	assert_non_null(strstr(manager.out.p, "w2        connection    fail"));
	assert_null(strstr(manager.out.p, "w2        rights"));
}

static void without_rights_on_the_manager(void **state UNUSED)
{
	live_fixture_fault(&manager, "[{fault: status, code: 403, path: '.*/secrets/.*'}]");
	assert_int_equal(live_fixture_run(&manager, "multikueue check w1"), VERB_FAILED);
	assert_non_null(strstr(manager.out.p, "unknown   no right to read Secret"));
	live_fixture_fault(&manager, "[{fault: status, code: 403, path: '.*/workloads'}]");
	assert_int_equal(live_fixture_run(&manager, "multikueue check w1"), VERB_FAILED);
	assert_non_null(strstr(manager.out.p, "w1        LocalQueues   unknown"));
	live_fixture_fault(&manager, "[{fault: status, code: 403, path: '.*/multikueueclusters'}]");
	assert_int_equal(live_fixture_run(&manager, "multikueue check"), VERB_FAILED);
	assert_memory_equal(manager.out.p, "headgatectl: ", 13);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(findings_of_each_worker),
		TEST(a_silent_worker_does_not_hold_the_others),
		TEST(without_rights_on_the_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
