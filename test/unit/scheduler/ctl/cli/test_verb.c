#include "scheduler/ctl/cli/verb.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"

struct options {
	int output;
};

static const struct flags_row rows[] = {
	{ "output", .letter = 'o', FLAGS_CHOICE_AT(struct options, verb_outputs, output),
	  .def = "table", .help = "Format" },
	{ .type = FLAGS_END },
};
static const struct flags_row *const tables[] = { rows, flags_help, NULL };
static const struct flags flags = { .program = "headgatectl test", .tables = tables };

static void test_parse(void **state)
{
	static const struct {
		const char *name, *word;
		bool goes_on;
		int code, output;
	} cases[] = {
		{ "no flag", NULL, true, VERB_OK, VERB_TABLE },
		{ "an output of the list", "-ojson", true, VERB_OK, VERB_JSON },
		{ "an output of objects alone", "-oyaml", false, VERB_USAGE, 0 },
		{ "a flag that does not exist", "--nope", false, VERB_USAGE, 0 },
		{ "help", "--help", false, VERB_OK, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *argv[] = { (char *)(uintptr_t) "test", (char *)(uintptr_t)cases[i].word,
				 NULL };
		struct flags_parsed parsed;
		struct options o = { 0 };
		int code = -1;

		unit_row(cases[i].name);
		assert_int_equal(
			verb_parse(&flags, cases[i].word == NULL ? 1 : 2, argv, &o, &parsed, &code),
			cases[i].goes_on);
		assert_int_equal(code, cases[i].code);
		if (cases[i].goes_on) {
			assert_int_equal(o.output, cases[i].output);
		}
	}
}

static void test_fail(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	(void)err_set(&err, ERR_INVALID, "no such thing");
	assert_int_equal(verb_fail(&err), VERB_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_fail),
	};

	return cmocka_run_group_tests_name("ctl/cli/verb", tests, NULL, NULL);
}
