#include "scheduler/workloads/owners/placement.h"

#include "lib/unit.h"

#include <string.h>

#include "api/kueue/kueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "lib/decode_fixture.h"
#include "lib/field_flip.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

/* Placement of templates is tested in test_job_start.c, of pods in test_pod_start.c. */
static void long_names_are_no_labels(void **state)
{
	const struct job_fixture jf = { .template_spec = "'tolerations':[{'key':'x'}]" };
	const struct job_fixture_workload wf = { .status = JOB_FIXTURE_ADMITTED };
	CLEANUP(placement_finish) struct placement p = { .labels = VEC_INIT };
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct placement_of of = { .podset = "main" };
	struct owner_plan_env env;
	struct api_workload w;
	struct api_job job;
	struct api_pod patch;
	char name[65];

	(void)state;
	memset(name, 'n', 64);
	name[64] = '\0';
	job_fixture_job(&jf, &job);
	job_fixture_workload(&wf, &w);
	job_fixture_env(&env);
	w.spec.queue_name = name; /* one more than a label may have */
	w.status.admission->cluster_queue = name + 1;
	of.meta = &job.spec.template_.meta;
	of.spec = &job.spec.template_.spec;
	of.w = &w;
	assert_int_equal(placement_make(&of, &env.flavors, &p, NULL), 0);
	assert_int_equal(p.labels.n, 3);
	assert_string_equal(p.labels.v[2].key, "kueue.x-k8s.io/cluster-queue-name");
	assert_int_equal(p.tolerations.n, 2);
	decode_init(&pod_fields, &patch);
	placement_fill(&p, of.spec, arena, &patch.meta, &patch.spec);
	encode_text(&pod_spec_fields, &patch.spec, &text);
	job_fixture_expect_json(strbuf_str(&text),
				"{'nodeSelector':{'type':'spot'},'tolerations':[{'key':'x'},"
				"{'key':'spot','operator':'Exists','effect':'NoSchedule'}]}");
}

static void pod_sets_that_were_not_admitted(void **state)
{
	const struct job_fixture jf = { .template_spec = NULL };
	const struct job_fixture_workload wf = { .status = JOB_FIXTURE_ADMITTED };
	CLEANUP(placement_finish) struct placement p = { .labels = VEC_INIT };
	struct placement_of of = { .podset = "driver" };
	struct err err = ERR_INIT;
	struct owner_plan_env env;
	struct api_workload w;
	struct api_job job;

	(void)state;
	job_fixture_job(&jf, &job);
	job_fixture_workload(&wf, &w);
	job_fixture_env(&env);
	of.meta = &job.spec.template_.meta;
	of.spec = &job.spec.template_.spec;
	of.w = &w;
	assert_int_equal(placement_make(&of, &env.flavors, &p, &err), -ERR_INVALID);
	assert_string_equal(err.text, "the admission has no pod set driver");
}

static const struct api_resource_flavor *flavor_in_ctx(void *ctx, const char *name)
{
	(void)name;
	return ctx;
}

struct two_tolerations {
	struct placement_of of;
	struct placement_flavors flavors;
	size_t want;
};

/* How many of the two tolerations of the flavor stay. */
static void expect_tolerations(void *ctx, const char *path)
{
	const struct two_tolerations *two = ctx;
	CLEANUP(placement_finish) struct placement p = { .labels = VEC_INIT };

	print_message("%s\n", path);
	assert_int_equal(placement_make(&two->of, &two->flavors, &p, NULL), 0);
	assert_int_equal(p.tolerations.n, two->want);
}

/* Of two tolerations of a flavor both stay, whichever field they differ in; equal ones are one. */
static void tolerations_differ_by_every_field(void **state)
{
	const struct job_fixture jf = { .template_spec = NULL };
	const struct job_fixture_workload wf = { .status = JOB_FIXTURE_ADMITTED };
	struct api_toleration v[2] = { { "k", "Equal", "v", "NoExecute", 1 } };
	struct api_resource_flavor rf;
	struct two_tolerations two = { .flavors = { &rf, flavor_in_ctx }, .want = 1 };
	struct api_workload w;
	struct api_job job;

	(void)state;
	v[1] = v[0];
	job_fixture_job(&jf, &job);
	job_fixture_workload(&wf, &w);
	decode_init(&kueue_resource_flavor_fields, &rf);
	rf.spec.tolerations.v = v;
	rf.spec.tolerations.n = 2;
	two.of = (struct placement_of){ &job.spec.template_.meta, &job.spec.template_.spec, &w,
					"main" };
	expect_tolerations(&two, "none");
	two.want = 2;
	field_flip_each(&pod_toleration_fields, &v[1], expect_tolerations, &two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_names_are_no_labels),
		cmocka_unit_test(pod_sets_that_were_not_admitted),
		cmocka_unit_test(tolerations_differ_by_every_field),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
