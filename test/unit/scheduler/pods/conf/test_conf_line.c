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
		assert_int_equal(conf_line_find(str_of(text), str_of(rows[i].word)), rows[i].line);
	}
	assert_int_equal(conf_line_find(STR_LIT(""), STR_LIT("x")), 0);
	assert_int_equal(conf_line_find((struct str){ NULL, 0 }, STR_LIT("x")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_whole_words_outside_comments) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
