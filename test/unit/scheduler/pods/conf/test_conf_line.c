#include "scheduler/pods/conf/conf_line.h"

#include "base/attrs.h"
#include "lib/unit.h"

static void test_whole_words_outside_comments(void **state)
{
	static const char text[] = "# gang\n"
				   "actions: \"enqueue, allocate\" # backfill\n"
				   "- name: gangpreempt\n"
				   "- name: resource-strategy-fit\n"
				   "- name: gang\n"
				   "  a#b: gang\n"
				   "last: line";
	static const struct {
		const char *word;
		unsigned line;
	} rows[] = {
		{ "gang", 5 },     { "enqueue", 2 },
		{ "allocate", 2 }, { "backfill", 0 },
		{ "strategy", 0 }, { "name", 3 },
		{ "line", 7 },     { "b", 6 },
		{ "", 0 },         { "resource-strategy-fit", 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		assert_int_equal(conf_line_find(str_of(text), STR_LIT(""), str_of(rows[i].word)),
				 rows[i].line);
	}
	assert_int_equal(conf_line_find(STR_LIT(""), STR_LIT("y"), STR_LIT("x")), 0);
	assert_int_equal(conf_line_find((struct str){ NULL, 0 }, STR_LIT("y"), STR_LIT("x")), 0);
}

static void test_words_of_a_path(void **state)
{
	static const char text[] = "actions: \"a, b\"\n"
				   "tiers:\n"
				   "- plugins:\n"
				   "  - name: gang\n"
				   "  - name: drf # plugins name\n"
				   "- plugins: [{name: x}, {name: y,\n"
				   "    arguments: {}}]\n"
				   "configurations:\n"
				   "- name: a\n"
				   "  arguments: 3\n";
	static const struct {
		const char *path, *word;
		unsigned line;
	} rows[] = {
		{ "tiers", "tiers", 2 },
		{ "tiers[0]", "tiers", 3 },
		{ "tiers[0]", "drf", 5 },
		{ "tiers[1].plugins", "plugins", 6 },
		{ "tiers[0].plugins[1].name", "name", 5 },
		{ "tiers[0].plugins[1]", "name", 5 },
		{ "tiers[1].plugins[1].arguments", "arguments", 7 },
		{ "configurations[0].arguments", "arguments", 10 },
		{ "configurations[0].name", "name", 9 },
		{ "configurations[7].name", "name", 9 },
		{ "actions", "b", 1 },
		{ "tiers[0].plugins[0].gone", "gone", 4 },
		{ "gone[x]", "absent", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].path);
		assert_int_equal(
			conf_line_find(str_of(text), str_of(rows[i].path), str_of(rows[i].word)),
			rows[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_words_outside_comments),
		cmocka_unit_test(test_words_of_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
