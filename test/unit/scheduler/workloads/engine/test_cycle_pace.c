#include "scheduler/workloads/engine/cycle_pace.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "lib/unit.h"

#define MS CLOCK_NS_PER_MS
#define NEVER_BEFORE (-CLOCK_NS_PER_S)

static void the_next_cycle(void **state)
{
	static const struct {
		const char *what;
		int64_t cycle, answer; /* when; NEVER_BEFORE: none */
		enum sched_outcome outcome;
		size_t unanswered;
		int64_t now, want; /* want at most now: at once */
	} rows[] = {
		{ "nothing was written", 0, NEVER_BEFORE, SCHED_DONE, 0, 0, 0 },
		{ "a few are unanswered", 0, NEVER_BEFORE, SCHED_DONE, 2, 1, 1 },
		{ "one more", 0, NEVER_BEFORE, SCHED_DONE, 3, 1, 1000 * MS },
		{ "one more, all but answered", 0, 900 * MS, SCHED_DONE, 3, 900 * MS, 1900 * MS },
		{ "nothing is answered", 0, NEVER_BEFORE, SCHED_DONE, 500, 1000 * MS, 1000 * MS },
		{ "nothing more is answered", 0, 10 * MS, SCHED_DONE, 500, 1010 * MS, 1010 * MS },
		{ "answers come, but never all", 0, 9500 * MS, SCHED_DONE, 3, 9500 * MS,
		  10000 * MS },
		{ "the same, a write was refused", 0, 9500 * MS, SCHED_REJECTED, 3, 9500 * MS,
		  10000 * MS },
		{ "writes are refused all the time", 0, 9500 * MS, SCHED_REJECTED, 0, 9500 * MS,
		  10000 * MS },
		{ "a conflict", 0, 10 * MS, SCHED_STALE, 0, 10 * MS, 60 * MS },
		{ "a conflict, many wait", 0, 10 * MS, SCHED_STALE, 3, 10 * MS, 1010 * MS },
		{ "a write was refused", 0, 10 * MS, SCHED_REJECTED, 0, 10 * MS, 1010 * MS },
		{ "a write was refused, many wait", 0, 10 * MS, SCHED_REJECTED, 3, 10 * MS,
		  1010 * MS },
		{ "it is gone", 0, 10 * MS, SCHED_GONE, 0, 10 * MS, 60 * MS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cycle_pace p = { 0 };
		int64_t at;

		cycle_pace_cycle(&p, rows[i].cycle);
		if (rows[i].answer != NEVER_BEFORE) {
			cycle_pace_answer(&p, rows[i].outcome, rows[i].answer);
		}
		at = cycle_pace_next(&p, rows[i].unanswered);
		at = at < rows[i].now ? rows[i].now : at;
		if (at != rows[i].want) {
			fail_msg("%s: %lld, not %lld", rows[i].what, (long long)at,
				 (long long)rows[i].want);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
