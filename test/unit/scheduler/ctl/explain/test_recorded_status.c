#include "scheduler/ctl/explain/recorded_status.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "unit/scheduler/ctl/capture.h"
#include "unit/scheduler/ctl/live_fixture.h"

static struct live_workloads source;
static struct cluster_args args;

static int print(int argc UNUSED, char **argv UNUSED)
{
	recorded_status_workload(&args, &source, "ns/w");
	return 0;
}

static void test_workload(void **state UNUSED)
{
	static const char text[] =
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w, "
		"namespace: ns}, spec: {queueName: q, podSets: []}, status: {conditions: [{type: "
		"QuotaReserved, status: 'False', reason: Pending, message: no quota, "
		"lastTransitionTime: '2026-01-01T00:00:00Z'}]}}";
	CLEANUP(strbuf_finish) struct strbuf table = STRBUF_INIT, json = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	source.in = sim_input_create(NULL, NULL);
	assert_int_equal(sim_input_add(source.in, "f", str_of(text), NULL), 0);
	assert_int_equal(capture_run(print, "", &table), 0);
	assert_non_null(strstr(table.p, "Workload:  ns/w\nQueue:     q\n\nOBJECT"));
	assert_non_null(
		strstr(table.p, "Workload   QuotaReserved   False    Pending   no quota\n"));
	args.output = VERB_JSON;
	assert_int_equal(capture_run(print, "", &json), 0);
	assert_int_equal(jdoc_parse(strbuf_str(&json), &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "queue"), "q");
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_get(d, "conditions"), 0), "message"),
			    "no quota");
	live_workloads_finish(&source);
}

#define POD(name, annotations)                                                                     \
	"{apiVersion: v1, kind: Pod, metadata: {name: " name                                       \
	", namespace: ns, annotations: {" annotations                                              \
	"}}, spec: {schedulerName: volcano, schedulingGates: [{name: "                             \
	"scheduling.volcano.sh/queue-allocation-gate}], containers: [{name: c, image: i}]}, "      \
	"status: {conditions: [{type: PodScheduled, status: 'False', reason: Gated, message: "     \
	"waits}]}}\n---\n"
#define GROUP                                                                                      \
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: g, "         \
	"namespace: ns}, spec: {queue: team, minMember: 1}, status: {conditions: [{type: "         \
	"Unschedulable, status: 'True', reason: NotEnoughResources, message: no room, "            \
	"lastTransitionTime: '2026-01-01T00:00:00Z', transitionID: x}]}}"
#define OF_GROUP(name) "scheduling.k8s.io/group-name: " name

/* A user who may not list nodes: what the pod and its PodGroup say. */
static void test_pod(void **state UNUSED)
{
	static const struct {
		const char *fault, *line;
		int code;
		const char *queue, *conditions[3];
		size_t n;
	} rows[] = {
		{ "", "explain pod ns/of-g -o json", VERB_OK, "team", { "Pod", "PodGroup" }, 2 },
		{ "", "explain pod ns/of-gone -o json", VERB_OK, NULL, { "Pod" }, 1 },
		{ "", "explain pod ns/single -o json", VERB_OK, NULL, { "Pod" }, 1 },
		{ ", {fault: status, code: 403, path: '.*/podgroups/g'}",
		  "explain pod ns/of-g -o json",
		  VERB_FAILED,
		  NULL,
		  { NULL },
		  0 },
	};
	struct live_fixture f;

	live_fixture_start(&f);
	live_fixture_load(&f, POD("of-g", OF_GROUP("g")) POD("of-gone", OF_GROUP("gone"))
				      POD("single", "") GROUP);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf faults = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
		const struct jdoc *all;

		unit_row(rows[i].line);
		strbuf_printf(&faults,
			      "[{fault: status, code: 403, path: /api/v1/nodes, count: 0}%s]",
			      rows[i].fault);
		live_fixture_fault(&f, faults.p);
		assert_int_equal(live_fixture_run(&f, rows[i].line), rows[i].code);
		assert_non_null(strstr(f.out.p, "headgatectl: warning: " RECORDED_STATUS_LACKS));
		if (rows[i].code != VERB_OK) {
			continue;
		}
		assert_int_equal(jdoc_parse(str_of(strchr(f.out.p, '{')), &d, NULL), 0);
		all = jdoc_get(d, "conditions");
		assert_string_equal(jdoc_path_str(d, "namespace"), "ns");
		assert_int_equal(jdoc_count(all), rows[i].n);
		for (size_t k = 0; k < rows[i].n; k++) {
			assert_string_equal(jdoc_path_str(jdoc_at(all, k), "kind"),
					    rows[i].conditions[k]);
		}
		assert_int_equal(jdoc_path_str(d, "queue") == NULL, rows[i].queue == NULL);
		assert_true(rows[i].queue == NULL ||
			    strcmp(jdoc_path_str(d, "queue"), rows[i].queue) == 0);
	}
	live_fixture_fault(&f, "[{fault: status, code: 403, path: /api/v1/nodes, count: 0}]");
	assert_int_equal(live_fixture_run(&f, "explain pod ns/single"), VERB_OK);
	assert_non_null(strstr(f.out.p, "Pod:       ns/single\nQueue:     <unknown>\n"));
	live_fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workload),
		cmocka_unit_test(test_pod),
	};

	return cmocka_run_group_tests_name("recorded_status", tests, NULL, NULL);
}
