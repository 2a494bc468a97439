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
#include "scheduler/multikueue/manager/carried.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define NOW (INT64_C(1800000000) * CLOCK_NS_PER_S)
#define PREBUILT "kueue.x-k8s.io/prebuilt-workload-name"
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
		CLEANUP(jdoc_destroyp) struct jdoc *d = body_fixture(texts[i]);
		CLEANUP(jdoc_destroyp) struct jdoc *first = NULL;

		unit_row(texts[i]);
		replica_body_create(d, &manager, true, &a);
		assert_int_equal(jdoc_parse(strbuf_str(&a), &first, NULL), 0);
		for (unsigned k = 0; k < CARRIED_COUNT_; k++) {
			const struct carried_kind *kind = carried_row((enum carried)k);
			CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
			CLEANUP(jdoc_destroyp) struct jdoc *second = NULL;

			kind->create(d, d, &manager, &b);
			assert_int_equal(jdoc_parse(strbuf_str(&b), &second, NULL), 0);
			/* Of a kind of the configuration it is that of the object. */
			assert_string_equal(jdoc_path_str(second, "kind"),
					    kind->kind == NULL ? "" : kind->kind);
		}
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

/* A name that is too long for a label stands in the annotation alone: a worker of any version that
 * reads annotations finds its Workload, and no write is refused. */
static void names_too_long_for_labels(void **state)
{
	(void)state;
	for (int n = 63; n <= 64; n++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *workload = NULL, *job = NULL;
		const struct jdoc *label, *note;

		strbuf_printf(&text, "{\"metadata\":{\"name\":\"%0*d\",\"namespace\":\"ns\"}}", n,
			      7);
		assert_int_equal(jdoc_parse(strbuf_str(&text), &workload, NULL), 0);
		job = replica_body_object("batch/v1", "Job", workload);
		replica_body_name(workload, &manager, replica_body_map(NULL),
				  replica_body_map(NULL), job);
		label = jdoc_get(jdoc_path(job, "metadata.labels"), PREBUILT);
		note = jdoc_get(jdoc_path(job, "metadata.annotations"), PREBUILT);
		assert_true((label != NULL) == (n == 63));
		assert_true(jdoc_is_str(note, jdoc_path_str(workload, "metadata.name")));
	}
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
		replica_body_class(&local.meta, &replica, &body);
		strbuf_printf(&want,
			      "{'metadata':{'uid':'u','resourceVersion':'7','labels':{"
			      "'kueue.x-k8s.io/priority-class':%s}}}",
			      rows[i].want);
		body_fixture_expect(&body, want.p);
	}
}

static void ends(void **state)
{
	static const struct api_meta job = { .name = "f", .uid = "j", .resource_version = "9" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	(void)state;
	replica_body_ended(&replica, &job, &body);
	body_fixture_expect(&body, "{'metadata':{'uid':'j','resourceVersion':'9','annotations':{"
				   "'headgate.io/multikueue-ended':'u'}}}");
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
		cmocka_unit_test(odd_objects),
		cmocka_unit_test(names_too_long_for_labels),
		cmocka_unit_test(ownership),
		cmocka_unit_test(priorities),
		cmocka_unit_test(classes),
		cmocka_unit_test(ends),
		cmocka_unit_test(evictions),
		cmocka_unit_test(deletions),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
