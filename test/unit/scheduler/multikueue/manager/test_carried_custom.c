/* Jobs of kinds of the configuration: what is due of their status, and the bodies. */
#include "scheduler/multikueue/manager/carried_custom.h"

#include "lib/unit.h"

#include "api/kueue/custom_job.h"
#include "api/kueue/custom_kinds.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "unit/scheduler/multikueue/manager/body_fixture.h"

#define KIND carried_custom_kind

static void refusals(void **state UNUSED)
{
	static const struct {
		const char *job, *want; /* NULL: it is carried */
	} rows[] = {
		{ "{'spec':{'managedBy':'kueue.x-k8s.io/multikueue'}}", NULL },
		{ "{'spec':{'managedBy':'x'}}",
		  "The owner is not managed by Kueue: Expecting .spec.managedBy to be "
		  "\"kueue.x-k8s.io/multikueue\" not \"x\"" },
		{ "{}", "The owner is not managed by Kueue: Expecting .spec.managedBy to be "
			"\"kueue.x-k8s.io/multikueue\" not \"\"" },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_custom_job job;
		const char *why;

		unit_row(rows[i].job);
		decode_fixture(&custom_job_fields, rows[i].job, &job);
		why = KIND.refusal(&job, arena);
		assert_int_equal(why == NULL, rows[i].want == NULL);
		if (why != NULL) {
			assert_string_equal(why, rows[i].want);
		}
	}
}

/* The job, and its digest. */
static struct carried_object object_of(const char *text, struct api_custom_job *job)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = body_fixture(text);

	decode_fixture(&custom_job_fields, text, job);
	return (struct carried_object){ .object = job, .digest = KIND.digest(d) };
}

static void what_is_due(void **state UNUSED)
{
	static const struct {
		const char *name, *local, *remote;
		enum carried_due want;
	} rows[] = {
		{ "the first", "{}", "{'status':{'a':1}}", CARRIED_DUE_STATUS },
		{ "an empty one", "{}", "{'status':{}}", CARRIED_DUE_STATUS },
		{ "the same", "{'status':{'a':1,'b':2}}", "{'status':{'b':2,'a':1}}",
		  CARRIED_DUE_NOTHING },
		{ "another one", "{'status':{'a':1}}", "{'status':{'a':2}}", CARRIED_DUE_STATUS },
		{ "none there", "{'status':{'a':1}}", "{}", CARRIED_DUE_NOTHING },
		{ "no object", "{'status':{'a':1}}", "{'status':[1]}", CARRIED_DUE_NOTHING },
		{ "it is deleted here", "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}}",
		  "{'status':{'a':2}}", CARRIED_DUE_NOTHING },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_custom_job a, b;
		struct carried_object local = object_of(rows[i].local, &a);
		struct carried_object remote = object_of(rows[i].remote, &b);

		unit_row(rows[i].name);
		assert_int_equal(KIND.due(&local, &remote), rows[i].want);
		local.too_large = true; /* so that it has no text to be patched */
		assert_int_equal(KIND.due(&local, &remote), CARRIED_DUE_NOTHING);
	}
}

static void copies(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp)
	struct jdoc *local = body_fixture("{'metadata':{'uid':'u','resourceVersion':'7'},'status':"
					  "{'gone':1,'same':[1],'deep':{'a':1,'b':2}}}");
	CLEANUP(jdoc_destroyp)
	struct jdoc *remote =
		body_fixture("{'status':{'same':[1],'deep':{'a':1,'b':3},'new':{'c':[{}]}}}");

	KIND.sync(local, remote, CARRIED_DUE_STATUS, 0, &body);
	body_fixture_expect(&body, "{'metadata':{'uid':'u','resourceVersion':'7'},'status':{"
				   "'gone':null,'deep':{'b':3},'new':{'c':[{}]}}}");
}

#define META_THERE                                                                                 \
	"'metadata':{'name':'f','namespace':'ns','labels':{'team':'a',"                            \
	"'kueue.x-k8s.io/multikueue-origin':'m','kueue.x-k8s.io/prebuilt-workload-name':'w'},"     \
	"'annotations':{'headgate.io/multikueue-manager':'c1',"                                    \
	"'kueue.x-k8s.io/prebuilt-workload-name':'w'}}"
#define META_HERE                                                                                  \
	"'metadata':{'name':'f','namespace':'ns','uid':'u','resourceVersion':'7','generation':3,"  \
	"'creationTimestamp':'2026-01-01T00:00:00Z','finalizers':['x'],'ownerReferences':[{}],"    \
	"'labels':{'team':'a','kueue.x-k8s.io/multikueue-origin':'forged'},"                       \
	"'annotations':{'headgate.io/multikueue-ended':'forged'}}"

static void remote_objects(void **state UNUSED)
{
	static const struct {
		const char *local, *remote; /* members besides metadata */
	} rows[] = {
		{ ",'spec':{'managedBy':'kueue.x-k8s.io/multikueue','suspend':false,'n':1},"
		  "'status':{'a':1},'data':{'x':[1]}",
		  ",'spec':{'suspend':true,'n':1},'data':{'x':[1]}" },
		{ ",'spec':{'managedBy':'kueue.x-k8s.io/multikueue'}", ",'spec':{}" },
		{ ",'spec':{'suspend':'no'}", ",'spec':{'suspend':'no'}" },
		{ ",'spec':[1]", ",'spec':[1]" },
		{ "", "" },
	};
	static const struct replica_body_manager by = { "m", "c1" };
	CLEANUP(jdoc_destroyp) struct jdoc *workload = body_fixture("{'metadata':{'name':'w'}}");

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, text = STRBUF_INIT;
		CLEANUP(jdoc_destroyp) struct jdoc *local = NULL;

		unit_row(rows[i].local);
		strbuf_printf(&text, "{'apiVersion':'example.com/v1','kind':'Foo',%s%s}", META_HERE,
			      rows[i].local);
		local = body_fixture(text.p);
		strbuf_reset(&text);
		strbuf_printf(&text, "{'apiVersion':'example.com/v1','kind':'Foo',%s%s}",
			      META_THERE, rows[i].remote);
		KIND.create(local, workload, &by, &body);
		body_fixture_expect(&body, text.p);
	}
}

/* How it has ended, and whether its pods run, its objects do not say. */
static void states(void **state UNUSED)
{
	struct api_custom_job job;

	decode_fixture(&custom_job_fields,
		       "{'status':{'conditions':[{'type':'Complete','status':'True'}]}}", &job);
	assert_true(KIND.ends_unseen);
	assert_false(KIND.has_ended(&job));
	assert_false(KIND.is_ending(&job));
	assert_false(KIND.is_active(&job));
	assert_ptr_equal(KIND.meta(&job), &job.meta);
}

static void rows_of_kinds(void **state UNUSED)
{
	static const struct custom_kind k = { .name = "Foo.v1.example.com",
					      .kind = "Foo",
					      .api_version = "example.com/v1" };
	struct carried_kind row = carried_custom_row(&k);

	assert_string_equal(row.api_version, "example.com/v1");
	assert_string_equal(row.kind, "Foo");
	assert_ptr_equal(row.custom, &k);
	assert_true(row.due == KIND.due);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals), cmocka_unit_test(what_is_due),
		cmocka_unit_test(copies),   cmocka_unit_test(remote_objects),
		cmocka_unit_test(states),   cmocka_unit_test(rows_of_kinds),
	};

	return cmocka_run_group_tests_name("manager/carried_custom", tests, decode_fixture_open,
					   decode_fixture_close);
}
