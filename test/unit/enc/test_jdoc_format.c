#include "enc/jdoc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &d, NULL), 0);
	return d;
}

static void test_pretty(void **state)
{
	struct jdoc *d CLEANUP(jdoc_destroyp) = parse("{\"a\":[1,{}],\"b\":{\"c\":null}}");
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	jdoc_format_pretty(d, &out);
	assert_string_equal(out.p, "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": {\n"
				   "        \"c\": null\n    }\n}");
}

static void test_deep_indent(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct jdoc *d CLEANUP(jdoc_destroyp) = parse("[[[[[[[[[[[[1]]]]]]]]]]]]");
	(void)state;

	jdoc_format_pretty(d, &out);
	/* Twelve levels: the number stands behind 48 blanks. */
	assert_non_null(strstr(out.p, "\n                                                1\n"));
	strbuf_reset(&out);
	jdoc_format(NULL, &out);
	assert_string_equal(out.p, "null");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pretty),
		cmocka_unit_test(test_deep_indent),
	};

	return cmocka_run_group_tests_name("jdoc_format", tests, NULL, NULL);
}
