#include "scheduler/ctl/cli/columns.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

static void test_columns_are_as_wide_as_their_widest_cell(void **state)
{
	static const char *const heads[] = { "A", "LONG", NULL };
	CLEANUP(columns_destroyp) struct columns *c = columns_create(heads);
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	columns_add(c, "%s", "wide");
	columns_add(c, "%d", 1);
	columns_add(c, "x");
	columns_add(c, "y");
	columns_print(c, f);
	fclose(f);
	assert_string_equal(text, "A      LONG\nwide   1\nx      y\n");
	free(text);
}

static void test_long_cells_are_cut(void **state)
{
	static const char *const heads[] = { "A", NULL };
	CLEANUP(columns_destroyp) struct columns *c = columns_create(heads);
	char cell[600], *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	memset(cell, 'x', sizeof(cell) - 1);
	cell[sizeof(cell) - 1] = '\0';
	columns_add(c, "%s", cell);
	columns_print(c, f);
	fclose(f);
	assert_int_equal(strlen(text), 2 + 511 + 1);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(test_long_cells_are_cut),
	};

	return cmocka_run_group_tests_name("ctl/cli/columns", tests, NULL, NULL);
}
