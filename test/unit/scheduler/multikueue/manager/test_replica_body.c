/* The bodies of writes to a worker cluster. */
#include "scheduler/multikueue/manager/replica_body.h"

#include "lib/unit.h"

#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_workload.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define NOW (INT64_C(1800000000) * CLOCK_NS_PER_S)
#define ORIGIN "'kueue.x-k8s.io/multikueue-origin':'m'"

/* --- the replica -------------------------------------------------------------------------------*/

#define LOCAL                                                                                      \
	"{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload','metadata':{'name':'w',"         \
	"'namespace':'ns','uid':'u','resourceVersion':'7','generation':3,"                         \
	"'creationTimestamp':'t','finalizers':['kueue.x-k8s.io/resource-in-use'],"                 \
	"'ownerReferences':[{'kind':'Job','name':'j'}],'managedFields':[{}],"                      \
	"'labels':{'a':'b','kueue.x-k8s.io/job-uid':'j'},"                                         \
	"'annotations':{'c':'d','headgate.io/preemption-token':'{}'}},"                            \
	"'spec':{'podSets':[{'name':'main','count':2,'later':[1,{'x':null}]}],'queueName':'q',"    \
	"'preemptionGates':[{'name':'x'}],'unknown':{'deep':1}},"                                  \
	"'status':{'clusterName':'c'}}"
#define HEAD                                                                                       \
	"{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload','metadata':{'name':'w',"         \
	"'namespace':'ns',"
#define SPEC                                                                                       \
	"'podSets':[{'name':'main','count':2,'later':[1,{'x':null}]}],'queueName':'q',"            \
	"'unknown':{'deep':1}"

static const struct replica_body_manager manager = { "m", NULL }, other = { "other", NULL };

static void replicas(void **state)
{
	static const struct {
		const char *name, *local;
		bool gated;
		const char *want;
	} rows[] = {
		{ "with the gate", LOCAL, true,
		  HEAD "'labels':{'a':'b'," ORIGIN "},'annotations':{'c':'d'}},"
		       "'spec':{" SPEC
		       ",'preemptionGates':[{'name':'kueue.x-k8s.io/multikueue'}]}}" },
		{ "without", LOCAL, false,
		  HEAD "'labels':{'a':'b'," ORIGIN "},'annotations':{'c':'d'}},'spec':{" SPEC
		       "}}" },
		{ "a local one without labels, annotations, kind",
		  "{'metadata':{'name':'w','namespace':'ns'},'spec':{'podSets':[]}}", false,
		  HEAD "'labels':{" ORIGIN "}},'spec':{'podSets':[]}}" },
		{ "the origin of another manager is not passed on",
		  "{'metadata':{'name':'w','namespace':'ns','labels':{"
		  "'kueue.x-k8s.io/multikueue-origin':'other'}},'spec':{'podSets':[]}}",
		  false, HEAD "'labels':{" ORIGIN "}},'spec':{'podSets':[]}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(rows[i].local);

		unit_row(rows[i].name);
		replica_body_create(local, &manager, rows[i].gated, &body);
		body_fixture_expect(&body, rows[i].want);
	}
}

/* In Kueue before #12587 a gate that a tenant set on the local Workload made an endless loop of
 * deletion and creation; where replicas are made without the gate feature it still copies it, and
 * nothing on the worker opens it. Here gates of the manager, and the annotation that asks its
 * webhook for one, do not leave it. */
static void hole_5_32_gates_of_the_manager_stay_there(void **state)
{
	static const char local_text[] =
		"{'metadata':{'name':'w','namespace':'ns','annotations':{"
		"'headgate.io/preemption-gate':'tenant/never'}},'spec':{'podSets':[],"
		"'preemptionGates':[{'name':'tenant/never'}]}}";
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *local = body_fixture(local_text);

	(void)state;
	replica_body_create(local, &manager, false, &body);
	body_fixture_expect(&body, HEAD "'labels':{" ORIGIN "}},'spec':{'podSets':[]}}");
}

/* --- the Job -----------------------------------------------------------------------------------*/

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
		replica_body_job(job, workload, &manager, &body);
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
	replica_body_job(job, workload, &manager, &body);
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
	replica_body_job(job, workload, &manager, &body);
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
		replica_body_job(job, workload, &manager, &body);
		decode_fixture(&batch_job_fields, body.p, &made);
		assert_true(replica_body_is_ours(&made.meta, &manager));
		assert_string_equal(replica_body_workload_of(&made.meta), name);
		made.meta.annotations.n = 0;
		assert_int_equal(replica_body_workload_of(&made.meta) != NULL, rows[i].label);
	}
}

/* Whatever an object is made of, the body is JSON: the worker's API server refuses it. */
static void odd_objects(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{'metadata':5,'spec':7}",
		"{'metadata':{'labels':[],'annotations':'x'},'spec':[]}",
		"{'spec':{'template':5,'podSets':{}}}",
		"{'spec':{'template':{'metadata':5,'spec':[]},'podSets':[5]}}",
		"{'spec':{'template':{'metadata':{'labels':5}},'podSets':[{'template':[]}]}}",
		("{'spec':{'template':{'metadata':{'labels':{'batch.kubernetes.io/job-name':'x'}}},"
		 "'podSets':[{'template':{'metadata':{'labels':5}}}]}}"),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(strbuf_finish) struct strbuf a = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *d = body_fixture(texts[i]);
		CLEANUP(jdoc_destroyp) struct jdoc *first = NULL;
		CLEANUP(jdoc_destroyp) struct jdoc *second = NULL;

		unit_row(texts[i]);
		replica_body_create(d, &manager, true, &a);
		assert_int_equal(jdoc_parse(strbuf_str(&a), &first, NULL), 0);
		replica_body_job(d, d, &manager, &b);
		assert_int_equal(jdoc_parse(strbuf_str(&b), &second, NULL), 0);
		assert_string_equal(jdoc_path_str(second, "kind"), "Job");
	}
}

/* --- small writes ------------------------------------------------------------------------------*/

static const struct api_meta replica = {
	.name = "w", .namespace_ = "ns", .uid = "u", .resource_version = "7"
};

static void ownership(void **state)
{
	struct api_workload w;

	(void)state;
	decode_fixture(&kueue_workload_fields, "{'metadata':{'labels':{" ORIGIN "}}}", &w);
	assert_true(replica_body_is_ours(&w.meta, &manager));
	assert_false(replica_body_is_ours(&w.meta, &other));
	decode_fixture(&kueue_workload_fields,
		       "{'metadata':{'labels':{" ORIGIN "},'annotations':{"
		       "'headgate.io/multikueue-manager':'u1'}}}",
		       &w);
	assert_false(replica_body_is_ours(&w.meta, &manager));
	assert_true(replica_body_is_ours(&w.meta, &(struct replica_body_manager){ "m", "u1" }));
	assert_false(replica_body_is_ours(&w.meta, &(struct replica_body_manager){ "m", "u2" }));
	decode_fixture(&kueue_workload_fields, "{'metadata':{'annotations':{" ORIGIN "}}}", &w);
	assert_false(replica_body_is_ours(&w.meta, &manager));
	assert_null(replica_body_workload_of(&w.meta));
	decode_fixture(&kueue_workload_fields,
		       "{'metadata':{'labels':{'kueue.x-k8s.io/prebuilt-workload-name':'l'}}}", &w);
	assert_string_equal(replica_body_workload_of(&w.meta), "l");
	decode_fixture(&kueue_workload_fields,
		       "{'metadata':{'labels':{'kueue.x-k8s.io/prebuilt-workload-name':'l'},"
		       "'annotations':{'kueue.x-k8s.io/prebuilt-workload-name':'a'}}}",
		       &w);
	assert_string_equal(replica_body_workload_of(&w.meta), "a");
}

static void priorities(void **state)
{
	static const struct {
		const char *name, *spec, *want;
	} rows[] = {
		{ "both", "'priority':5,'priorityClassRef':{'name':'high','kind':'k','group':'g'}",
		  "'priority':5,'priorityClassRef':{'name':'high','kind':'k','group':'g'}" },
		{ "none", "'queueName':'q'", "'priority':null,'priorityClassRef':null" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		struct api_workload local;

		unit_row(rows[i].name);
		strbuf_printf(&text, "{'spec':{%s}}", rows[i].spec);
		decode_fixture(&kueue_workload_fields, text.p, &local);
		replica_body_priority(&local, &replica, &body);
		strbuf_printf(&want, "{'metadata':{'uid':'u','resourceVersion':'7'},'spec':{%s}}",
			      rows[i].want);
		body_fixture_expect(&body, want.p);
	}
}

static void classes(void **state)
{
	static const struct {
		const char *name, *labels, *want;
	} rows[] = {
		{ "another one", "'kueue.x-k8s.io/priority-class':'high','a':'b'", "'high'" },
		{ "none", "'a':'b'", "null" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(strbuf_finish) struct strbuf want = STRBUF_INIT;
		struct api_job local;

		unit_row(rows[i].name);
		strbuf_printf(&text, "{'metadata':{'labels':{%s}}}", rows[i].labels);
		decode_fixture(&batch_job_fields, text.p, &local);
		replica_body_class(&local, &replica, &body);
		strbuf_printf(&want,
			      "{'metadata':{'uid':'u','resourceVersion':'7','labels':{"
			      "'kueue.x-k8s.io/priority-class':%s}}}",
			      rows[i].want);
		body_fixture_expect(&body, want.p);
	}
}

static void evictions(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	(void)state;
	replica_body_evict(&replica, "Evicted on manager: m", NOW, &body);
	body_fixture_expect(&body, "{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':'Workload',"
				   "'metadata':{'name':'w','namespace':'ns','uid':'u',"
				   "'resourceVersion':'7'},'status':{'conditions':[{"
				   "'type':'DeactivationTarget','status':'True',"
				   "'reason':'EvictedOnManagerCluster',"
				   "'message':'Evicted on manager: m',"
				   "'lastTransitionTime':'2027-01-15T08:00:00Z'}]}}");
}

static void deletions(void **state)
{
	static const char *const finalizers[] = { "a", "kueue.x-k8s.io/resource-in-use", "b" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf options = STRBUF_INIT;
	struct api_meta m = replica;

	(void)state;
	m.finalizers = (struct field_strs){ finalizers, ARRAY_LEN(finalizers) };
	replica_body_without_finalizer(&m, &body);
	body_fixture_expect(&body, "{'metadata':{'uid':'u','resourceVersion':'7',"
				   "'finalizers':['a','b']}}");
	strbuf_reset(&body);
	m.finalizers.v = finalizers + 1;
	m.finalizers.n = 1;
	replica_body_without_finalizer(&m, &body);
	body_fixture_expect(&body, "{'metadata':{'uid':'u','resourceVersion':'7',"
				   "'finalizers':[]}}");
	replica_body_delete(&m, &options);
	body_fixture_expect(&options, "{'apiVersion':'v1','kind':'DeleteOptions',"
				      "'propagationPolicy':'Background',"
				      "'preconditions':{'uid':'u'}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replicas),
		cmocka_unit_test(hole_5_32_gates_of_the_manager_stay_there),
		cmocka_unit_test(jobs),
		cmocka_unit_test(hole_5_31_no_ttl),
		cmocka_unit_test(labels_and_annotations_of_jobs),
		cmocka_unit_test(long_names_are_no_labels),
		cmocka_unit_test(odd_objects),
		cmocka_unit_test(ownership),
		cmocka_unit_test(priorities),
		cmocka_unit_test(classes),
		cmocka_unit_test(evictions),
		cmocka_unit_test(deletions),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
