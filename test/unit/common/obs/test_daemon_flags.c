#include "obs/daemon_flags.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

static const struct flags_row others[] = { { "old", .type = FLAGS_IGNORED },
					   { .type = FLAGS_END } };
static const struct flags_row *const tables[] = { daemon_flags_rows, others, flags_klog, NULL };
static const struct flags flags = { .program = "prog", .doc = "D", .tables = tables };

static void keep(struct str line, void *text)
{
	strbuf_add_str(text, line);
}

static void configure(const char *const *args, struct strbuf *lines)
{
	const char *argv[8] = { "prog" };
	struct daemon_flags d = { .master = NULL };
	int argc = 1;

	while (*args != NULL) {
		argv[argc++] = *args++;
	}
	assert_int_equal(daemon_flags_parse(&flags, argc, (char **)(uintptr_t)argv, &d, NULL), 0);
	strbuf_reset(lines);
	log_set_sink(keep, lines);
	daemon_flags_configure_log(&d);
	log_set_sink(NULL, NULL);
}

static size_t count(const struct strbuf *text, const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text->p, part); at != NULL; at = strstr(at + 1, part)) {
		n++;
	}
	return n;
}

static void test_one_warning_for_each(void **state)
{
	static const char *const args[] = { "--old=a",
					    "--logtostderr",
					    "--old=b",
					    "--feature-gates=AllAlpha=true,CSIStorage=false",
					    "--feature-gates=CSIStorage=true",
					    NULL };
	CLEANUP(strbuf_finish) struct strbuf lines = STRBUF_INIT;

	(void)state;
	configure(args, &lines);
	assert_int_equal(count(&lines, "without effect"), 4);
	assert_int_equal(count(&lines, "flag=\"old\""), 1);
	assert_int_equal(count(&lines, "flag=\"logtostderr\""), 1);
	assert_int_equal(count(&lines, "gate=\"AllAlpha\""), 1);
	assert_int_equal(count(&lines, "gate=\"CSIStorage\""), 1);
}

static void test_schedulers_to_gate_for(void **state)
{
	static const struct {
		const char *arg, *first;
		int result;
	} rows[] = { { "-v=0", "default-scheduler", 0 },
		     { "--gate-schedulers=", NULL, 0 },
		     { "--gate-schedulers=a", "a", 0 },
		     { "--gate-schedulers=a,b", NULL, -ERR_INVALID } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *argv[] = { "prog", rows[i].arg, NULL };
		struct daemon_flags d = { .master = NULL };
		struct err err = ERR_INIT;

		unit_row(rows[i].arg);
		assert_int_equal(daemon_flags_parse(&flags, 2, (char **)(uintptr_t)argv, &d, &err),
				 rows[i].result);
		if (rows[i].result < 0) {
			assert_non_null(strstr(err.text, "--gate-schedulers: \"a,b\""));
		} else if (rows[i].first == NULL) {
			assert_int_equal(d.gate_schedulers.n, 0);
		} else {
			assert_int_equal(d.gate_schedulers.n, 1);
			assert_string_equal(d.gate_schedulers.v[0], rows[i].first);
		}
	}
}

static void test_level_and_format(void **state)
{
	static const char *const plain[] = { "--old=a", NULL };
	static const char *const loud[] = { "-v=100", "--logging-format=json", "--old=a", NULL };
	static const char *const fourth[] = { "-v=4", NULL };
	static const char *const first[] = { "-v=1", NULL };
	CLEANUP(strbuf_finish) struct strbuf lines = STRBUF_INIT;

	(void)state;
	configure(loud, &lines);
	assert_true(log_enabled(LOG_V6));
	assert_int_equal(lines.p[0], '{');
	configure(fourth, &lines);
	assert_true(log_enabled(LOG_V4));
	assert_false(log_enabled(LOG_V5));
	assert_int_equal(lines.len, 0);
	configure(first, &lines);
	assert_false(log_enabled(LOG_V2));
	configure(plain, &lines);
	assert_false(log_enabled(LOG_V2));
	assert_int_equal(lines.p[0], 'W');
}

static void test_mistakes(void **state)
{
	const char *argv[] = { "prog", "--v=101", NULL };
	struct daemon_flags d = { .master = NULL };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(daemon_flags_parse(&flags, 2, (char **)(uintptr_t)argv, &d, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "--v: \"101\" is not a number (0 to 100)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_warning_for_each),
		cmocka_unit_test(test_schedulers_to_gate_for),
		cmocka_unit_test(test_level_and_format),
		cmocka_unit_test(test_mistakes),
	};

	return cmocka_run_group_tests_name("obs/daemon_flags", tests, NULL, NULL);
}
