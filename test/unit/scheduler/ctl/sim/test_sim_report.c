#include "scheduler/ctl/sim/sim_report.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "scheduler/ctl/sim/simulation.h"
#include "unit/scheduler/ctl/sim_fixture.h"

static struct simulation *two_cycles(void)
{
	struct simulation *s = sim_fixture_create(
		SIM_FIXTURE_CLUSTER SIM_FIXTURE_GROUP("g", "1")
			SIM_FIXTURE_POD("p1", "g", "2", SIM_FIXTURE_GATED)
				SIM_FIXTURE_POD("p2", "g", "2", SIM_FIXTURE_GATED));

	(void)simulation_run_cycle(s);
	(void)simulation_run_cycle(s);
	return s;
}

static void test_json(void **state)
{
	static const struct sim_report_show none;
	CLEANUP(simulation_destroyp) struct simulation *s = two_cycles();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	(void)state;
	sim_report_json(&(struct sim_report_parts){ s, NULL, NULL }, &none, &text);
	assert_string_equal(
		text.p,
		"{\"cycles\":2,\"decisions\":["
		"{\"kind\":\"Ungate\",\"cycle\":1,\"pod\":\"ns/p1\","
		"\"gate\":\"scheduling.volcano.sh/queue-allocation-gate\"},"
		"{\"kind\":\"Bind\",\"cycle\":2,\"pod\":\"ns/p1\",\"node\":\"n1\"}],"
		"\"queues\":{},\"waiting\":[],"
		"\"podGroups\":[{\"name\":\"ns/g\",\"queue\":\"q\",\"phase\":"
		"\"Inqueue\",\"tasks\":{\"Pending\":1,\"Binding\":1}}],"
		"\"waitingPods\":[{\"pod\":\"ns/p2\",\"queue\":\"q\",\"state\":"
		"\"gated\",\"reason\":\"queue q has not enough quota left: "
		"insufficient cpu (2 cpu requested, 1 of 3 left in queue q)\"}],\"published\":[]}");
}

/* It waits for the pods that end on its node, with its gang. */
static void test_json_of_a_pipelined_pod(void **state)
{
	static const struct sim_report_show none;
	CLEANUP(simulation_destroyp)
	struct simulation *s = sim_fixture_create(
		SIM_FIXTURE_CLUSTER
		"{apiVersion: v1, kind: Pod, metadata: {name: old, deletionTimestamp: "
		"\"2026-01-01T00:00:00Z\"}, spec: {nodeName: n1, containers: [{name: c, resources: "
		"{requests: {cpu: 8}}}]}, status: {phase: Running}}\n---\n" SIM_FIXTURE_GROUP(
			"g", "1") SIM_FIXTURE_POD("p1", "g", "2", ""));
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	(void)state;
	(void)simulation_run_cycle(s);
	sim_report_json(&(struct sim_report_parts){ s, NULL, NULL }, &none, &text);
	assert_non_null(strstr(text.p,
			       "{\"kind\":\"Pipeline\",\"cycle\":1,\"pod\":\"ns/p1\",\"node\":"
			       "\"n1\",\"podGroup\":\"ns/g\"}"));
}

static void test_json_sections(void **state)
{
	static const struct sim_report_show all = { true, true, true, true };
	CLEANUP(simulation_destroyp) struct simulation *s = two_cycles();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	(void)state;
	sim_report_json(&(struct sim_report_parts){ s, NULL, NULL }, &all, &text);
	assert_non_null(strstr(text.p, "\"shares\":{},\"capacity\":{},\"workloads\":[],"
				       "\"events\":[{\"type\":\"Normal\",\"object\":\"ns/g\","
				       "\"reason\":\"QuotaReserved\""));
}

/* In each cycle the quota part comes first. */
static void test_both_parts(void **state)
{
	static const struct sim_report_show none;
	static const char *const parts[] = {
		"{\"cycles\":2,\"decisions\":[{\"kind\":\"Admit\",\"cycle\":1,",
		"},{\"kind\":\"Ungate\",\"cycle\":1,",
		"},{\"kind\":\"Pending\",\"cycle\":2,\"workload\":\"team/x\",",
		"},{\"kind\":\"Bind\",\"cycle\":2,",
		"\"queues\":{\"cq\":{\"heap\":[],\"inadmissible\":[\"team/x\"]}},\"waiting\":[{"
		"\"workload\":\"team/x\",\"clusterQueue\":\"cq\",\"inadmissible\":true,",
		"}],\"podGroups\":[{",
	};
	CLEANUP(simulation_destroyp) struct simulation *s = two_cycles();
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *q =
		workload_sim_fixture_create(QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "4", "1", "")
						    QUOTA_SIM_WORKLOAD("x", "4", "0", ""),
					    NULL);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *at;

	(void)state;
	(void)workload_simulation_run_cycle(q);
	(void)workload_simulation_run_cycle(q);
	sim_report_json(&(struct sim_report_parts){ s, q, NULL }, &none, &text);
	at = text.p;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		at = strstr(at, parts[i]);
		if (at == NULL) {
			fail_msg("no %s in its place in\n%s", parts[i], text.p);
		}
	}
}

static void test_table(void **state)
{
	static const struct sim_report_show none;
	static const char *const lines[] = {
		"2 cycles\n",
		"1       Ungate     ns/p1   scheduling.volcano.sh/queue-allocation-gate\n",
		"2       Bind       ns/p1   n1\n",
		"ns/g        q       Inqueue   1 Pending, 1 Binding\n",
		("ns/p2         q       gated   queue q has not enough quota left: insufficient "
		 "cpu (2 cpu requested, 1 of 3 left in queue q)\n"),
	};
	CLEANUP(simulation_destroyp) struct simulation *s = two_cycles();
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	assert_non_null(to);
	sim_report_table(&(struct sim_report_parts){ s, NULL, NULL }, &none, to);
	fclose(to);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (strstr(text, lines[i]) == NULL) {
			fail_msg("no line \"%s\" in\n%s", lines[i], text);
		}
	}
	free(text);
}

static void test_table_of_events(void **state)
{
	static const struct sim_report_show events = { .events = true };
	CLEANUP(simulation_destroyp) struct simulation *s = two_cycles();
	const struct sim_step *steps;
	char *text = NULL;
	size_t size, n, messages = 0;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	sim_report_table(&(struct sim_report_parts){ .pods = s }, &events, to);
	fclose(to);
	steps = simulation_steps(s, &n);
	for (size_t i = 0; i < n; i++) {
		if (steps[i].kind == SIM_EVENT) {
			assert_non_null(strstr(text, steps[i].message));
			messages++;
		}
	}
	assert_true(messages > 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_sections),
		cmocka_unit_test(test_json_of_a_pipelined_pod),
		cmocka_unit_test(test_both_parts),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_of_events),
	};

	return cmocka_run_group_tests_name("ctl/sim/sim_report", tests, NULL, NULL);
}
