#include "process/flags_text.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "process/flags.h"

struct options {
	int64_t threads, wait, port;
	const char *file, *name;
	bool on;
	unsigned form, parts;
};

static const struct flags_choice forms[] = { { "text", 0 }, { "json", 1 }, { NULL, 0 } };
static const struct flags_row rows[] = {
	{ "Serving", .type = FLAGS_HEADING },
	{ "threads", FLAGS_AT(struct options, INT, threads), .min = 1, .max = 64, .def = "2",
	  .help = "Threads that serve" },
	{ "wait", FLAGS_AT(struct options, DURATION, wait), .min = 10 * CLOCK_NS_PER_S,
	  .max = 7200 * CLOCK_NS_PER_S, .help = "Pause" },
	{ "port", FLAGS_AT(struct options, INT, port), .help = "Port" },
	{ "file", .letter = 'f', FLAGS_AT(struct options, TEXT, file), .arg = "FILE",
	  .unset = "the first one found", .help = "Where it is" },
	{ "a-name-longer-than-the-column", FLAGS_AT(struct options, TEXT, name), .def = "x",
	  .help = "Words enough that the line is longer than eighty columns and has to be broken" },
	{ "on", FLAGS_AT(struct options, BOOL, on), .def = "true", .help = "Do it" },
	{ "Printing", .type = FLAGS_HEADING },
	{ "form", FLAGS_CHOICE_AT(struct options, forms, form), .def = "text", .help = "Form" },
	{ "parts", FLAGS_SET_AT(struct options, forms, parts), .help = "Parts" },
	{ "old", .type = FLAGS_IGNORED },
	{ "older", .type = FLAGS_UNSUPPORTED, .def = "none" },
	{ .type = FLAGS_END },
};
static const struct flags_row *const tables[] = { rows, flags_help, NULL };

static void expect_help(const struct flags *f, const char *want)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	flags_text_print_help(f, to);
	fclose(to);
	assert_string_equal(text, want);
	free(text);
}

static void test_every_type_has_its_value(void **state)
{
	static const char *const values[FLAGS_VERSION + 1] = {
		[FLAGS_INT] = "N",
		[FLAGS_DOUBLE] = "N",
		[FLAGS_DURATION] = "DURATION",
		[FLAGS_TIME] = "TIME",
		[FLAGS_TEXT] = "TEXT",
		[FLAGS_LIST] = "TEXT",
		[FLAGS_CHOICE] = "text|json",
		[FLAGS_SET] = "LIST",
		[FLAGS_CUSTOM] = "TEXT",
		[FLAGS_IGNORED] = "TEXT",
		[FLAGS_UNSUPPORTED] = "TEXT",
	};

	(void)state;
	for (int type = FLAGS_BOOL; type <= FLAGS_VERSION; type++) {
		const struct flags_row row = { "x", .type = (enum flags_type)type,
					       .choices = forms };
		const struct flags_row named = { "x", .type = (enum flags_type)type,
						 .choices = forms, .arg = "ARG" };
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

		flags_text_add_value(&row, &text);
		assert_string_equal(text.len > 0 ? text.p : "",
				    values[type] == NULL ? "" : values[type]);
		strbuf_reset(&text);
		flags_text_add_value(&named, &text);
		assert_string_equal(text.p, "ARG");
	}
}

static void test_help(void **state)
{
	static const struct flags f = {
		.program = "prog", .doc = "Does it.", .notes = "More.", .tables = tables
	};

	(void)state;
	expect_help(
		&f,
		"Usage: prog [FLAG...]\n"
		"\n"
		"Does it.\n"
		"\n"
		"Serving:\n"
		"      --threads=N             Threads that serve (1 to 64; default: 2)\n"
		"      --wait=DURATION         Pause (10s to 2h)\n"
		"      --port=N                Port (0 or more)\n"
		"  -f, --file=FILE             Where it is (default: the first one found)\n"
		"      --a-name-longer-than-the-column=TEXT\n"
		"                              Words enough that the line is longer than eighty\n"
		"                              columns and has to be broken (default: x)\n"
		"      --on                    Do it (default: true)\n"
		"\n"
		"Printing:\n"
		"      --form=text|json        Form (default: text)\n"
		"      --parts=LIST            Parts (text, json)\n"
		"  -h, --help                  Print this text\n"
		"\n"
		"Accepted for compatibility, without effect:\n"
		"  --old --older\n"
		"\n"
		"More.\n");
}

static void test_forms_of_arguments(void **state)
{
	static const struct flags_row *const few[] = { flags_help, NULL };
	static const struct flags f = {
		.program = "prog verb", .args = "\nqueue NAME", .doc = "Does it.", .tables = few
	};

	(void)state;
	expect_help(&f, "Usage: prog verb [FLAG...]\n"
			"  or:  prog verb queue NAME [FLAG...]\n"
			"\n"
			"Does it.\n"
			"\n"
			"Flags:\n"
			"  -h, --help                  Print this text\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type_has_its_value),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_forms_of_arguments),
	};

	return cmocka_run_group_tests_name("process/flags_text", tests, NULL, NULL);
}
