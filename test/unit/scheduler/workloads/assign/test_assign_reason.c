#include "scheduler/workloads/assign/assign_reason.h"

#include "base/arena.h"
#include "lib/unit.h"
#include "scheduler/workloads/forest/amount.h"

static void test_texts_are_sorted_and_said_once(void **state)
{
	struct assign_reasons r = { .arena = arena_create(0) };

	(void)state;
	assert_null(assign_reason_join(&r));
	for (int i = 0; i < 20; i++) {
		assign_reason_add(&r, "reason %c", 'c' - i % 3);
	}
	assert_string_equal(assign_reason_join(&r), "reason a, reason b, reason c");
	arena_destroy(r.arena);
}

static void test_both_reasons_give_the_more_severe(void **state)
{
	static const enum nofit_reason order[] = { QUOTA_REASON_NONE,
						   QUOTA_TOPOLOGY_PLACEMENT_FAILED,
						   QUOTA_WAITING_FOR_QUOTA, QUOTA_EXCEEDS_MAX_QUOTA,
						   QUOTA_NO_MATCHING_FLAVOR };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		unit_row_number(i);
		for (size_t k = 0; k < ARRAY_LEN(order); k++) {
			assert_int_equal(assign_reason_both(order[i], order[k]),
					 order[i > k ? i : k]);
		}
	}
}

static void test_alternatives_give_the_less_severe(void **state)
{
	(void)state;
	assert_int_equal(assign_reason_either(QUOTA_EXCEEDS_MAX_QUOTA, QUOTA_NO_MATCHING_FLAVOR),
			 QUOTA_EXCEEDS_MAX_QUOTA);
	assert_int_equal(assign_reason_either(QUOTA_EXCEEDS_MAX_QUOTA, QUOTA_WAITING_FOR_QUOTA),
			 QUOTA_WAITING_FOR_QUOTA);
	assert_int_equal(assign_reason_either(QUOTA_REASON_NONE, QUOTA_NO_MATCHING_FLAVOR),
			 QUOTA_NO_MATCHING_FLAVOR);
	assert_int_equal(assign_reason_either(QUOTA_WAITING_FOR_QUOTA, QUOTA_REASON_NONE),
			 QUOTA_WAITING_FOR_QUOTA);
}

static void test_amounts(void **state)
{
	static const struct {
		const char *resource;
		int64_t amount;
		const char *text;
	} rows[] = {
		{ "cpu", 0, "0" },
		{ "cpu", 3000, "3" },
		{ "cpu", 2500, "2500m" },
		{ "cpu", -500, "-500m" },
		{ "cpu", QUOTA_UNLIMITED, "unlimited" },
		{ "memory", 0, "0" },
		{ "memory", 5 << 20, "5Mi" },
		{ "memory", 1025, "1025" },
		{ "memory", INT64_C(1) << 62, "4096Pi" },
		{ "ephemeral-storage", 2048, "2Ki" },
		{ "hugepages-2Mi", 1 << 21, "2Mi" },
		{ "example.com/gpu", 1024, "1024" },
		{ "example.com/gpu", INT64_MIN, "less than -9E" },
		{ "example.com/gpu", QUOTA_UNLIMITED - 2, "9223372036854775805" },
		{ "example.com/gpu", QUOTA_UNLIMITED - 1, "more than 9E" },
		{ "cpu", QUOTA_UNLIMITED - 1, "more than 9P" },
		{ "cpu", INT64_MIN, "less than -9P" },
		{ "memory", QUOTA_UNLIMITED - 1, "more than 7Ei" },
		{ "memory", QUOTA_UNLIMITED, "unlimited" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[ASSIGN_REASON_AMOUNT_MAX];

		unit_row(rows[i].resource);
		assign_reason_amount(rows[i].resource, rows[i].amount, text);
		assert_string_equal(text, rows[i].text);
	}
}

/* A request that is too large to be counted stays so, whatever is taken off it. */
static void test_shortages(void **state)
{
	static const struct {
		int64_t asked, available;
		const char *text;
	} rows[] = {
		{ 3000, 1000, "2" },
		{ 3000, -500, "3500m" },
		{ QUOTA_UNLIMITED - 1, 4000, "more than 9P" },
		{ QUOTA_UNLIMITED - 1, -1, "more than 9P" },
		{ QUOTA_UNLIMITED - 2, -1, "more than 9P" },
		{ QUOTA_UNLIMITED - 2, -100, "more than 9P" },
		{ QUOTA_UNLIMITED - 2, 5, "9223372036854775800m" },
		{ 4000, INT64_MIN, "more than 9P" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[ASSIGN_REASON_AMOUNT_MAX];

		unit_row_number(i);
		assign_reason_amount("cpu", amount_short(rows[i].asked, rows[i].available), text);
		assert_string_equal(text, rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts_are_sorted_and_said_once),
		cmocka_unit_test(test_both_reasons_give_the_more_severe),
		cmocka_unit_test(test_alternatives_give_the_less_severe),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_shortages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
