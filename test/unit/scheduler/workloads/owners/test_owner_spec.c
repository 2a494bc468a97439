#include "scheduler/workloads/owners/owner_spec.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "lib/decode_fixture.h"
#include "scheduler/workloads/owners/owner_plan.h"
#include "unit/scheduler/workloads/owners/job_fixture.h"

/* Labels and annotations are tested in test_job_podset.c, through a Job. */
static void in_step_with_its_owner(void **state)
{
	static const struct {
		const char *name, *spec, *meta;
		struct owner_spec s;
		bool synced;
	} cases[] = {
		{ .name = "as it is", .s = { .queue = "lq" }, .synced = true },
		{ .name = "another queue", .s = { .queue = "x" } },
		{ .name = "another priority", .s = { .queue = "lq", .priority = 1 } },
		{ .name = "a class",
		  .s = { .queue = "lq", .class_kind = "PriorityClass", .class_name = "c" } },
		{ .name = "the same class",
		  .spec = "'priorityClassRef':{'group':'g','kind':'PriorityClass','name':'c'}",
		  .s = { .queue = "lq", .class_kind = "PriorityClass", .class_name = "c" },
		  .synced = true },
		{ .name = "a class of the other kind",
		  .spec = "'priorityClassRef':{'group':'g','kind':'PriorityClass','name':'c'}",
		  .s = { .queue = "lq",
			 .class_kind = "WorkloadPriorityClass",
			 .class_name = "c" } },
		{ .name = "a gate", .s = { .queue = "lq", .gated_by = "x" } },
		{ .name = "the same gate",
		  .meta = "'annotations':{'kueue.x-k8s.io/admission-gated-by':'x'}",
		  .s = { .queue = "lq", .gated_by = "x" },
		  .synced = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct job_fixture_workload f = { .spec = cases[i].spec,
							.meta = cases[i].meta };
		struct api_workload w;

		unit_row(cases[i].name);
		job_fixture_workload(&f, &w);
		assert_int_equal(owner_spec_is_synced(&cases[i].s, &w), cases[i].synced);
	}
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int32_t n;
	} cases[] = { { NULL, 0 },
		      { "", 0 },
		      { "x", 0 },
		      { "-1", 0 },
		      { "0", 0 },
		      { "7", 7 },
		      { "2147483647", INT32_MAX },
		      { "2147483648", 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		unit_row_number(i);
		assert_int_equal(owner_spec_positive(cases[i].text), cases[i].n);
	}
}

static void written(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf all = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf none = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf made = STRBUF_INIT;
	const struct owner_spec full = { .queue = "lq",
					 .class_group = "g",
					 .class_kind = "k",
					 .class_name = "c",
					 .priority = 3,
					 .max_execution = 5 },
				empty = { .queue = "lq" }, queueless = { .queue = "" };
	struct api_priority_ref ref;
	struct api_workload w;

	(void)state;
	decode_init(&kueue_workload_fields, &w);
	owner_spec_fill(&full, &ref, &w.spec);
	encode_text(&kueue_workload_fields, &w, &all);
	job_fixture_expect_json(strbuf_str(&all),
				"{'spec':{'queueName':'lq','priority':3,'priorityClassRef':{"
				"'group':'g','kind':'k','name':'c'},"
				"'maximumExecutionTimeSeconds':5}}");
	decode_init(&kueue_workload_fields, &w);
	owner_spec_fill(&empty, &ref, &w.spec);
	encode_text(&kueue_workload_fields, &w, &none);
	job_fixture_expect_json(strbuf_str(&none), "{'spec':{'queueName':'lq','priority':0}}");
	decode_init(&kueue_workload_fields, &w);
	owner_spec_fill(&queueless, &ref, &w.spec);
	encode_text(&kueue_workload_fields, &w, &made);
	job_fixture_expect_json(strbuf_str(&made), "{'spec':{'priority':0}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_step_with_its_owner),
		cmocka_unit_test(numbers),
		cmocka_unit_test(written),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
