#include "scheduler/pods/ledger/attempts.h"

#include "lib/unit.h"

#include "base/attrs.h"

#define MIN (INT64_C(60) * 1000000000)

static void the_wait_grows_with_the_time_held(void **state)
{
	static const struct {
		int64_t held;
		uint32_t attempts;
		int64_t wait;
	} rows[] = {
		{ 0, 1, MIN },
		{ 30 * MIN, 1, 30 * MIN },
		{ 30 * MIN, 2, 60 * MIN },
		{ 30 * MIN, 3, 120 * MIN },
		{ 30 * MIN, 6, 960 * MIN },
		{ 30 * MIN, 7, ATTEMPTS_MAX_WAIT_NS },
		{ 30 * MIN, UINT32_MAX, ATTEMPTS_MAX_WAIT_NS },
		{ INT64_MAX, 1, ATTEMPTS_MAX_WAIT_NS },
		{ INT64_MAX, 2, ATTEMPTS_MAX_WAIT_NS },
		{ -1, 2, 2 * MIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(attempts_pause(MIN, rows[i].held, rows[i].attempts), rows[i].wait);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_wait_grows_with_the_time_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
