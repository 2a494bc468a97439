#include "process/flags.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"

#define ARGS_MAX 80
#define LIST_LIMIT 3

enum color { COLOR_RED, COLOR_GREEN };
enum { LETTER_A = 1, LETTER_B = 2, LETTER_C = 4 };

struct options {
	bool on, quiet;
	int64_t number, small, wait, pause, now;
	double rate;
	const char *text, *named, *needed;
	struct flags_list list, many, some;
	enum color color;
	unsigned letters;
	int custom;
};

static int set_custom(void *member, const char *value, struct err *err)
{
	if (str_streq(value, "bad")) {
		return err_set(err, ERR_INVALID, "this one is bad");
	}
	*(int *)member += (int)strlen(value);
	return 0;
}

#define AT(kind, member) FLAGS_AT(struct options, kind, member)

static const struct flags_choice colors[] = { { "red", COLOR_RED },
					      { "green", COLOR_GREEN },
					      { NULL, 0 } };
static const struct flags_choice letters[] = { { "a", LETTER_A },
					       { "b", LETTER_B },
					       { "c", LETTER_C },
					       { "*", LETTER_A | LETTER_B },
					       { NULL, 0 } };
static const struct flags_row rows[] = {
	{ "Values", .type = FLAGS_HEADING },
	{ "on", AT(BOOL, on), .def = "true", .help = "On" },
	{ "quiet", .letter = 'q', AT(BOOL, quiet), .help = "Quiet" },
	{ "number", .letter = 'v', AT(INT, number), .min = -2, .max = 10, .def = "7", .help = "N" },
	{ "small", AT(INT, small), .help = "N" },
	{ "rate", AT(DOUBLE, rate), .def = "0.5", .help = "Rate" },
	{ "wait", AT(DURATION, wait), .def = "1m", .help = "Wait" },
	{ "pause", AT(DURATION, pause), .min = 10 * CLOCK_NS_PER_S, .max = 60 * CLOCK_NS_PER_S,
	  .help = "Pause" },
	{ "now", AT(TIME, now), .help = "Now" },
	{ "text", .letter = 't', AT(TEXT, text), .help = "Text" },
	{ "named-text", AT(TEXT, named), .def = "x", .help = "Text" },
	{ "needed", AT(TEXT, needed), .min = 1, .help = "Text" },
	{ "list", .letter = 'l', AT(LIST, list), .max = LIST_LIMIT, .def = "first", .help = "L" },
	{ "many", AT(LIST, many), .help = "L" },
	{ "some", AT(LIST, some), .def = "first", .may_be_empty = true, .help = "L" },
	{ "color", FLAGS_CHOICE_AT(struct options, colors, color), .def = "green", .help = "C" },
	{ "letters", FLAGS_SET_AT(struct options, letters, letters), .def = "*", .help = "S" },
	{ "custom", FLAGS_CUSTOM_AT(struct options, set_custom, custom), .def = "abc",
	  .help = "X" },
	{ .type = FLAGS_END },
};
static const struct flags_row others[] = {
	{ "old", .type = FLAGS_IGNORED },
	{ "old-bool", .type = FLAGS_IGNORED_BOOL },
	{ "mode", .type = FLAGS_UNSUPPORTED, .def = "none" },
	{ "filter", .type = FLAGS_UNSUPPORTED },
	{ "strict", .type = FLAGS_UNSUPPORTED_BOOL },
	{ .type = FLAGS_END },
};
static const struct flags_row *const tables[] = { rows,       others,        flags_klog,
						  flags_help, flags_version, NULL };
static const struct flags daemon_flags = { .program = "prog", .doc = "D", .tables = tables };
static const struct flags verb_flags = {
	.program = "prog verb", .args = "NAME", .doc = "D", .tables = tables
};

/* Parses words separated by blanks; what was parsed stays until the next call. */
static int parse(const struct flags *f, const char *line, struct options *o, struct flags_parsed *p,
		 struct err *err)
{
	static char text[2000], *argv[ARGS_MAX];
	int argc = 0;
	char *at = text;

	snprintf(text, sizeof(text), "prog%s%s", line[0] == '\0' ? "" : " ", line);
	while (at != NULL && argc < ARGS_MAX) {
		argv[argc++] = at;
		at = strchr(at, ' ');
		if (at != NULL) {
			*at++ = '\0';
		}
	}
	memset(o, 0, sizeof(*o));
	*err = (struct err)ERR_INIT;
	return flags_parse(f, argc, argv, o, p, err);
}

static void parse_well(const char *line, struct options *o, struct flags_parsed *p)
{
	struct err err;

	if (parse(&daemon_flags, line, o, p, &err) != 0) {
		fail_msg("%s: %s", line, err.text);
	}
}

static void test_defaults(void **state)
{
	struct options o;
	struct flags_parsed p;

	(void)state;
	parse_well("", &o, &p);
	assert_true(o.on);
	assert_false(o.quiet);
	assert_int_equal(o.number, 7);
	assert_int_equal(o.small, 0);
	assert_true(o.rate == 0.5);
	assert_true(o.wait == 60 * CLOCK_NS_PER_S);
	assert_int_equal(o.pause, 0); /* a bound is of what is given */
	assert_null(o.text);
	assert_string_equal(o.named, "x");
	assert_int_equal(o.list.n, 1);
	assert_string_equal(o.list.v[0], "first");
	assert_int_equal(o.color, COLOR_GREEN);
	assert_int_equal(o.letters, LETTER_A | LETTER_B);
	assert_int_equal(o.custom, 3);
	assert_int_equal(p.ignored.n, 0);
	assert_false(flags_is_given(&daemon_flags, &p, "number"));
}

static void test_spellings(void **state)
{
	static const struct {
		const char *line;
		int64_t number;
		bool on, quiet;
	} spellings[] = {
		{ "--number=3", 3, true, false },
		{ "--number 3", 3, true, false },
		{ "--number=3 --number=4", 4, true, false },
		{ "-v3", 3, true, false },
		{ "-v=3", 3, true, false },
		{ "-v 3", 3, true, false },
		{ "--v=3", 0, true, false }, /* no such name */
		{ "-qv3", 3, true, true },
		{ "-qv 3", 3, true, true },
		{ "-q=false", 7, true, false },
		{ "-q", 7, true, true },
		{ "--on=false", 7, false, false },
		{ "--on=0", 7, false, false },
		{ "--on=f --quiet=t", 7, false, true },
		{ "--on=FALSE --quiet=True", 7, false, true },
		{ "--quiet", 7, true, true },
		{ "--quiet --number 2", 2, true, true },
		{ "--num=3", 0, true, false }, /* names are whole */
		{ "--no-on", 0, true, false }, /* not a spelling of Go */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
		struct options o;
		struct flags_parsed p;
		struct err err;
		int r = parse(&daemon_flags, spellings[i].line, &o, &p, &err);

		unit_row(spellings[i].line);
		assert_int_equal(r, spellings[i].number == 0 ? -ERR_INVALID : 0);
		if (r == 0) {
			assert_int_equal(o.number, spellings[i].number);
			assert_int_equal(o.on, spellings[i].on);
			assert_int_equal(o.quiet, spellings[i].quiet);
		}
	}
}

static void test_values_of_each_type(void **state)
{
	struct options o;
	struct flags_parsed p;

	(void)state;
	parse_well("--number=-2 --small=9223372036854775807 --rate=2.5 --wait=1h30m --pause=10s "
		   "--now=2026-01-02T15:04:05Z --text=a=b --named_text y --needed=z --color=RED "
		   "--letters=c,-a --custom=de -t=u",
		   &o, &p);
	assert_int_equal(o.number, -2);
	assert_true(o.small == INT64_MAX);
	assert_true(o.rate == 2.5);
	assert_true(o.wait == 5400 * CLOCK_NS_PER_S && o.pause == 10 * CLOCK_NS_PER_S);
	assert_true(o.now == 1767366245 * CLOCK_NS_PER_S);
	assert_string_equal(o.text, "u");
	assert_string_equal(o.named, "y");
	assert_int_equal(o.color, COLOR_RED);
	assert_int_equal(o.letters, LETTER_C);
	assert_int_equal(o.custom, 5);
	assert_true(flags_is_given(&daemon_flags, &p, "named-text"));
	assert_false(flags_is_given(&daemon_flags, &p, "on"));
	assert_false(flags_is_given(&daemon_flags, &p, "nope"));
	parse_well("--number=10 --pause=1m --text= --named-text= -t -", &o, &p);
	assert_int_equal(o.number, 10);
	assert_true(o.pause == 60 * CLOCK_NS_PER_S);
	assert_string_equal(o.text, "-");
	assert_string_equal(o.named, "");
	parse_well("--text=a --text=", &o, &p);
	assert_null(o.text);
}

static void test_sets_and_lists(void **state)
{
	static const struct {
		const char *line;
		unsigned letters;
	} sets[] = {
		{ "--letters=*", LETTER_A | LETTER_B },
		{ "--letters=*,-b", LETTER_A },
		{ "--letters=-b,*", LETTER_A | LETTER_B },
		{ "--letters=c --letters=a", LETTER_A | LETTER_C },
		{ "--letters=", 0 },
		{ "--letters=-a", 0 },
		{ "--letters=A,,B", LETTER_A | LETTER_B },
	};
	struct options o;
	struct flags_parsed p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		unit_row_number(i);
		parse_well(sets[i].line, &o, &p);
		assert_int_equal(o.letters, sets[i].letters);
	}
	parse_well("--list=a -lb,c -l d", &o, &p);
	assert_int_equal(o.list.n, LIST_LIMIT);
	assert_string_equal(o.list.v[0], "a");
	assert_string_equal(o.list.v[1], "b,c");
	assert_string_equal(o.list.v[2], "d");
	assert_null(o.list.v[3]);
}

static void test_a_list_may_be_emptied(void **state)
{
	struct options o;
	struct flags_parsed p;
	struct err err;

	(void)state;
	parse_well("", &o, &p);
	assert_int_equal(o.some.n, 1);
	parse_well("--some=", &o, &p);
	assert_int_equal(o.some.n, 0);
	parse_well("--some= --some=x", &o, &p);
	assert_int_equal(o.some.n, 1);
	assert_string_equal(o.some.v[0], "x");
	assert_int_equal(parse(&daemon_flags, "--many=", &o, &p, &err), -ERR_INVALID);
}

static void test_a_list_has_a_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT;
	struct options o;
	struct flags_parsed p;
	struct err err;

	(void)state;
	for (size_t i = 0; i < FLAGS_LIST_MAX; i++) {
		strbuf_printf(&line, "%s--many=x", i > 0 ? " " : "");
	}
	parse_well(line.p, &o, &p);
	assert_int_equal(o.many.n, FLAGS_LIST_MAX);
	strbuf_add_c(&line, " --many=y");
	assert_int_equal(parse(&daemon_flags, line.p, &o, &p, &err), -ERR_INVALID);
	assert_string_equal(err.text, "--many: \"y\": at most 64 may be given");
}

static void test_mistakes_name_flag_and_value(void **state)
{
	static const struct {
		const char *line, *says;
	} mistakes[] = {
		{ "--on=maybe", "--on: \"maybe\" is neither true nor false" },
		{ "--on=", "--on: \"\" is neither true nor false" },
		{ "--number=11", "--number: \"11\" is not a number (-2 to 10)" },
		{ "--number=-3", "--number: \"-3\" is not a number (-2 to 10)" },
		{ "-v x", "--number: \"x\" is not a number (-2 to 10)" },
		{ "--small=-1", "--small: \"-1\" is not a number (0 or more)" },
		{ "--small=9223372036854775808",
		  "--small: \"9223372036854775808\" is not a number (0 or more)" },
		{ "--rate=-0.1", "--rate: \"-0.1\" is not a number (0 or more)" },
		{ "--rate=nan", "--rate: \"nan\" is not a number (0 or more)" },
		{ "--wait=1y", "--wait: \"1y\" is not a duration such as 30s or 1h30m" },
		{ "--wait=-1s", "--wait: \"-1s\" is not a duration such as 30s or 1h30m" },
		{ "--pause=9999ms",
		  "--pause: \"9999ms\" is not a duration such as 30s or 1h30m (10s to 60s)" },
		{ "--pause=61s",
		  "--pause: \"61s\" is not a duration such as 30s or 1h30m (10s to 60s)" },
		{ "--now=today", "--now: \"today\" is not a time like 2026-01-02T15:04:05Z" },
		{ "--now=2200-01-01T00:00:01Z",
		  "--now: \"2200-01-01T00:00:01Z\" is later than 2200-01-01T00:00:00Z" },
		{ "--needed=", "--needed: \"\" is empty" },
		{ "--list=", "--list: \"\" is empty" },
		{ "--list=a --list=b --list=c --list=d", "--list: \"d\": at most 3 may be given" },
		{ "--color=blue", "--color: \"blue\" is unknown; known values: red, green" },
		{ "--color=", "--color: \"\" is unknown; known values: red, green" },
		{ "--letters=a,d", "--letters: \"a,d\" is unknown; known values: a, b, c, *" },
		{ "--letters=a,-", "--letters: \"a,-\" is unknown; known values: a, b, c, *" },
		{ "--custom=bad", "--custom: \"bad\": this one is bad" },
		{ "--number", "--number needs a value" },
		{ "-qv", "--number needs a value" },
		{ "--nonsense=1", "unknown flag --nonsense; --help lists them" },
		{ "--Values", "unknown flag --Values; --help lists them" },
		{ "-qx", "unknown flag -x; --help lists them" },
		{ "stray", "unexpected argument \"stray\"" },
		{ "-- -q", "unexpected argument \"-q\"" },
		{ "-", "unexpected argument \"-\"" },
		{ "--old-bool=maybe", "--old-bool: \"maybe\" is neither true nor false" },
		{ "--mode=hard", "--mode: \"hard\" is not supported" },
		{ "--filter=a", "--filter: \"a\" is not supported" },
		{ "--strict", "--strict: \"true\" is not supported" },
		{ "--version=maybe", "--version: \"maybe\" is neither true nor false" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		struct options o;
		struct flags_parsed p;
		struct err err;

		unit_row(mistakes[i].line);
		assert_int_equal(parse(&daemon_flags, mistakes[i].line, &o, &p, &err),
				 -ERR_INVALID);
		assert_string_equal(err.text, mistakes[i].says);
	}
}

static void test_flags_without_effect_are_noted_once(void **state)
{
	static const char *const names[] = { "old",    "old-bool", "mode",   "filter",
					     "strict", "log-dir",  "vmodule" };
	struct options o;
	struct flags_parsed p;

	(void)state;
	parse_well("--old=a --old b --old-bool --mode=none --filter= --strict=false --log_dir=/x "
		   "--vmodule=",
		   &o, &p);
	assert_int_equal(p.ignored.n, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		assert_string_equal(p.ignored.v[i], names[i]);
	}
}

/* The words are put in another order, none is lost. */
static void test_arguments(void **state)
{
	static const char *const want[] = {
		"prog", "one", "-", "-two", "-q", "--number", "3", "--"
	};
	char words[][10] = { "prog", "one", "-q", "-", "--number", "3", "--", "-two" };
	char *argv[ARRAY_LEN(words)];
	struct options o = { .on = false };
	struct flags_parsed p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		argv[i] = words[i];
	}
	assert_int_equal(flags_parse(&verb_flags, ARRAY_LEN(words), argv, &o, &p, NULL), 0);
	assert_int_equal(p.nargs, 3);
	assert_true(o.quiet);
	assert_int_equal(o.number, 3);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		unit_row_number(i);
		assert_string_equal(argv[i], want[i]);
	}
}

static void test_help_and_version_end_the_parsing(void **state)
{
	static const struct {
		const char *line;
		int r;
	} lines[] = {
		{ "--help", 1 },
		{ "-h --nonsense", 1 },
		{ "--version", 1 },
		{ "--help=false", 0 },
		{ "--version=f", 0 },
		{ "-qh", 1 },
		{ "--nonsense --help", -ERR_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct options o;
		struct flags_parsed p;
		struct err err;

		unit_row(lines[i].line);
		assert_int_equal(parse(&daemon_flags, lines[i].line, &o, &p, &err), lines[i].r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_values_of_each_type),
		cmocka_unit_test(test_sets_and_lists),
		cmocka_unit_test(test_a_list_may_be_emptied),
		cmocka_unit_test(test_a_list_has_a_limit),
		cmocka_unit_test(test_mistakes_name_flag_and_value),
		cmocka_unit_test(test_flags_without_effect_are_noted_once),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_help_and_version_end_the_parsing),
	};

	return cmocka_run_group_tests_name("process/flags", tests, NULL, NULL);
}
