/* Names of gates at their limits; all other rules are cases in test/admission/cases. */
#include "webhook/admit/kueue/workload_mutate.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"

static void names_at_their_limits(void **state)
{
	static const struct {
		unsigned length;
		bool allowed;
	} rows[] = { { 0, false }, { 1, true }, { 63, true }, { 64, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
		struct strbuf text CLEANUP(strbuf_finish) = STRBUF_INIT;
		struct admit_answer answer CLEANUP(admit_answer_finish);
		struct api_admission_request review = { .operation = "CREATE" };
		const struct admit_options options = { 0 };
		const struct admit_view view = { 0 };
		const struct admit_request q = {
			.options = &options, .view = &view, .review = &review, .arena = arena
		};

		unit_row_number(i);
		admit_answer_init(&answer);
		strbuf_add_c(&text,
			     "{\"metadata\":{\"annotations\":{\"headgate.io/preemption-gate\":\"");
		for (unsigned k = 0; k < rows[i].length; k++) {
			strbuf_add_ch(&text, 'x');
		}
		strbuf_add_c(&text, "\"}},\"spec\":{}}");
		review.object = strbuf_str(&text);
		assert_int_equal(workload_mutate(&q, &answer, NULL), 0);
		assert_int_equal(answer.allowed, rows[i].allowed);
		assert_int_equal(answer.patch.len > 0, rows[i].allowed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_at_their_limits),
	};

	return cmocka_run_group_tests_name("admit/kueue/workload_mutate", tests, NULL, NULL);
}
