#include "obs/process.h"

#include "lib/unit.h"

#include <unistd.h>

#include "base/attrs.h"

static void test_parse(void **state)
{
	static const char good[] = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 300 200 0 0 20 0 7 0 1000 "
				   "4096 3 18446744073709551615 0";
	static const char *const bad[] = {
		"",
		"42",
		"42 (x)",
		"42 (x) S",
		"42 (x) S 1 2 3 4 5 6 7 8 9 10 300 200 0 0 20 0 7 0 10",
		"42 (x) S 1 2 3 4 5 6 7 8 9 10 many 200 0 0 20 0 7 0 1000 4096 3",
	};
	struct process_info p = { 0 };

	(void)state;
	assert_true(process_parse_stat(str_of(good), &p));
	assert_true(p.cpu_seconds == 500.0 / (double)sysconf(_SC_CLK_TCK));
	assert_true(p.start_seconds == 1000.0 / (double)sysconf(_SC_CLK_TCK));
	assert_int_equal(p.threads, 7);
	assert_int_equal(p.virtual_bytes, 4096);
	assert_int_equal(p.resident_bytes, 3 * sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		unit_row_number(i);
		assert_false(process_parse_stat(str_of(bad[i]), &p));
	}
}

static void test_read(void **state)
{
	struct process_info p = { 0 };

	(void)state;
	assert_true(process_read(&p));
	assert_true(p.resident_bytes > 0 && p.virtual_bytes >= p.resident_bytes);
	assert_true(p.start_seconds > 0);
	assert_true(p.open_files >= 3);
	assert_true(p.threads >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
