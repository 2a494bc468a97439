#include "scheduler/workloads/owners/pod_start.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"
#include "unit/scheduler/workloads/owners/pod_fixture.h"

static void let_go(void **state)
{
	static const struct {
		const char *podset;
		struct pod_fixture f;
		int code;
		const char *want;
	} cases[] = {
		{ "main",
		  { .spec = NULL },
		  0,
		  "{'metadata':{'uid':'u-a','resourceVersion':'10','labels':{"
		  "'kueue.x-k8s.io/podset':'main','kueue.x-k8s.io/managed':'true',"
		  "'kueue.x-k8s.io/local-queue-name':'lq','kueue.x-k8s.io/cluster-queue-name':'cq'"
		  "}},'spec':{'schedulingGates':[{'name':'other'}],'nodeSelector':{'type':'spot'},"
		  "'tolerations':[{'key':'spot','operator':'Exists','effect':'NoSchedule'}]}}" },
		{ "main",
		  { .spec = ",'nodeSelector':{'type':'spot'},'tolerations':[{'key':'spot',"
			    "'operator':'Exists','effect':'NoSchedule'}]" },
		  0,
		  "{'metadata':{'uid':'u-a','resourceVersion':'10','labels':{"
		  "'kueue.x-k8s.io/podset':'main','kueue.x-k8s.io/managed':'true',"
		  "'kueue.x-k8s.io/local-queue-name':'lq','kueue.x-k8s.io/cluster-queue-name':'cq'"
		  "}},'spec':{'schedulingGates':[{'name':'other'}]}}" },
		{ "main", { .spec = ",'nodeSelector':{'type':'x'}" }, -ERR_INVALID, NULL },
		{ "r1", { .spec = NULL }, -ERR_INVALID, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		const struct pod_fixture_workload wf = { .status = JOB_FIXTURE_ADMITTED };
		struct owner_plan_env env;
		struct api_workload w;
		struct api_pod pod;

		unit_row(cases[i].podset);
		job_fixture_env(&env);
		pod_fixture_workload(&wf, &w);
		assert_int_equal(pod_fixture_pods(&cases[i].f, "a:G", &pod), 1);
		assert_int_equal(
			pod_start_patch(&pod, &w, cases[i].podset, &env.flavors, &body, NULL),
			cases[i].code);
		if (cases[i].want != NULL) {
			job_fixture_expect_json(strbuf_str(&body), cases[i].want);
		} else {
			assert_int_equal(body.len, 0);
		}
	}
}

static void ended_and_forgotten(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf end = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf without = STRBUF_INIT;
	const struct pod_fixture f = { .total = NULL };
	struct api_pod pod;

	(void)state;
	assert_int_equal(pod_fixture_pods(&f, "a:R", &pod), 1);
	pod_start_end(&pod, "WorkloadEvicted", "m", JOB_FIXTURE_NOW, &end);
	job_fixture_expect_json(
		strbuf_str(&end),
		"{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'ns','name':'a','uid':"
		"'u-a'},'status':{'conditions':[{'type':'TerminationTarget','status':'True',"
		"'reason':'WorkloadEvicted','message':'m','lastTransitionTime':"
		"'2023-11-14T22:13:20Z'}]}}");
	pod_start_drop_finalizer(&pod, &without);
	job_fixture_expect_json(strbuf_str(&without),
				"{'metadata':{'uid':'u-a','resourceVersion':'10',"
				"'finalizers':['other']}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(let_go),
		cmocka_unit_test(ended_and_forgotten),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
