#include "scheduler/workloads/owners/job_status.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define C JOB_FIXTURE_CONDITION
#define READY(status, reason, message)                                                             \
	",{'type':'PodsReady','status':'" status "','reason':'" reason "','message':'" message "'" \
	"}"
#define NOT_READY "Not all pods are ready or succeeded"
#define ADMITTED                                                                                   \
	JOB_FIXTURE_ADMISSION                                                                      \
	",'conditions':[" C("QuotaReserved", "True", "r") "," C("Admitted", "True", "r")

static void reclaimable_pods(void **state)
{
	static const struct {
		const char *name;
		struct job_fixture job;
		int32_t n;
	} cases[] = {
		{ .name = "none has ended" },
		{ .name = "one has ended", .job = { .status = "'succeeded':1" }, .n = 1 },
		{ .name = "all have ended", .job = { .status = "'succeeded':9" }, .n = 3 },
		{ .name = "many more are to come",
		  .job = { .spec = "'completions':9", .status = "'succeeded':6" } },
		{ .name = "the last but one of many",
		  .job = { .spec = "'completions':9", .status = "'succeeded':7" },
		  .n = 1 },
		{ .name = "one pod alone",
		  .job = { .spec = "'parallelism':1,'completions':3", .status = "'succeeded':2" } },
		{ .name = "more parallelism than completions",
		  .job = { .spec = "'parallelism':5,'completions':2", .status = "'succeeded':1" },
		  .n = 1 },
		{ .name = "more parallelism than one completion",
		  .job = { .spec = "'parallelism':5,'completions':1", .status = "'succeeded':1" } },
		{ .name = "a work queue",
		  .job = { .spec = "'completions':null", .status = "'succeeded':2" } },
		{ .name = "indexes that succeeded or failed, each once",
		  .job = { .spec = "'completionMode':'Indexed','parallelism':5,'completions':10",
			   .status = "'completedIndexes':'0,2-5','failedIndexes':'5-7,1'" },
		  .n = 3 },
		{ .name = "indexes that are none",
		  .job = { .spec = "'completionMode':'Indexed','parallelism':5,'completions':5",
			   .status = "'completedIndexes':'x,4-2,,1-','failedIndexes':'3'" },
		  .n = 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct api_job job;

		unit_row(cases[i].name);
		job_fixture_job(&cases[i].job, &job);
		assert_int_equal(job_status_reclaimable(&job), cases[i].n);
	}
}

static void readiness(void **state)
{
	static const struct {
		const char *status;
		bool ready;
	} cases[] = {
		{ "", false },
		{ "'ready':2", false },
		{ "'ready':3", true },
		{ "'ready':1,'succeeded':1", false },
		{ "'ready':1,'succeeded':1,'uncountedTerminatedPods':{'succeeded':['u']}", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct job_fixture f = { .runs = true, .status = cases[i].status };
		struct api_job job;

		unit_row(cases[i].status);
		job_fixture_job(&f, &job);
		assert_int_equal(job_status_is_ready(&job), cases[i].ready);
	}
}

/* "Type=Status/Reason ... main:2" of an apply configuration. */
static void describe(struct str body, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const struct jdoc *list;

	assert_int_equal(jdoc_parse(body, &d, NULL), 0);
	assert_string_equal(jdoc_path_str(d, "metadata.uid"), "w-1");
	assert_string_equal(jdoc_path_str(d, "metadata.resourceVersion"), "7");
	assert_string_equal(jdoc_path_str(d, "kind"), "Workload");
	list = jdoc_path(d, "status.conditions");
	assert_true(list == NULL || jdoc_count(list) > 0); /* an empty one would claim others' */
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(out, "%s=%s/%s ", jdoc_path_str(c, "type"),
			      jdoc_path_str(c, "status"), jdoc_path_str(c, "reason"));
		assert_int_equal(jdoc_int(jdoc_get(c, "observedGeneration"), 0), 2);
	}
	list = jdoc_path(d, "status.reclaimablePods");
	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		strbuf_printf(out, "%s:%d", jdoc_path_str(c, "name"),
			      (int)jdoc_int(jdoc_get(c, "count"), -1));
	}
}

static const struct {
	const char *name;
	struct job_fixture job;
	const char *w;      /* status */
	const char *reason; /* of Finished */
	bool quiet;         /* PodsReady is not written */
	const char *want;   /* NULL: no write */
} status_rows[] = {
	{ .name = "one that waits: no change" },
	{ .name = "admitted, pods are not ready",
	  .job = { .runs = true },
	  .w = ADMITTED "]",
	  .want = "PodsReady=False/WaitForStart " },
	{ .name = "PodsReady is switched off",
	  .job = { .runs = true },
	  .w = ADMITTED "]",
	  .quiet = true },
	{ .name = "not ready still",
	  .job = { .runs = true },
	  .w = ADMITTED READY("False", "WaitForStart", NOT_READY) "]" },
	{ .name = "ready",
	  .job = { .runs = true, .status = "'ready':3" },
	  .w = ADMITTED READY("False", "WaitForStart", NOT_READY) "]",
	  .want = "PodsReady=True/Started " },
	{ .name = "no longer ready",
	  .job = { .runs = true, .status = "'ready':2" },
	  .w = ADMITTED READY("True", "Started", "m") "]",
	  .want = "PodsReady=False/WaitForRecovery " },
	{ .name = "ready again",
	  .job = { .runs = true, .status = "'ready':3" },
	  .w = ADMITTED READY("False", "WaitForRecovery", "m") "]",
	  .want = "PodsReady=True/Recovered " },
	{ .name = "not ready after it recovered",
	  .job = { .runs = true, .status = "'ready':2" },
	  .w = ADMITTED READY("True", "Recovered", "m") "]",
	  .want = "PodsReady=False/WaitForRecovery " },
	{ .name = "it lost its admission: starts are waited for again",
	  .w = "'conditions':[" C("QuotaReserved", "False", "r")
		  READY("False", "WaitForRecovery", "m") "]",
	  .want = "PodsReady=False/WaitForStart " },
	{ .name = "a pod has ended",
	  .job = { .runs = true, .status = "'ready':2,'succeeded':1" },
	  .w = ADMITTED "]",
	  .quiet = true,
	  .want = "main:1" },
	{ .name = "it is known",
	  .job = { .runs = true, .status = "'succeeded':1" },
	  .w = ADMITTED "],'reclaimablePods':[{'name':'main','count':1}]",
	  .quiet = true },
	{ .name = "never fewer while quota is held",
	  .job = { .runs = true, .status = "'succeeded':1" },
	  .w = ADMITTED "],'reclaimablePods':[{'name':'main','count':2}]",
	  .quiet = true },
	{ .name = "none once it was given back",
	  .w = "'reclaimablePods':[{'name':'main','count':2}]",
	  .want = "" },
	{ .name = "succeeded: its readiness stays",
	  .job = { .runs = true, .status = "'conditions':[{'type':'Complete','status':'True'}]" },
	  .w = ADMITTED READY("True", "Started", "m") "]",
	  .want = "PodsReady=True/Started Finished=True/Succeeded " },
	{ .name = "it had more pods than its Workload, and has ended",
	  .job = { .spec = "'parallelism':9,'completions':9",
		   .runs = true,
		   .status = "'succeeded':9,'conditions':[{'type':'Complete','status':'True'}]" },
	  .w = ADMITTED "]",
	  .quiet = true,
	  .want = "Finished=True/Succeeded main:3" },
	{ .name = "failed",
	  .job = { .runs = true, .status = "'conditions':[{'type':'Failed','status':'True'}]" },
	  .w = ADMITTED "]",
	  .quiet = true,
	  .want = "Finished=True/Failed " },
	{ .name = "it could not start",
	  .w = ADMITTED "]",
	  .quiet = true,
	  .reason = "FailedToStart",
	  .want = "Finished=True/FailedToStart " },
};

static void statuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(status_rows); i++) {
		const struct job_fixture_workload g = { .status = status_rows[i].w };
		const struct job_status_options opt = { .pods_ready = !status_rows[i].quiet,
							.finished_reason = status_rows[i].reason,
							.now = JOB_FIXTURE_NOW };
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf have = STRBUF_INIT;
		struct api_job job;
		struct api_workload w;

		unit_row(status_rows[i].name);
		job_fixture_job(&status_rows[i].job, &job);
		job_fixture_workload(&g, &w);
		assert_int_equal(job_status_apply(&job, &w, &opt, &body),
				 status_rows[i].want != NULL);
		if (status_rows[i].want == NULL) {
			assert_int_equal(body.len, 0);
			continue;
		}
		describe(strbuf_str(&body), &have);
		assert_string_equal(have.p, status_rows[i].want);
	}
}

static void the_time_stays_with_the_status(void **state)
{
	const struct job_fixture f = { .runs = true };
	const struct job_fixture_workload g = {
		.status = ADMITTED ",{'type':'PodsReady','status':'False','reason':'WaitForStart',"
				   "'message':'other','lastTransitionTime':"
				   "'2020-01-01T00:00:00Z'}]"
	};
	const struct job_status_options opt = { .pods_ready = true, .now = JOB_FIXTURE_NOW };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_job job;
	struct api_workload w;

	(void)state;
	job_fixture_job(&f, &job);
	job_fixture_workload(&g, &w);
	assert_true(job_status_apply(&job, &w, &opt, &body));
	assert_non_null(strstr(body.p, "2020-01-01T00:00:00Z"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reclaimable_pods),
		cmocka_unit_test(readiness),
		cmocka_unit_test(statuses),
		cmocka_unit_test(the_time_stays_with_the_status),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
