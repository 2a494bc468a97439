#include "scheduler/workloads/owners/job_start.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define META "'metadata':{'uid':'j-1','resourceVersion':'5'}"
#define STARTED                                                                                    \
	"'metadata':{'uid':'j-1','resourceVersion':'5','annotations':{"                            \
	"'headgate.io/started':'true'}}"
#define LABELS                                                                                     \
	"'kueue.x-k8s.io/podset':'main','kueue.x-k8s.io/managed':'true',"                          \
	"'kueue.x-k8s.io/local-queue-name':'lq','kueue.x-k8s.io/cluster-queue-name':'cq'"
#define TOLERATION "{'effect':'NoSchedule','key':'spot','operator':'Exists'}"
#define CHECK(state, update)                                                                       \
	",'admissionChecks':[{'name':'a','state':'" state                                          \
	"','podSetUpdates':[{'name':'main'," update "}]}]"

static const struct {
	const char *name;
	struct job_fixture job;
	struct job_fixture_workload w;
	const char *spec; /* of the patch */
	int code;
} start_rows[] = {
	{ .name = "labels, node selector and toleration of the flavor",
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .spec = "'suspend':false,'template':{'metadata':{'labels':{" LABELS "}},"
		  "'spec':{'nodeSelector':{'type':'spot'},"
		  "'tolerations':[" TOLERATION "]}}" },
	{ .name = "what the Job has already is no conflict, and not written twice",
	  .job = { .template_spec = "'nodeSelector':{'type':'spot','a':'b'},"
				    "'tolerations':[" TOLERATION "]" },
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .spec = "'suspend':false,'template':{'metadata':{'labels':{" LABELS "}}}" },
	{ .name = "its own tolerations stay",
	  .job = { .template_spec = "'tolerations':[{'key':'x','tolerationSeconds':5}]" },
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .spec = "'suspend':false,'template':{'metadata':{'labels':{" LABELS "}},"
		  "'spec':{'nodeSelector':{'type':'spot'},'tolerations':[{'key':'x',"
		  "'tolerationSeconds':5}," TOLERATION "]}}" },
	{ .name = "it wants another node",
	  .job = { .template_spec = "'nodeSelector':{'type':'other'}" },
	  .w = { .status = JOB_FIXTURE_ADMITTED },
	  .code = -ERR_INVALID },
	{ .name = "a partial admission",
	  .w = { .podset = "'minCount':1", .status = JOB_FIXTURE_ADMITTED, .count = 5 },
	  .spec = "'suspend':false,'parallelism':3,'template':{'metadata':{'labels':"
		  "{" LABELS "}},'spec':{'nodeSelector':{'type':'spot'},"
		  "'tolerations':[" TOLERATION "]}}" },
	{ .name = "a partial admission, completions follow",
	  .job = { .annotations = "'kueue.x-k8s.io/job-completions-equal-parallelism':'true'" },
	  .w = { .podset = "'minCount':1", .status = JOB_FIXTURE_ADMITTED, .count = 5 },
	  .spec = "'suspend':false,'parallelism':3,'completions':3,'template':{'metadata':"
		  "{'labels':{" LABELS "}},'spec':{'nodeSelector':{'type':'spot'},"
		  "'tolerations':[" TOLERATION "]}}" },
	{ .name = "what a Ready check adds",
	  .w = { .status = JOB_FIXTURE_ADMITTED CHECK(
			 "Ready", "'labels':{'l':'1'},'annotations':{'n':'2'},"
				  "'nodeSelector':{'pool':'3'},'tolerations':[{'key':"
				  "'t'}]") },
	  .spec = "'suspend':false,'template':{'metadata':{'labels':{'l':'1'," LABELS "},"
		  "'annotations':{'n':'2'}},'spec':{'nodeSelector':{'type':'spot','pool':"
		  "'3'},'tolerations':[" TOLERATION ",{'key':'t'}]}}" },
	{ .name = "but not another one",
	  .w = { .status = JOB_FIXTURE_ADMITTED CHECK("Pending", "'labels':{'l':'1'}") },
	  .spec = "'suspend':false,'template':{'metadata':{'labels':{" LABELS "}},"
		  "'spec':{'nodeSelector':{'type':'spot'},"
		  "'tolerations':[" TOLERATION "]}}" },
	{ .name = "a check against the flavor",
	  .w = { .status = JOB_FIXTURE_ADMITTED CHECK("Ready", "'nodeSelector':{'type':'other'}") },
	  .code = -ERR_INVALID },
	{ .name = "a check against the Job",
	  .job = { .template_meta = "'labels':{'l':'0'}" },
	  .w = { .status = JOB_FIXTURE_ADMITTED CHECK("Ready", "'labels':{'l':'1'}") },
	  .code = -ERR_INVALID },
	{ .name = "a flavor that is not known",
	  .w = { .status = "'admission':{'clusterQueue':'cq','podSetAssignments':[{"
			   "'name':'main','flavors':{'cpu':'x'},'count':3}]}" },
	  .code = -ERR_NOT_FOUND },
	{ .name = "an admission of something else",
	  .w = { .status = "'admission':{'clusterQueue':'cq','podSetAssignments':[{"
			   "'name':'driver','flavors':{},'count':3}]}" },
	  .code = -ERR_INVALID },
};

static void starts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(start_rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		struct err err = ERR_INIT;
		struct owner_plan_env env;
		struct api_job job;
		struct api_workload w;

		unit_row(start_rows[i].name);
		job_fixture_job(&start_rows[i].job, &job);
		job_fixture_workload(&start_rows[i].w, &w);
		job_fixture_env(&env);
		assert_int_equal(job_start_patch(&job, &w, &env.flavors, &body, &err),
				 start_rows[i].code);
		if (start_rows[i].code == 0) {
			strbuf_printf(&want, "{" STARTED ",'spec':{%s}}", start_rows[i].spec);
			job_fixture_expect_json(strbuf_str(&body), want.p);
		} else {
			assert_int_equal(body.len, 0);
		}
	}
}

static void stops(void **state)
{
	const struct job_fixture f = { .runs = true };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_job job;

	(void)state;
	job_fixture_job(&f, &job);
	job_start_suspend(&job, &body);
	job_fixture_expect_json(strbuf_str(&body),
				"{'metadata':{'uid':'j-1','resourceVersion':'5','annotations':{"
				"'kueue.x-k8s.io/stopping':'true'}},'spec':{'suspend':true}}");
	strbuf_reset(&body);
	job_start_reset(&job, &body);
	job_fixture_expect_json(strbuf_str(&body), "{" META ",'status':{'startTime':null}}");
}

static void restores(void **state)
{
	const struct job_fixture f = {
		.annotations = "'kueue.x-k8s.io/stopping':'true'",
		.spec = "'parallelism':2",
		.template_meta = "'labels':{'app':'a','job-name':'j','kueue.x-k8s.io/podset':"
				 "'main'},'annotations':{'n':'2'}",
		.template_spec = "'nodeSelector':{'type':'spot','a':'changed'},"
				 "'tolerations':[" TOLERATION "]",
	};
	const struct job_fixture_workload g = { .podset = "'minCount':2",
						.template_spec = "'nodeSelector':{'a':'b'}" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_job job;
	struct api_workload w;

	(void)state;
	job_fixture_job(&f, &job);
	job_fixture_workload(&g, &w);
	job_start_restore(&job, &w, &body);
	job_fixture_expect_json(
		strbuf_str(&body),
		"{'metadata':{'uid':'j-1','resourceVersion':'5','annotations':{"
		"'headgate.io/started':null,'kueue.x-k8s.io/"
		"stopping':null}},'spec':{'parallelism':3,'template':{"
		"'metadata':{'labels':{'app':null,'kueue.x-k8s.io/podset':null},"
		"'annotations':{'n':null}},"
		"'spec':{'nodeSelector':{'type':null,'a':'b'},'tolerations':null}}}}");
	strbuf_reset(&body);
	job_start_restore(&job, NULL, &body);
	job_fixture_expect_json(strbuf_str(&body),
				"{'metadata':{'uid':'j-1','resourceVersion':'5','annotations':{"
				"'headgate.io/started':null,'kueue.x-k8s.io/stopping':null}}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts),
		cmocka_unit_test(stops),
		cmocka_unit_test(restores),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
