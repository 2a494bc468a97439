#include <stdio.h>

#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

#define SECONDS INT64_C(1000000000)

static void test_boost_counts_when_its_gate_is_on(void **state)
{
	struct quota_world w;
	struct workload *one;

	(void)state;
	quota_world_init(&w, "workload one prio=2147483647 boost=10 cpu=1\n");
	one = quota_world_workload(&w, "one");
	assert_int_equal(workload_priority(w.q, one), INT32_MAX);
	w.q->options.priority_boost = true;
	assert_int_equal(workload_priority(w.q, one), INT64_C(2147483657));
	quota_world_finish(&w);
}

static void test_queue_time(void **state)
{
	static const struct {
		const char *words, *option;
		int64_t expected; /* ns from now */
	} rows[] = {
		{ "", "", -60 * SECONDS },
		{ "evicted=-5s", "", -60 * SECONDS },
		{ "evicted=-5s evicted-by=timeout", "", -5 * SECONDS },
		{ "evicted=-5s evicted-by=timeout", "timestamp_creation=true", -60 * SECONDS },
		{ "evicted=-5s evicted-by=check", "timestamp_creation=true", -5 * SECONDS },
		{ "evicted-by=check", "", -60 * SECONDS },
		{ "preempted=-7s reclaimed", "", -60 * SECONDS },
		{ "preempted=-7s reclaimed", "priority_sorting=false",
		  -7 * SECONDS + INT64_C(1000000) },
		{ "preempted=-7s", "priority_sorting=false", -60 * SECONDS },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quota_world w;
		char text[200];

		unit_row(rows[i].words);
		(void)snprintf(text, sizeof(text), "workload w created=-60s %s\noption %s\n",
			       rows[i].words, rows[i].option);
		quota_world_init(&w, text);
		assert_int_equal(workload_queue_time(w.q, quota_world_workload(&w, "w")) - w.now,
				 rows[i].expected);
		quota_world_finish(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boost_counts_when_its_gate_is_on),
		cmocka_unit_test(test_queue_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
