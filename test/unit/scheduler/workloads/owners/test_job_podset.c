#include "scheduler/workloads/owners/job_podset.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

#define QUEUE "'kueue.x-k8s.io/queue-name':'lq'"
#define MIN(n) "'kueue.x-k8s.io/job-min-parallelism':'" n "'"

static bool read_job(const struct job_fixture *f, struct arena *arena, struct owner_spec *ret)
{
	struct owner_plan_env env;
	struct api_job job;

	job_fixture_job(f, &job);
	job_fixture_env(&env);
	return job_podset_of(&job, &env.classes, arena, ret);
}

static const struct {
	const char *name;
	struct job_fixture job;
	int32_t count, min, limit, priority;
	const char *kind, *klass, *gate;
} asked[] = {
	{ .name = "three pods", .count = 3 },
	{ .name = "fewer completions than it may run at once",
	  .job = { .spec = "'completions':2" },
	  .count = 2 },
	{ .name = "a work queue", .job = { .spec = "'completions':null" }, .count = 3 },
	{ .name = "fewer would do", .job = { .annotations = MIN("2") }, .count = 3, .min = 2 },
	{ .name = "a minimum of all of them", .job = { .annotations = MIN("3") }, .count = 3 },
	{ .name = "no number", .job = { .annotations = MIN("x") }, .count = 3 },
	{ .name = "started with fewer: that is what it asks for now",
	  .job = { .annotations = MIN("2"), .spec = "'parallelism':2", .runs = true },
	  .count = 2,
	  .min = 2 },
	{ .name = "a limit",
	  .job = { .labels = QUEUE ",'kueue.x-k8s.io/max-exec-time-seconds':'60'" },
	  .count = 3,
	  .limit = 60 },
	{ .name = "a class of its queue before one of its pods",
	  .job = { .labels = QUEUE ",'kueue.x-k8s.io/priority-class':'high'",
		   .template_spec = "'priorityClassName':'pods'" },
	  .count = 3,
	  .priority = 10,
	  .kind = "WorkloadPriorityClass",
	  .klass = "high" },
	{ .name = "a class of its pods",
	  .job = { .template_spec = "'priorityClassName':'pods'" },
	  .count = 3,
	  .priority = 5,
	  .kind = "PriorityClass",
	  .klass = "pods" },
	{ .name = "gated",
	  .job = { .annotations = "'kueue.x-k8s.io/admission-gated-by':'a,b'" },
	  .count = 3,
	  .gate = "a,b" },
	{ .name = "an empty gate is none",
	  .job = { .annotations = "'kueue.x-k8s.io/admission-gated-by':''" },
	  .count = 3 },
};

static void requests_of_a_job(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct owner_spec p;

		unit_row(asked[i].name);
		assert_true(read_job(&asked[i].job, arena, &p));
		assert_string_equal(p.queue, "lq");
		assert_int_equal(p.podsets->count, asked[i].count);
		assert_int_equal(p.podsets->min_count, asked[i].min);
		assert_int_equal(p.max_execution, asked[i].limit);
		assert_int_equal(p.priority, asked[i].priority);
		assert_true(str_streq(p.class_kind, asked[i].kind));
		assert_true(str_streq(p.class_name, asked[i].klass));
		assert_true(str_streq(p.gated_by, asked[i].gate));
	}
}

static void classes_that_are_not_known(void **state)
{
	static const struct job_fixture cases[] = {
		{ .labels = QUEUE ",'kueue.x-k8s.io/priority-class':'x'" },
		{ .template_spec = "'priorityClassName':'x'" },
	};
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct owner_spec p = { .priority = 77 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		assert_false(read_job(&cases[i], arena, &p));
		assert_int_equal(p.priority, 77);
	}
}

static void names_are_cut_and_differ_between_jobs(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct job_fixture f = { 0 };
	struct owner_spec p, other;
	struct owner_plan_env env;
	struct api_job job;
	char name[254];

	(void)state;
	memset(name, 'n', 253);
	name[253] = '\0';
	job_fixture_job(&f, &job);
	job_fixture_env(&env);
	job.meta.name = name;
	assert_true(job_podset_of(&job, &env.classes, arena, &p));
	assert_int_equal(strlen(p.name), OWNER_SPEC_NAME_MAX);
	job.meta.uid = "j-2";
	assert_true(job_podset_of(&job, &env.classes, arena, &other));
	assert_int_equal(strncmp(p.name, other.name, OWNER_SPEC_NAME_MAX - 5), 0);
	assert_string_not_equal(p.name, other.name);
}

static const struct {
	const char *name;
	struct job_fixture job;
	struct job_fixture_workload w;
	bool fits;
} pairs[] = {
	{ .name = "the same", .fits = true },
	{ .name = "an empty list is as good as none",
	  .job = { .template_spec = "'tolerations':[]" },
	  .fits = true },
	{ .name = "another count", .w = { .count = 4 } },
	{ .name = "another limit", .w = { .spec = "'maximumExecutionTimeSeconds':5" } },
	{ .name = "another minimum", .w = { .podset = "'minCount':2" } },
	{ .name = "other requests",
	  .job = { .template_spec = "'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}"
				    "}]" } },
	{ .name = "one more init container",
	  .job = { .template_spec = "'initContainers':[{'name':'i'}]" } },
	{ .name = "a node selector does not matter",
	  .job = { .template_spec = "'nodeSelector':{'a':'b'}" },
	  .fits = true },
	{ .name = "tolerations do", .job = { .template_spec = "'tolerations':[{'key':'x'}]" } },
	{ .name = "but not of one that runs",
	  .job = { .runs = true, .template_spec = "'tolerations':[{'key':'x'}]" },
	  .fits = true },
	{ .name = "fewer pods of one that runs, but more than the minimum",
	  .job = { .runs = true, .annotations = MIN("2"), .spec = "'parallelism':2" },
	  .w = { .podset = "'minCount':2" },
	  .fits = true },
	{ .name = "fewer than the minimum",
	  .job = { .runs = true, .annotations = MIN("2"), .spec = "'parallelism':1" },
	  .w = { .podset = "'minCount':2" } },
	{ .name = "a minimum that was none when it queued, of one that runs",
	  .job = { .runs = true, .annotations = MIN("3") },
	  .fits = true },
	{ .name = "a minimum that was one", .job = { .runs = true, .annotations = MIN("2") } },
	{ .name = "fewer pods while it is stopped",
	  .job = { .annotations = MIN("2") ",'kueue.x-k8s.io/stopping':'true'",
		   .spec = "'parallelism':2" },
	  .w = { .podset = "'minCount':2" },
	  .fits = true },
};

static void which_workloads_fit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct owner_plan_env env;
		struct owner_spec p;
		struct api_job job;
		struct api_workload w;

		unit_row(pairs[i].name);
		job_fixture_job(&pairs[i].job, &job);
		job_fixture_workload(&pairs[i].w, &w);
		job_fixture_env(&env);
		assert_true(job_podset_of(&job, &env.classes, arena, &p));
		assert_int_equal(job_podset_matches(&p, &job, &w), pairs[i].fits);
	}
}

static void the_template_is_kept_as_it_is(void **state)
{
	static const char text[] =
		"{\"spec\":{\"template\":{\"metadata\":{\"labels\":{\"app\":\"a\",\"job-name\":"
		"\"j\",\"controller-uid\":\"u\",\"batch.kubernetes.io/job-name\":\"j\","
		"\"batch.kubernetes.io/controller-uid\":\"u\"}},\"spec\":{\"anything\":[1]}}}}";
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *t = NULL;
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

	(void)state;
	assert_int_equal(jdoc_parse(str_of(text), &job, NULL), 0);
	t = job_podset_template(job);
	jdoc_format(t, &b);
	job_fixture_expect_json(strbuf_str(&b),
				"{'metadata':{'labels':{'app':'a'}},'spec':{'anything':[1]}}");
	assert_null(job_podset_template(t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_of_a_job),
		cmocka_unit_test(classes_that_are_not_known),
		cmocka_unit_test(names_are_cut_and_differ_between_jobs),
		cmocka_unit_test(which_workloads_fit),
		cmocka_unit_test(the_template_is_kept_as_it_is),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
