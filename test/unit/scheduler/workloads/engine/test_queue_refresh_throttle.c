#include "scheduler/workloads/engine/queue_refresh_throttle.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "lib/unit.h"

#define MS CLOCK_NS_PER_MS

static void the_next_round(void **state)
{
	static const struct {
		const char *what;
		int64_t from, made, answered, want; /* answered 0: nothing to write */
		bool pauses;
	} rows[] = {
		{ "there was none", 0, 0, 0, 0, true },
		{ "nothing to write", 5000, 5001, 0, 5200, true },
		{ "cheap", 5000, 5001, 5040, 5200, true },
		{ "expensive to make out", 5000, 5003, 5200, 5600, true },
		{ "as expensive as is paused for", 5000, 5005, 5200, 6000, true },
		{ "put off meanwhile", 5000, 5900, 0, 6000, true },
		{ "slowly written", 5000, 5001, 5501, 6002, true },
		{ "as slowly as is paused for", 5000, 5001, 10000, 15000, true },
		{ "more slowly", 5000, 5001, 40000, 45000, true },
		{ "both", 5000, 5010, 9000, 13000, true },
		{ "both, the other way round", 5000, 5005, 5400, 6000, true },
		{ "no pause", 5000, 5001, 9000, 9000, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct queue_refresh_throttle r = { 0 };

		if (rows[i].made != 0) {
			queue_refresh_throttle_made(&r, rows[i].from * MS, rows[i].made * MS,
						    rows[i].pauses);
		}
		if (rows[i].answered != 0) {
			queue_refresh_throttle_answer(&r, rows[i].made * MS);
			queue_refresh_throttle_answer(&r, rows[i].answered * MS);
		}
		if (queue_refresh_throttle_next(&r) != rows[i].want * MS) {
			fail_msg("%s: %lld ms", rows[i].what,
				 (long long)(queue_refresh_throttle_next(&r) / MS));
		}
	}
}

static void gauges(void **state)
{
	static const struct {
		const char *name;
		int64_t from, made, want;
	} rows[] = {
		{ "not made yet", 0, 0, 0 },
		{ "made within 1 ms", 5000, 5001, 6000 },
		{ "made within 5 ms", 5000, 5005, 6000 },
		{ "made within 20 ms", 5000, 5020, 9000 },
		{ "made within 50 ms", 5000, 5050, 15000 },
		{ "made within 900 ms", 5000, 5900, 15000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct queue_refresh_throttle r = { 0 };

		if (rows[i].made != 0) {
			queue_refresh_throttle_made(&r, rows[i].from * MS, rows[i].made * MS,
						    false);
		}
		unit_row(rows[i].name);
		assert_int_equal(queue_refresh_throttle_next_gauges(&r), rows[i].want * MS);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_round),
		cmocka_unit_test(gauges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
