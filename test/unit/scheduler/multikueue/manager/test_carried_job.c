/* Jobs: how the status of the local one follows that of the remote one (Kueue's cases of SyncJob),
 * and the bodies. */
#include "scheduler/multikueue/manager/carried_job.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/core/batch.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define ORIGIN "'kueue.x-k8s.io/multikueue-origin':'m'"

#define C(type, status) "{'type':'" type "','status':'" status "'}"
#define SUSPENDED ",'suspend':true"
#define RUNS "'startTime':'2026-01-01T00:00:00Z','active':2"
#define DONE "'succeeded':2,'conditions':[" C("Complete", "True") "]"
#define FAILED "'failed':1,'conditions':[" C("Failed", "True") "]"

static void make(const char *spec, const char *status, struct api_job *ret)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{'metadata':{'name':'j'},'spec':{'parallelism':2%s},"
		 "'status':{%s}}",
		 spec, status);
	decode_fixture(&batch_job_fields, text, ret);
}

static void what_is_due(void **state)
{
	static const struct {
		const char *name, *local_spec, *local, *remote_spec, *remote;
		enum carried_due want;
	} rows[] = {
		{ "it begins", "", "", "", RUNS, CARRIED_DUE_STATUS },
		{ "it runs, and says so", "", RUNS, "", RUNS, CARRIED_DUE_NOTHING },
		{ "it completes", "", RUNS, "", DONE, CARRIED_DUE_STATUS },
		{ "it fails", "", RUNS, "", FAILED, CARRIED_DUE_STATUS },
		{ "it has completed, and says so", "", DONE, "", DONE, CARRIED_DUE_NOTHING },
		{ "nothing has begun", SUSPENDED, "", SUSPENDED, "", CARRIED_DUE_NOTHING },
		/* Kueue defers, and asks again after 2 s. */
		{ "it runs before the local one is resumed", SUSPENDED, "", "", RUNS,
		  CARRIED_DUE_SUSPENDED },
		{ "the same, with the condition", SUSPENDED,
		  "'conditions':[" C("Suspended", "True") "]", "", RUNS, CARRIED_DUE_NOTHING },
		{ "the same, with the condition False", SUSPENDED,
		  "'conditions':[" C("Suspended", "False") "]", "", RUNS, CARRIED_DUE_SUSPENDED },
		{ "it stops", SUSPENDED, RUNS, SUSPENDED, "'active':1", CARRIED_DUE_STATUS },
		{ "it has stopped", SUSPENDED, "'active':1", SUSPENDED,
		  "'conditions':[" C("Suspended", "True") "]", CARRIED_DUE_STATUS },
		{ "it ended before the local one was resumed", SUSPENDED, "", "", DONE,
		  CARRIED_DUE_STATUS },
		{ "it was stopped there, and the local one is not suspended yet", "", RUNS,
		  SUSPENDED, "", CARRIED_DUE_STATUS },
		{ "the same, with no pod left", "", "'startTime':'2026-01-01T00:00:00Z'", SUSPENDED,
		  "", CARRIED_DUE_NOTHING },
		{ "failed indexes", "", "", "", "'failedIndexes':'1,3'", CARRIED_DUE_STATUS },
		{ "a time of a condition", "",
		  "'conditions':[{'type':'a','status':'True',"
		  "'lastTransitionTime':'2026-01-01T00:00:00Z'}]",
		  "",
		  "'conditions':[{'type':'a','status':'True','lastTransitionTime':"
		  "'2026-01-01T00:00:01Z'}]",
		  CARRIED_DUE_STATUS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_job local, remote;

		unit_row(rows[i].name);
		make(rows[i].local_spec, rows[i].local, &local);
		make(rows[i].remote_spec, rows[i].remote, &remote);
		assert_int_equal(
			carried_job_kind.due(&(struct carried_object){ .object = &local },
					     &(struct carried_object){ .object = &remote }),
			rows[i].want);
	}
}

static void ends(void **state)
{
	static const struct {
		const char *name, *status;
		bool want;
	} rows[] = {
		{ "runs", RUNS, false },
		{ "completed", DONE, true },
		{ "failed", FAILED, true },
		{ "is sure to complete", "'conditions':[" C("SuccessCriteriaMet", "True") "]",
		  true },
		{ "is sure to fail", "'conditions':[" C("FailureTarget", "True") "]", true },
		{ "is not", "'conditions':[" C("FailureTarget", "False") "]", false },
		{ "is suspended", "'conditions':[" C("Suspended", "True") "]", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_job job;

		unit_row(rows[i].name);
		make("", rows[i].status, &job);
		assert_int_equal(carried_job_kind.is_ending(&job), rows[i].want);
	}
}

#define META "{'metadata':{'uid':'u','resourceVersion':'7'}"
#define OF(status) "{'metadata':{'name':'j','uid':'u','resourceVersion':'7'},'status':{" status "}}"

static void copies(void **state)
{
	static const struct {
		const char *name, *local, *remote, *want;
	} rows[] = {
		{ "begins", OF(""), OF("'active':2,'startTime':'t'"),
		  META ",'status':{'active':2,'startTime':'t'}}" },
		{ "equal members are left out", OF("'active':2,'ready':1"),
		  OF("'active':2,'ready':2"), META ",'status':{'ready':2}}" },
		{ "members that are gone", OF("'active':2,'ready':1"), OF("'active':2"),
		  META ",'status':{'ready':null}}" },
		{ "members of members",
		  OF("'uncountedTerminatedPods':{'failed':['a'],'succeeded':['b']}"),
		  OF("'uncountedTerminatedPods':{'succeeded':['b','c']}"),
		  META ",'status':{'uncountedTerminatedPods':{'failed':null,"
		       "'succeeded':['b','c']}}}" },
		{ "lists as a whole", OF("'conditions':[{'type':'a'}]"),
		  OF("'conditions':[{'type':'a'},{'type':'b'}]"),
		  META ",'status':{'conditions':[{'type':'a'},{'type':'b'}]}}" },
		{ "members that no table knows", OF(""), OF("'later':{'a':[1]}"),
		  META ",'status':{'later':{'a':[1]}}}" },
		{ "the API server keeps the time of a Job that is not suspended",
		  OF("'active':2,'startTime':'t'"), OF(""), META ",'status':{'active':null}}" },
		{ "an object in place of a number", OF("'x':1"), OF("'x':{'a':1}"),
		  META ",'status':{'x':{'a':1}}}" },
		{ "a status that is none", OF("'active':1"), "{'status':[1,{'active':2}]}",
		  META ",'status':{}}" },
		{ "the status is gone", OF("'active':1"), "{}", META ",'status':{'active':null}}" },
		{ "no status yet", "{'metadata':{'uid':'u','resourceVersion':'7'}}",
		  OF("'active':1"), META ",'status':{'active':1}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(rows[i].local);
		CLEANUP(jdoc_destroyp) struct jdoc *remote = body_fixture(rows[i].remote);

		unit_row(rows[i].name);
		carried_job_kind.sync(local, remote, CARRIED_DUE_STATUS, 0, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

static void the_condition_suspended(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(
		OF("'active':0,'conditions':[{'type':'a'},{'type':'Suspended','status':'False'}]"));

	(void)state;
	carried_job_kind.sync(local, NULL, CARRIED_DUE_SUSPENDED,
			      INT64_C(1800000000) * CLOCK_NS_PER_S, &body);
	body_fixture_expect(&body, META ",'status':{'conditions':[{'type':'a'},{'type':'Suspended',"
					"'status':'True','reason':'MultiKueueAdapter','message':"
					"'The Job is suspended on the manager cluster',"
					"'lastTransitionTime':'2027-01-15T08:00:00Z'}]}}");
}

static void resets(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture(OF("'active':3,'ready':2,'failed':1,'startTime':'t'"));

	(void)state;
	carried_job_kind.reset(local, &body);
	body_fixture_expect(&body, META ",'status':{'active':0,'ready':0}}");
}

static const struct replica_body_manager manager = { "m", NULL };

#define JOB(meta, spec)                                                                            \
	"{'metadata':{'name':'j','namespace':'ns','uid':'u'" meta "},'spec':{" spec "}}"
#define WORKLOAD(podset) "{'metadata':{'name':'w'},'spec':{'podSets':[" podset "]}}"
#define PLAIN WORKLOAD("{'name':'main','count':2,'template':{'spec':{'containers':[]}}}")
#define WANT_META                                                                                  \
	"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','namespace':'ns',"           \
	"'labels':{" ORIGIN ",'kueue.x-k8s.io/prebuilt-workload-name':'w'},"                       \
	"'annotations':{'kueue.x-k8s.io/prebuilt-workload-name':'w'}}"
#define WANT(spec) WANT_META ",'spec':{'suspend':true," spec "}}"

static void jobs(void **state)
{
	static const struct {
		const char *name, *job, *workload, *want;
	} rows[] = {
		{ "as the user made it",
		  JOB("", "'parallelism':2,'template':{'metadata':{},'spec':{'containers':[]}}"),
		  PLAIN,
		  WANT("'parallelism':2,'template':{'metadata':{},'spec':{'containers':[]}}") },
		{ "what the API server of the manager added",
		  JOB(",'generation':2",
		      "'parallelism':2,'managedBy':'kueue.x-k8s.io/multikueue',"
		      "'selector':{'matchLabels':{'x':'y'}},'manualSelector':false,"
		      "'suspend':false,'template':{'metadata':{'labels':{'controller-uid':'u',"
		      "'job-name':'j','batch.kubernetes.io/controller-uid':'u',"
		      "'batch.kubernetes.io/job-name':'j'}},'spec':{'containers':[]}}"),
		  PLAIN,
		  WANT("'parallelism':2,'template':{'metadata':{'labels':{"
		       "'batch.kubernetes.io/job-name':'j'}},'spec':{'containers':[]}}") },
		{ "members that no table knows",
		  JOB("", "'later':{'a':1},'template':{'metadata':{},'spec':{'later':2}}"), PLAIN,
		  WANT("'later':{'a':1},'template':{'metadata':{},'spec':{'later':2}}") },
		/* In Kueue a Job that is created again, since it vanished, has the node selector of
		 * the manager's flavor. */
		{ "what an admission on the manager added",
		  JOB("",
		      "'parallelism':2,'template':{'metadata':{'labels':{'kueue.x-k8s.io/podset':"
		      "'main','app':'a'},'annotations':{'added':'x'}},'spec':{"
		      "'nodeSelector':{'manager':'only','own':'1'},'tolerations':[{'key':'m'}],"
		      "'schedulingGates':[{'name':'kueue.x-k8s.io/topology'}],'containers':[]}}"),
		  WORKLOAD("{'name':'main','count':2,'template':{'metadata':{'labels':{'app':'a'}},"
			   "'spec':{'nodeSelector':{'own':'1'}}}}"),
		  WANT("'parallelism':2,'template':{'metadata':{'labels':{'app':'a'}},'spec':{"
		       "'nodeSelector':{'own':'1'},'containers':[]}}") },
		{ "a partial admission on the manager",
		  JOB("", "'parallelism':1,'completions':9,'template':{}"),
		  WORKLOAD("{'name':'main','count':4,'minCount':1}"),
		  WANT("'parallelism':4,'completions':9,'template':{'metadata':{},'spec':{}}") },
		{ "generated labels that the Workload has as well",
		  JOB("", "'template':{'metadata':{'labels':{'controller-uid':'u'}},'spec':{}}"),
		  WORKLOAD("{'template':{'metadata':{'labels':{'controller-uid':'u','a':'b',"
			   "'job-name':'j','batch.kubernetes.io/controller-uid':'u'}}}}"),
		  WANT("'template':{'metadata':{'labels':{'a':'b'}},'spec':{}}") },
		{ "a Workload of several pod sets restores nothing",
		  JOB("", "'template':{'spec':{'nodeSelector':{'a':'b'}}}"),
		  WORKLOAD("{'name':'a'},{'name':'b'}"),
		  WANT("'template':{'spec':{'nodeSelector':{'a':'b'}}}") },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *job = body_fixture(rows[i].job);
		CLEANUP(jdoc_destroyp) struct jdoc *workload = body_fixture(rows[i].workload);

		unit_row(rows[i].name);
		carried_job_kind.create(job, workload, &manager, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

/* Kueue once copied ttlSecondsAfterFinished: the worker deleted the Job before its end was copied,
 * and it ran again (#14734). */
static void hole_5_31_no_ttl(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *job = body_fixture(JOB("", "'ttlSecondsAfterFinished':0,'template':{}"));
	CLEANUP(jdoc_destroyp) struct jdoc *workload = body_fixture("{'metadata':{'name':'w'}}");

	(void)state;
	carried_job_kind.create(job, workload, &manager, &body);
	body_fixture_expect(&body, WANT("'template':{}"));
}

static void labels_and_annotations_of_jobs(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *job =
		body_fixture(JOB(",'labels':{'kueue.x-k8s.io/queue-name':'q','controller-uid':'u',"
				 "'kueue.x-k8s.io/prebuilt-workload-name':'old'},"
				 "'annotations':{'keep':'1','headgate.io/started':'true',"
				 "'kueue.x-k8s.io/stopping':'true',"
				 "'kueue.x-k8s.io/job-completions-equal-parallelism':'true'}",
				 "'parallelism':1,'completions':1,'template':{}"));
	CLEANUP(jdoc_destroyp)
	struct jdoc *workload = body_fixture(WORKLOAD("{'name':'main','count':3,'minCount':1}"));

	(void)state;
	carried_job_kind.create(job, workload, &manager, &body);
	body_fixture_expect(
		&body,
		"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'j','namespace':'ns',"
		"'labels':{'kueue.x-k8s.io/queue-name':'q'," ORIGIN
		",'kueue.x-k8s.io/prebuilt-workload-name':'w'},"
		"'annotations':{'keep':'1','kueue.x-k8s.io/job-completions-equal-parallelism':"
		"'true','kueue.x-k8s.io/prebuilt-workload-name':'w'}},"
		"'spec':{'suspend':true,'parallelism':3,'completions':3,"
		"'template':{'metadata':{},'spec':{}}}}");
}

static void long_names_are_no_labels(void **state)
{
	static const struct {
		const char *name;
		size_t length;
		bool label;
	} rows[] = { { "63 bytes", 63, true }, { "64 bytes", 64, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *job = body_fixture(JOB("", "'template':{}"));
		CLEANUP(jdoc_destroyp)
		struct jdoc *workload = body_fixture("{'metadata':{'name':'w'}}");
		char name[80];
		struct api_job made;

		unit_row(rows[i].name);
		memset(name, 'w', sizeof(name));
		name[rows[i].length] = '\0';
		jdoc_set_str(jdoc_get_mut(workload, "metadata"), "name", name);
		carried_job_kind.create(job, workload, &manager, &body);
		decode_fixture(&batch_job_fields, body.p, &made);
		assert_true(replica_body_is_ours(&made.meta, &manager));
		assert_string_equal(replica_body_workload_of(&made.meta), name);
		made.meta.annotations.n = 0;
		assert_int_equal(replica_body_workload_of(&made.meta) != NULL, rows[i].label);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_due),
		cmocka_unit_test(ends),
		cmocka_unit_test(copies),
		cmocka_unit_test(the_condition_suspended),
		cmocka_unit_test(resets),
		cmocka_unit_test(jobs),
		cmocka_unit_test(hole_5_31_no_ttl),
		cmocka_unit_test(labels_and_annotations_of_jobs),
		cmocka_unit_test(long_names_are_no_labels),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
