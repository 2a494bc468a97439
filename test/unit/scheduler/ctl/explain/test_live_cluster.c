#include "scheduler/ctl/explain/live_cluster.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/pods/model/model.h"
#include "unit/scheduler/ctl/live_fixture.h"

#define SPEC "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]"
#define POD(name, more, status)                                                                    \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name                                       \
	", namespace: ns, annotations: {scheduling.k8s.io/group-name: " name                       \
	"}}, spec: {schedulerName: volcano, " more SPEC "}" status "}\n---\n"                      \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: " name       \
	", namespace: ns}, spec: {queue: q, minMember: 1}}\n---\n"
#define GATED "schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}], "

static const char objects[] =
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: "
	"{capability: {cpu: 1}}}\n---\n"
	"{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 8, pods: "
	"9}}}\n---\n" POD("runs", "nodeName: n, ", ", status: {phase: Running}") POD(
		"waits", GATED,
		"") "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: r}, "
		    "spec: {capability: {cpu: 1}}}\n---\n"
		    "{apiVersion: v1, kind: Pod, metadata: {name: ungated, namespace: ns, "
		    "annotations: "
		    "{scheduling.k8s.io/group-name: ungated, headgate.io/reserved: r, "
		    "scheduling.volcano.sh/queue-allocation-gate: 'true'}}, spec: {schedulerName: "
		    "volcano, " SPEC "}}\n---\n"
		    "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: "
		    "ungated, namespace: ns}, spec: {queue: r, minMember: 1}}\n---\n";

static struct live_fixture f;

static int begin(void **state UNUSED)
{
	live_fixture_start(&f);
	live_fixture_load(&f, objects);
	return 0;
}

static int end(void **state UNUSED)
{
	live_fixture_stop(&f);
	return 0;
}

static void expect(const char *line, int code, const char *says)
{
	unit_row(line);
	if (live_fixture_run(&f, line) != code || strstr(f.out.p, says) == NULL) {
		fail_msg("not %d, or no \"%s\" in: %s", code, says, f.out.p);
	}
}

/* Those with a node by the node, those without one by their annotation. */
static void running_pods_are_charged(void **state UNUSED)
{
	expect("explain pod ns/ungated", VERB_OK, "has quota and is about to be placed");
	expect("queues", VERB_OK, "r     Open    cpu 1   cpu 0       cpu 1      0           0\n");
	expect("explain pod ns/waits", VERB_OK, "queue q has 0 cpu left");
	expect("explain pod ns/wait", VERB_FAILED, "pod ns/wait not found; did you mean waits?");
}

/* An answer from a part of the objects would be wrong. */
static void a_list_that_fails_ends_it(void **state UNUSED)
{
	static const char *const faults[] = {
		"[{fault: status, code: 400, path: /api/v1/pods}]",
		"[{fault: status, code: 400, path: /api/v1/nodes}]",
		"[{fault: status, code: 400, path: '.*/queues'}]",
		"[{fault: status, code: 400, path: '.*/podgroups'}]",
		"[{fault: status, code: 400, path: /api/v1/namespaces$}]",
	};

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		unit_row(faults[i]);
		live_fixture_fault(&f, faults[i]);
		assert_int_equal(live_fixture_run(&f, "explain pod ns/waits"), VERB_FAILED);
		assert_null(strstr(f.out.p, "Queue:"));
	}
}

/* Without the right to list them it is done without. */
static void free_storage_is_not_needed(void **state UNUSED)
{
	static const char *const faults[] = {
		"[{fault: status, code: 403, path: '.*/csidrivers'}]",
		"[{fault: status, code: 403, path: '.*/csistoragecapacities'}]",
		"[{fault: status, code: 404, path: '.*/csistoragecapacities'}]",
	};

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		unit_row(faults[i]);
		live_fixture_fault(&f, faults[i]);
		expect("explain pod ns/waits", VERB_OK, "queue q has 0 cpu left");
	}
}

static void objects_that_mean_nothing_are_reported(void **state UNUSED)
{
	live_fixture_load(&f, "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, "
			      "metadata: {name: odd, namespace: ns}, spec: {queue: q, minMember: "
			      "1, minResources: {cpu: '9e17'}}}");
	expect("explain pod ns/waits", VERB_OK,
	       "headgatectl: warning: podgroups ns/odd: spec.minResources: cpu: 900e15 is more "
	       "than can be counted");
}

static void a_configuration_or_a_dump_that_is_none(void **state UNUSED)
{
	folder_write(&f.folder, "conf", "actions: nonsense\n");
	folder_write(&f.folder, "unlimited", "actions: allocate\ntiers: []\n");
	folder_write(&f.folder, "dump", "{}");
	expect("explain pod ns/waits --scheduler-conf=@conf", VERB_FAILED, "nonsense");
	expect("explain pod ns/waits --scheduler-conf=@missing", VERB_FAILED, "missing");
	expect("explain pod ns/waits --scheduler-conf=@unlimited", VERB_OK,
	       "unlimited:2: tiers: without capacity or proportion Queues have no limits");
	expect("explain pod ns/waits --dump=@missing", VERB_FAILED, "missing");
	expect("explain pod ns/waits --dump=@dump", VERB_FAILED, "/dump: ");
}

static void an_amount_without_a_limit_is_unlimited(void **state UNUSED)
{
	char buf[64];

	assert_string_equal(live_cluster_amount(RES_CPU, RES_UNLIMITED, buf), "unlimited");
	assert_string_equal(live_cluster_amount(RES_CPU, 1500, buf), "1500m");
	assert_string_equal(live_cluster_amount(RES_CPU, 2000, buf), "2");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(running_pods_are_charged),
		TEST(a_list_that_fails_ends_it),
		TEST(free_storage_is_not_needed),
		TEST(objects_that_mean_nothing_are_reported),
		TEST(a_configuration_or_a_dump_that_is_none),
		cmocka_unit_test(an_amount_without_a_limit_is_unlimited),
	};

	return cmocka_run_group_tests_name("ctl/explain/live_cluster", tests, NULL, NULL);
}
