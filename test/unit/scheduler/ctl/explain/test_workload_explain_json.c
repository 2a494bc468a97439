#include "scheduler/ctl/explain/workload_explain_json.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "enc/json/jdoc.h"
#include "lib/workloads/workload_sim_fixture.h"
#include "unit/scheduler/ctl/workload_explain_fixture.h"

#define WORKLOAD QUOTA_SIM_WORKLOAD

static void expect(const char *key, const char *json)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *got = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *wanted = NULL;
	struct workload_explain_fixture f;

	workload_explain_fixture_init(&f,
				      QUOTA_SIM_CLUSTER WORKLOAD("w", "2", "1", "")
					      WORKLOAD("v", "3", "0", QUOTA_SIM_HOLDS("3")),
				      NULL, key);
	workload_explain_json_write(&f.x, &text);
	workload_explain_fixture_finish(&f);
	assert_int_equal(jdoc_parse(strbuf_str(&text), &got, NULL), 0);
	assert_int_equal(jdoc_parse(str_of(json), &wanted, NULL), 0);
	if (!jdoc_equal(got, wanted)) {
		fail_msg("%s", text.p);
	}
}

static void test_a_waiting_workload(void **state)
{
	(void)state;
	expect("team/w",
	       "{\"namespace\": \"team\", \"name\": \"w\", \"verdict\": \"would preempt 1 "
	       "workload: "
	       "pod set main: cpu in flavor f: 2 requested, 1 free, 1 too little\", \"reason\": "
	       "\"WaitingForPreemptedWorkloads\", \"localQueue\": \"team/lq\", \"clusterQueue\": "
	       "\"cq\", \"inClusterQueue\": {\"place\": 1, \"of\": 1}, \"inLocalQueue\": "
	       "{\"place\": 1, \"of\": 1}, \"priority\": 1, \"heldBy\": [], \"quota\": "
	       "[{\"flavor\": "
	       "\"f\", \"resource\": \"cpu\", \"kind\": \"ClusterQueue\", \"name\": \"cq\", "
	       "\"nominal\": \"4\", \"quota\": \"4\", \"used\": \"3\", \"asked\": \"2\", \"left\": "
	       "\"1\", \"short\": true, \"shortage\": \"short by 1\"}], \"unfitFlavors\": [], "
	       "\"holders\": [{\"workload\": \"team/v\", \"clusterQueue\": \"cq\", \"priority\": "
	       "0, "
	       "\"quotaReservedSince\": \"2026-01-15T09:01:00Z\", \"holds\": [{\"flavor\": \"f\", "
	       "\"resource\": \"cpu\", \"amount\": \"3\"}], \"preemption\": \"Victim\", "
	       "\"ongoing\": "
	       "false, \"reason\": \"InClusterQueue\"}]}");
}

static void test_a_workload_with_quota(void **state)
{
	(void)state;
	expect("team/v",
	       "{\"namespace\": \"team\", \"name\": \"v\", \"verdict\": \"has had its quota since "
	       "2026-01-15T09:01:00Z and waits for its admission\", \"reason\": \"QuotaReserved\", "
	       "\"localQueue\": \"team/lq\", \"clusterQueue\": \"cq\", \"priority\": 0, "
	       "\"heldBy\": "
	       "[], \"quota\": [{\"flavor\": \"f\", \"resource\": \"cpu\", \"kind\": "
	       "\"ClusterQueue\", \"name\": \"cq\", \"nominal\": \"4\", \"quota\": \"4\", "
	       "\"used\": "
	       "\"3\", \"left\": \"1\"}], \"unfitFlavors\": [], \"holds\": [{\"flavor\": \"f\", "
	       "\"resource\": \"cpu\", \"amount\": \"3\"}], \"mayBePreemptedBy\": "
	       "[{\"clusterQueue\": \"cq\", \"may\": true, \"message\": \"of a priority above "
	       "0\"}], "
	       "\"wantedBy\": \"team/w\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_waiting_workload),
		cmocka_unit_test(test_a_workload_with_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
