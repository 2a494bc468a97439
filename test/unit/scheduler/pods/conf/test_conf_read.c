#include "scheduler/pods/conf/conf_read.h"

#include <stdlib.h>

#include "enc/json/jdoc.h"
#include "lib/conf_fixture.h"

static struct conf_arg *args;
static size_t nargs;

static int read_args(struct conf_fixture *f, const char *json)
{
	struct conf_read r = { .text = STR_LIT("x:\n  arguments: y"),
			       .name = "s.conf",
			       .opt = &f->opt };
	struct jdoc *d = NULL;
	int rc;

	assert_int_equal(jdoc_parse(str_of(json), &d, NULL), 0);
	rc = conf_read_args(&r, d, "x.arguments", &args, &nargs, &f->err);
	jdoc_destroy(d);
	return rc;
}

static void drop_args(void)
{
	for (size_t i = 0; i < nargs; i++) {
		free(args[i].key);
		free(args[i].value);
	}
	free(args);
	args = NULL;
	nargs = 0;
}

static void test_values_become_text(void **state)
{
	static const char *const expected[] = {
		"10", "0.5", "-3", "true", "plain", "7", "{\"a\":[1,\"b\"]}"
	};
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(read_args(&f, "{\"a\":10,\"b\":0.5,\"c\":-3,\"d\":true,\"e\":\"plain\","
				       "\"f\":\"7\",\"gone\":null,\"g\":{\"a\":[1,\"b\"]}}"),
			 0);
	assert_int_equal(nargs, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_string_equal(args[i].value, expected[i]);
	}
	assert_string_equal(args[6].key, "g");
	drop_args();
	conf_fixture_finish(&f);
}

static void test_not_a_map(void **state)
{
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(read_args(&f, "[]"), -ERR_INVALID);
	assert_string_equal(f.err.text, "s.conf:2: x.arguments: expected a map");
	assert_int_equal(read_args(&f, "null"), 0);
	assert_int_equal(nargs, 0);
	drop_args();
	conf_fixture_finish(&f);
}

static void test_limit_of_arguments(void **state)
{
	struct strbuf b = STRBUF_INIT;
	struct conf_fixture f;

	(void)state;
	conf_fixture_init(&f);
	strbuf_add_c(&b, "{\"k\":1");
	for (int i = 1; i < CONF_MAX_ARGS; i++) {
		strbuf_printf(&b, ",\"k%d\":1", i);
	}
	strbuf_add_c(&b, "}");
	assert_int_equal(read_args(&f, b.p), 0);
	assert_int_equal(nargs, CONF_MAX_ARGS);
	assert_int_equal(read_args(&f, "{\"more\":1}"), -ERR_INVALID);
	assert_string_equal(f.err.text, "s.conf:2: x.arguments: more than 256 arguments");
	assert_int_equal(nargs, CONF_MAX_ARGS);
	drop_args();
	conf_fixture_finish(&f);
	strbuf_finish(&b);
}

static void test_places_of_messages(void **state)
{
	struct conf_fixture f;
	struct conf_read r = { .text = STR_LIT("a: b\nc: d"), .name = "s.conf", .opt = &f.opt };

	(void)state;
	conf_fixture_init(&f);
	assert_int_equal(conf_read_fail(&r, "d", &f.err, "bad %s", "d"), -ERR_INVALID);
	assert_string_equal(f.err.text, "s.conf:2: bad d");
	assert_int_equal(conf_read_fail(&r, "e", &f.err, "no e"), -ERR_INVALID);
	assert_string_equal(f.err.text, "s.conf: no e");
	conf_read_warn(&r, "a", "about %s", "a");
	assert_string_equal(f.warnings.p, "s.conf:1: about a\n");
	strbuf_reset(&f.warnings);
	conf_read_warn_absent(&r, "plugin", "gang");
	assert_string_equal(f.warnings.p, "");
	conf_read_warn_absent(&r, "plugin", "drf");
	assert_string_equal(f.warnings.p,
			    "s.conf: plugin \"drf\" has no implementation here and is left out\n");
	conf_fixture_finish(&f);
}

static void test_lists(void **state)
{
	static const char *const names[] = { "a", "b", NULL };

	(void)state;
	assert_true(conf_read_in_list(names, STR_LIT("b")));
	assert_false(conf_read_in_list(names, STR_LIT("ab")));
	assert_false(conf_read_in_list(NULL, STR_LIT("a")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_become_text),
		cmocka_unit_test(test_not_a_map),
		cmocka_unit_test(test_limit_of_arguments),
		cmocka_unit_test(test_places_of_messages),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
