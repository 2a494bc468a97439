#include "scheduler/ctl/sim/workload_report.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/json_out.h"
#include "lib/workloads/workload_sim_fixture.h"

static struct workload_simulation *run(const char *yaml)
{
	struct workload_simulation *s = workload_sim_fixture_create(yaml, NULL);

	(void)workload_simulation_run_cycle(s);
	return s;
}

static void expect_items(const struct workload_simulation *s,
			 void (*write)(const struct workload_simulation *, unsigned,
				       struct json_out *),
			 const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	json_out_array(&o);
	write(s, 1, &o);
	json_out_array_end(&o);
	json_out_end(&o);
	assert_string_equal(text.p, expected);
}

static void expect_section(const struct workload_simulation *s,
			   void (*write)(const struct workload_simulation *, struct json_out *),
			   const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	json_out_init(&o, &text);
	write(s, &o);
	json_out_end(&o);
	assert_string_equal(text.p, expected);
}

static void an_admission(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s =
		run(QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "500m", "0", ""));

	(void)state;
	expect_items(s, workload_report_decisions,
		     "[{\"kind\":\"Admit\",\"cycle\":1,\"workload\":\"team/w\","
		     "\"clusterQueue\":\"cq\",\"borrowing\":0,\"podSetAssignments\":["
		     "{\"name\":\"main\",\"flavors\":{\"cpu\":\"f\"},"
		     "\"resourceUsage\":{\"cpu\":\"500m\"},\"count\":1}]}]");
	expect_section(s, workload_report_queues, "{}");
	expect_section(s, workload_report_shares,
		       "{\"ClusterQueue/cq\":{\"weightedShare\":0,\"dominantResource\":\"\","
		       "\"borrowing\":false}}");
	expect_section(s, workload_report_capacity,
		       "{\"ClusterQueue/cq\":{\"f/cpu\":{\"available\":\"3500m\","
		       "\"potentiallyAvailable\":\"4\",\"used\":\"500m\"}}}");
	expect_section(
		s, workload_report_workloads,
		"[{\"workload\":\"team/w\",\"conditions\":["
		"{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":\"QuotaReserved\","
		"\"message\":\"Quota reserved in ClusterQueue cq after 0 s\"},"
		"{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\","
		"\"message\":\"Admitted by ClusterQueue cq\"}],"
		"\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":["
		"{\"name\":\"main\",\"flavors\":{\"cpu\":\"f\"},"
		"\"resourceUsage\":{\"cpu\":\"500m\"},\"count\":1}]}}]");
	expect_items(s, workload_report_events,
		     "[{\"type\":\"Normal\",\"object\":\"team/w\",\"reason\":\"QuotaReserved\","
		     "\"message\":\"Quota reserved in ClusterQueue cq after 0 s\"},"
		     "{\"type\":\"Normal\",\"object\":\"team/w\",\"reason\":\"Admitted\","
		     "\"message\":\"Admitted by ClusterQueue cq\"}]");
}

static void a_waiting_workload(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = run(QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD("w", "5", "0", "")
						    QUOTA_SIM_WORKLOAD("other", "1", "-1", ""));

	(void)state;
	expect_section(s, workload_report_queues,
		       "{\"cq\":{\"heap\":[\"team/other\"],\"inadmissible\":[\"team/w\"]}}");
	expect_items(s, workload_report_decisions,
		     "[{\"kind\":\"Pending\",\"cycle\":1,\"workload\":\"team/w\","
		     "\"clusterQueue\":\"cq\",\"requeue\":\"inadmissible\","
		     "\"requeueReason\":\"NoFit\",\"reason\":\"ExceedsMaxQuota\","
		     "\"message\":\"pod set main: cpu in flavor f: 5 requested, the most it can "
		     "have is 4\","
		     "\"assignment\":{\"mode\":\"NoFit\",\"borrowing\":0,\"podSets\":["
		     "{\"name\":\"main\",\"count\":1,\"flavors\":{}}]}}]");
}

static void a_victim_keeps_its_admission(void **state)
{
	CLEANUP(workload_simulation_destroyp)
	struct workload_simulation *s = run(QUOTA_SIM_CLUSTER QUOTA_SIM_WORKLOAD(
		"v", "4", "0", QUOTA_SIM_HOLDS("4")) QUOTA_SIM_WORKLOAD("w", "1", "1", ""));
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct json_out o;

	(void)state;
	json_out_init(&o, &text);
	workload_report_workloads(s, &o);
	assert_non_null(strstr(text.p,
			       "\"admission\":{\"clusterQueue\":\"cq\","
			       "\"podSetAssignments\":[{\"name\":\"main\",\"count\":1,"
			       "\"flavors\":{\"cpu\":\"f\"},\"resourceUsage\":{\"cpu\":4}}]}"));
	strbuf_reset(&text);
	json_out_init(&o, &text);
	json_out_array(&o);
	workload_report_decisions(s, 1, &o);
	assert_true(str_has_prefix(str_of(text.p),
				   "[{\"kind\":\"Preempt\",\"cycle\":1,\"workload\":\"team/v\","
				   "\"by\":\"team/w\",\"reason\":\"InClusterQueue\"}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_admission),
		cmocka_unit_test(a_waiting_workload),
		cmocka_unit_test(a_victim_keeps_its_admission),
	};

	return cmocka_run_group_tests_name("ctl/sim/workload_report", tests, NULL, NULL);
}
