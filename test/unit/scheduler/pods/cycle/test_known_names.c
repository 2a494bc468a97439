#include "scheduler/pods/cycle/known_names.h"

#include "lib/unit.h"

static void run_nothing(struct session *s)
{
	(void)s;
}

static void test_absent_are_rows_without_functions(void **state)
{
	static const struct plugin_ops ops = { .name = "gang" };
	static const struct plugin_row plugins[] = { { "gang", &ops },
						     { "capacity", &ops },
						     { "drf", NULL } };
	static const struct action_row actions[] = { { .name = "enqueue", .run = run_nothing },
						     { .name = "reclaim" },
						     { .name = "shuffle", .absent = "why" } };
	const struct known_names_source from = { plugins, 3, actions, 3 };
	struct known_names n;
	struct conf_names known;

	(void)state;
	known_names_init(&n, &from);
	known = known_names_conf(&n);
	assert_string_equal(known.plugins[0], "gang");
	assert_string_equal(known.plugins[1], "capacity");
	assert_string_equal(known.plugins[2], "drf");
	assert_null(known.plugins[3]);
	assert_string_equal(known.actions[0], "enqueue");
	assert_string_equal(known.actions[1], "reclaim");
	assert_string_equal(known.actions[2], "shuffle");
	assert_null(known.actions[3]);
	assert_string_equal(known.absent[0], "drf");
	assert_string_equal(known.absent[1], "reclaim");
	assert_string_equal(known.absent[2], "shuffle");
	assert_null(known.absent[3]);
	assert_null(known.absent_reasons[1]);
	assert_string_equal(known.absent_reasons[2], "why");
	known_names_finish(&n);
	assert_null(n.plugins);
}

static void test_empty_registries(void **state)
{
	const struct known_names_source from = { .plugins = NULL };
	struct known_names n;

	(void)state;
	known_names_init(&n, &from);
	assert_null(n.plugins[0]);
	assert_null(n.actions[0]);
	assert_null(n.unimplemented[0]);
	known_names_finish(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent_are_rows_without_functions),
		cmocka_unit_test(test_empty_registries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
