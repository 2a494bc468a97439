#include "api/volcano/gate.h"

#include "lib/unit.h"

#include "base/str.h"
#include "enc/field.h"

#define CANONICAL "scheduling.volcano.sh/queue-allocation-gate"
#define ALIAS "volcano.sh/queue-allocation-gate"

static void test_opt_in(void **state)
{
	static const struct {
		struct field_pair pairs[2];
		size_t n;
		const char *gate;
	} rows[] = {
		{ { { 0 } }, 0, NULL },
		{ { { CANONICAL, "true" } }, 1, CANONICAL },
		{ { { ALIAS, "true" } }, 1, ALIAS },
		{ { { CANONICAL, "true" }, { ALIAS, "true" } }, 2, CANONICAL },
		{ { { CANONICAL, "false" }, { ALIAS, "true" } }, 2, ALIAS },
		{ { { CANONICAL, "True" } }, 1, NULL },
		{ { { CANONICAL, "" } }, 1, NULL },
		{ { { CANONICAL, "true " } }, 1, NULL },
		{ { { "other", "true" } }, 1, NULL },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct field_map map = { rows[i].pairs, rows[i].n };
		const struct gate_row *row = gate_opt_in(&map);

		assert_true(str_streq(row == NULL ? NULL : row->gate, rows[i].gate));
	}
}

static void test_rows(void **state)
{
	(void)state;

	assert_string_equal(gate_at(0)->gate, CANONICAL);
	for (size_t i = 0; gate_at(i) != NULL; i++) {
		assert_int_equal(gate_index(gate_at(i)), i);
		assert_ptr_equal(gate_by_name(gate_at(i)->gate), gate_at(i));
	}
	assert_null(gate_at(GATE_NONE));
	assert_int_equal(gate_index(NULL), GATE_NONE);
	assert_null(gate_by_name("kueue.x-k8s.io/admission"));
	assert_null(gate_by_name(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opt_in),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
