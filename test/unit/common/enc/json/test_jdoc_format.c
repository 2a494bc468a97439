#include "enc/json/jdoc.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"

static struct jdoc *parse(const char *text)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(str_of(text), &d, NULL), 0);
	return d;
}

static void test_compact(void **state)
{
	static const char *const texts[] = {
		"{\"a\":[1,{},[]],\"b\":{\"c\":null,\"d\":[true,false]},\"e\":\"x\\ny\"}",
		"[[[[[[[[[[[[1]]]]]]]]]]]]",
		"\"\"",
		"0.25",
		"1152921504606846976",
		"9223372036854775807",
		"-9223372036854775808",
		"1.5e+19",
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct jdoc *d CLEANUP(jdoc_destroyp) = parse(texts[i]);
		struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;

		unit_row(texts[i]);
		jdoc_format(d, &out);
		assert_string_equal(out.p, texts[i]);
	}
}

static void test_nothing_is_null(void **state)
{
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	(void)state;

	jdoc_format(NULL, &out);
	assert_string_equal(out.p, "null");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compact),
		cmocka_unit_test(test_nothing_is_null),
	};

	return cmocka_run_group_tests_name("jdoc_format", tests, NULL, NULL);
}
