/* Counts at their limits and one beyond; all other rules are cases in test/admission/cases. */
#include "webhook/admit/kueue/workload_validate.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "webhook/admit/kueue/clusterqueue_validate.h"
#include "webhook/admit/kueue/workloadpriorityclass_validate.h"

/* Between begin and end stand n named items, or n bytes of text. */
struct row {
	admit_fn fn;
	const char *begin, *end;
	bool items;
	unsigned most;
	const char *message; /* of one more */
	bool status;         /* a write of the status, of an object that is the same */
};

static const struct row rows[] = {
	{ workload_validate, "{\"spec\":{\"podSets\":[", "]}}", true, 18,
	  .message = "spec.podSets: 19 items, 1 to 18 are allowed" },
	{ workload_validate, "{\"spec\":{\"podSets\":[{}],\"preemptionGates\":[", "]}}", true, 8,
	  .message = "spec.preemptionGates: 9 items, at most 8 are allowed" },
	{ workload_validate, "{\"spec\":{\"podSets\":[{}],\"preemptionGates\":[{\"name\":\"",
	  "\"}]}}", false, 63,
	  .message = "spec.preemptionGates[0].name: must have 1 to 63 characters" },
	{ workload_validate, "{\"spec\":{\"podSets\":[", "]}}", true, 256,
	  .message = "spec.podSets: 257 items, at most 256 are allowed", .status = true },
	{ workload_validate, "{\"status\":{\"admissionChecks\":[", "]}}", true, 256,
	  .message = "status.admissionChecks: 257 items, at most 256 are allowed", .status = true },
	{ clusterqueue_validate, "{\"spec\":{\"admissionChecksStrategy\":{\"admissionChecks\":[",
	  "]}}}", true, 64,
	  .message = "spec.admissionChecksStrategy.admissionChecks: 65 items, at most 64 are "
		     "allowed" },
	{ workloadpriorityclass_validate, "{\"value\":1,\"description\":\"", "\"}", false, 2048,
	  .message = "description: longer than 2048 bytes" },
};

static void write_row(struct strbuf *out, const struct row *r, unsigned n)
{
	strbuf_add_c(out, r->begin);
	for (unsigned i = 0; i < n; i++) {
		if (r->items) {
			strbuf_printf(out, "%s{\"name\":\"n%u\"}", i == 0 ? "" : ",", i);
		} else {
			strbuf_add_ch(out, 'x');
		}
	}
	strbuf_add_c(out, r->end);
}

static void check(const struct row *r, unsigned n, const char *message)
{
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct admit_answer answer CLEANUP(admit_answer_finish);
	struct api_admission_request review = { .operation = r->status ? "UPDATE" : "CREATE",
						.sub_resource = r->status ? "status" : NULL };
	const struct admit_options options = { 0 };
	const struct admit_view view = { 0 };
	const struct admit_request q = {
		.options = &options, .view = &view, .review = &review, .arena = arena
	};

	admit_answer_init(&answer);
	write_row(&text, r, n);
	review.object = review.old_object = strbuf_str(&text);
	assert_int_equal(r->fn(&q, &answer, NULL), 0);
	assert_int_equal(answer.allowed, message == NULL);
	if (message != NULL) {
		assert_string_equal(answer.message, message);
	}
}

static void test_counts(void **state)
{
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		check(&rows[i], rows[i].most, NULL);
		check(&rows[i], rows[i].most + 1, rows[i].message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests_name("webhook/admit/kueue/workload_validate", tests, NULL,
					   NULL);
}
