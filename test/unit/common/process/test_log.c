#include "process/log.h"

#include "lib/unit.h"

#include <errno.h>

#include "base/strbuf.h"

static void capture(struct str line, void *ctx)
{
	strbuf_add_str(ctx, line);
}

static int setup(void **state)
{
	static struct strbuf out = STRBUF_INIT;

	*state = &out;
	strbuf_reset(&out);
	log_set_sink(capture, &out);
	log_set_level(LOG_INFO);
	log_set_format(LOG_TEXT);
	return 0;
}

static int teardown(void **state)
{
	strbuf_finish(*state);
	log_set_sink(NULL, NULL);
	return 0;
}

/* The part behind the volatile head. */
static const char *tail(const struct strbuf *out, const char *mark)
{
	const char *at = strstr(out->p, mark);

	assert_non_null(at);
	return at + strlen(mark);
}

static void test_text(void **state)
{
	const struct strbuf *out = *state;

	log_info("bound pod", LOG_STR("pod", "a/b"), LOG_INT("node", -7),
		 LOG_SLICE("part", ((struct str){ "queue", 3 })));
	assert_int_equal(out->p[0], 'I');
	/* I0102 15:04:05.000000 */
	assert_int_equal(strspn(out->p + 1, "0123456789"), 4);
	assert_int_equal(out->p[5], ' ');
	assert_int_equal(out->p[8], ':');
	assert_int_equal(out->p[14], '.');
	assert_int_equal(strspn(out->p + 15, "0123456789"), 6);
	assert_non_null(strstr(out->p, " test_log.c:"));
	assert_string_equal(tail(out, "] "), "\"bound pod\" pod=\"a/b\" node=-7 "
					     "part=\"que\"\n");
}

static void test_json(void **state)
{
	const struct strbuf *out = *state;

	log_set_format(LOG_JSON);
	log_warn("odd", LOG_STR("k", "q\"\\\n\x01\xff\xc3\xa9"), LOG_STR("none", NULL));
	assert_int_equal(strncmp(out->p, "{\"ts\":\"", 7), 0);
	assert_non_null(
		strstr(out->p, "Z\",\"level\":\"warning\",\"v\":0,\"caller\":\"test_log.c:"));
	assert_string_equal(tail(out, "\",\"msg\":"),
			    "\"odd\",\"k\":\"q\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\","
			    "\"none\":\"\"}\n");
}

static void test_invalid_utf8(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "\xe2\x82\xac", "\xe2\x82\xac" },
		{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
		{ "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc0\x80", "\\u0000" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf5x", "\xef\xbf\xbdx" },
		{ "\xe2x", "\xef\xbf\xbdx" },
	};
	struct strbuf *out = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf w = STRBUF_INIT;

		strbuf_reset(out);
		log_info("m", LOG_STR("k", cases[i].in));
		strbuf_printf(&w, "\"%s\"\n", cases[i].out);
		assert_string_equal(tail(out, " k="), w.p);
		strbuf_finish(&w);
	}
}

static void test_levels(void **state)
{
	struct strbuf *out = *state;

	log_v(2, "hidden");
	assert_int_equal(out->len, 0);
	assert_false(log_enabled(LOG_V2));
	log_set_level(LOG_V4);
	log_v(4, "shown");
	assert_non_null(strstr(out->p, "\"shown\"\n"));
	strbuf_reset(out);
	log_v(5, "hidden");
	assert_int_equal(out->len, 0);
	log_set_level(LOG_ERROR);
	log_warn("hidden");
	log_info("hidden");
	assert_int_equal(out->len, 0);
	log_error("shown");
	assert_int_equal(out->p[0], 'E');
	strbuf_reset(out);
	log_set_level(LOG_V2);
	log_set_format(LOG_JSON);
	log_v(2, "two");
	assert_non_null(strstr(out->p, "\"level\":\"info\",\"v\":2,"));
}

static void test_arguments_are_lazy(void **state)
{
	int calls = 0;

	(void)state;
	log_v(3, "hidden", LOG_INT("n", ++calls));
	assert_int_equal(calls, 0);
	errno = EDOM;
	log_info("kept");
	assert_int_equal(errno, EDOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid_utf8, setup, teardown),
		cmocka_unit_test_setup_teardown(test_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_arguments_are_lazy, setup, teardown),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
