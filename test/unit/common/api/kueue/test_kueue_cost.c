#include "api/kueue/kueue_cost.h"

#include <string.h>

#include "api/kueue/kueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "lib/decode_fixture.h"
#include "lib/unit.h"

static int read(const char *key, const char *text, struct quantity *ret, struct err *err)
{
	struct field_pair one = { key, text };
	const struct field_map map = { &one, text == NULL ? 0 : 1 };

	return kueue_cost_read(&map, key, ret, err);
}

static void values_of_annotations(void **state)
{
	static const struct {
		const char *key, *text, *value;
	} rows[] = {
		{ KUEUE_COST_BASE, NULL, "0" },      { KUEUE_COST_WEIGHT, NULL, "1" },
		{ KUEUE_COST_BASE, "250", "250" },   { KUEUE_COST_BASE, "-1.5", "-1500m" },
		{ KUEUE_COST_BASE, "1G", "1G" },     { KUEUE_COST_BASE, "-1000000000", "-1G" },
		{ KUEUE_COST_WEIGHT, "0", "0" },     { KUEUE_COST_WEIGHT, "100n", "100n" },
		{ KUEUE_COST_WEIGHT, "1e9", "1e9" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quantity q;
		char text[QUANTITY_TEXT_MAX];

		unit_row(rows[i].key);
		assert_int_equal(read(rows[i].key, rows[i].text, &q, NULL), 0);
		quantity_format(q, text);
		assert_string_equal(text, rows[i].value);
	}
}

static void annotations_that_cannot_be_used(void **state)
{
	static const struct {
		const char *key, *text, *says;
	} rows[] = {
		{ KUEUE_COST_BASE, "", "invalid quantity \"\"" },
		{ KUEUE_COST_BASE, "much", "invalid quantity \"much\"" },
		{ KUEUE_COST_BASE, "1000000000.1",
		  "\"1000000000.1\": must be between -1000000000 and 1000000000" },
		{ KUEUE_COST_BASE, "-1000000001",
		  "\"-1000000001\": must be between -1000000000 and 1000000000" },
		{ KUEUE_COST_WEIGHT, "-1n", "\"-1n\": must be between 0 and 1000000000" },
		{ KUEUE_COST_WEIGHT, "9e18", "\"9e18\": must be between 0 and 1000000000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct quantity q = quantity_of(7, QUANTITY_DECIMAL_SI);
		struct err err = ERR_INIT;

		unit_row(rows[i].key);
		assert_int_equal(read(rows[i].key, rows[i].text, &q, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].says);
		assert_int_equal(quantity_value(q), 7);
	}
}

static void costs_are_exact(void **state)
{
	static const struct {
		const char *base, *weight;
		int32_t preemptions;
		const char *cost;
	} rows[] = {
		{ NULL, NULL, 0, "0" },
		{ NULL, NULL, 2, "2" },
		{ "-10", "2500m", 3, "-2500m" },
		{ "0.1", "0.2", 1, "300m" },
		{ "1Gi", "0", 5, NULL }, /* more than allowed */
		{ "1Ki", "0", 5, "1024" },
		{ "1n", "1n", 2147483647, "2147483648n" },
		{ "1e9", "1e9", 2147483647, "2147483648G" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kueue_cost c = kueue_cost_default();
		char text[QUANTITY_TEXT_MAX];
		int r = read(KUEUE_COST_BASE, rows[i].base, &c.base, NULL);

		unit_row(rows[i].base);
		assert_int_equal(r, rows[i].cost == NULL ? -ERR_INVALID : 0);
		if (r == 0) {
			assert_int_equal(read(KUEUE_COST_WEIGHT, rows[i].weight, &c.weight, NULL),
					 0);
			quantity_format(kueue_cost_of(&c, rows[i].preemptions), text);
			assert_string_equal(text, rows[i].cost);
		}
	}
}

static void only_preemptions_count(void **state)
{
	struct api_eviction_count list[] = {
		{ "PodsReadyTimeout", "WaitForStart", 5 },
		{ "Preempted", "", 2 },
		{ "Preempted", "Other", 1 },
		{ "Preempted", "None", FIELD_NO_I32 },
	};
	struct api_scheduling_stats stats = { 0 };
	struct api_workload_status status = { 0 };

	(void)state;
	assert_int_equal(kueue_cost_preemptions(&status), 0);
	status.scheduling_stats = &stats;
	assert_int_equal(kueue_cost_preemptions(&status), 0);
	stats.evictions.v = list;
	stats.evictions.n = ARRAY_LEN(list);
	assert_int_equal(kueue_cost_preemptions(&status), 3);
	list[1].count = INT32_MAX;
	assert_int_equal(kueue_cost_preemptions(&status), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_annotations),
		cmocka_unit_test(annotations_that_cannot_be_used),
		cmocka_unit_test(costs_are_exact),
		cmocka_unit_test(only_preemptions_count),
	};

	return cmocka_run_group_tests_name("api/kueue/kueue_cost", tests, NULL, NULL);
}
