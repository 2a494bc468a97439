#include "scheduler/pods/ledger/attempts.h"

#include "lib/unit.h"

#include "base/attrs.h"

#define MIN (INT64_C(60) * 1000000000)

static void the_wait_grows_with_the_time_held(void **state)
{
	static const struct {
		const char *name;
		int64_t held;
		uint32_t attempts;
		int64_t wait;
	} rows[] = {
		{ "not held at all", 0, 1, MIN },
		{ "held for long", 30 * MIN, 1, 30 * MIN },
		{ "second attempt", 30 * MIN, 2, 60 * MIN },
		{ "third attempt", 30 * MIN, 3, 120 * MIN },
		{ "below the longest wait", 30 * MIN, 6, 960 * MIN },
		{ "beyond the longest wait", 30 * MIN, 7, ATTEMPTS_MAX_WAIT_NS },
		{ "attempts without end", 30 * MIN, UINT32_MAX, ATTEMPTS_MAX_WAIT_NS },
		{ "held without end", INT64_MAX, 1, ATTEMPTS_MAX_WAIT_NS },
		{ "held without end, second attempt", INT64_MAX, 2, ATTEMPTS_MAX_WAIT_NS },
		{ "held for a negative time", -1, 2, 2 * MIN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
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
