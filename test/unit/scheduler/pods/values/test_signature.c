#include "scheduler/pods/values/signature.h"

#include <string.h>

#include "base/strbuf.h"
#include "lib/unit.h"

static void test_numbers_and_texts(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	signature_put_int(&out, INT64_MIN);
	signature_put_int(&out, 0);
	signature_put_int(&out, 42);
	signature_put_text(&out, NULL);
	signature_put_text(&out, "");
	signature_put_text(&out, "ab");
	assert_string_equal(out.p, "-9223372036854775808042~0:2:ab");
}

/* Every member of an expression makes another text. */
static void test_terms(void **state)
{
	const char *values[] = { "x", "y" };
	struct match_expr e = { .key = "k", .values = values, .nvalues = 1 };
	struct match_term t = { &e, 1, 0 };
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	signature_put_term(&out, 'a', &t);
	e.nvalues = 2;
	signature_put_term(&out, 'a', &t);
	e.on_field = true;
	e.op = MATCH_EXISTS;
	e.nvalues = 0;
	t.weight = 7;
	signature_put_term(&out, 'b', &t);
	assert_string_equal(out.p, "a0l01:k,1:xa0l01:k,1:x,1:yb7f21:k");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_and_texts),
		cmocka_unit_test(test_terms),
	};

	return cmocka_run_group_tests_name("pods/values/signature", tests, NULL, NULL);
}
