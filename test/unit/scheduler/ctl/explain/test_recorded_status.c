#include "scheduler/ctl/explain/recorded_status.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/explain/live_workloads.h"
#include "unit/scheduler/ctl/capture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workload),
	};

	return cmocka_run_group_tests_name("recorded_status", tests, NULL, NULL);
}
