#include "scheduler/base/match.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/values/pod_class.h"

/* One pointer per text, as interned strings have. */
static const char zone[] = "zone", cores[] = "cores", rack[] = "rack", a[] = "a", b[] = "b",
		  ten[] = "10", dedicated[] = "dedicated", none[] = "";

static void test_label(void **state)
{
	const struct label labels[] = { { cores, ten }, { zone, a } };

	(void)state;
	assert_ptr_equal(match_label(labels, 2, zone), a);
	assert_null(match_label(labels, 2, rack));
	assert_null(match_label(labels, 1, zone));
	assert_null(match_label(NULL, 0, zone));
}

/* Found by halving. */
static void test_many_labels(void **state)
{
	enum { MANY = 300 };
	static char keys[MANY][8];
	struct label labels[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%03d", i);
		labels[i] = (struct label){ keys[i], keys[i] };
	}
	for (size_t n = 1; n <= MANY; n++) {
		assert_ptr_equal(match_label(labels, n, keys[0]), keys[0]);
		assert_ptr_equal(match_label(labels, n, keys[n / 3]), keys[n / 3]);
		assert_ptr_equal(match_label(labels, n, keys[n - 1]), keys[n - 1]);
		assert_null(match_label(labels, n, a));
		assert_null(match_label(labels, n, zone));
	}
}

static void test_expressions(void **state)
{
	static const struct {
		enum match_op op;
		const char *wanted[2], *value;
		bool holds;
	} rows[] = {
		{ MATCH_IN, { b, a }, a, true },
		{ MATCH_IN, { b }, a, false },
		{ MATCH_IN, { NULL }, a, false },
		{ MATCH_IN, { a }, NULL, false },
		{ MATCH_NOT_IN, { a }, a, false },
		{ MATCH_NOT_IN, { b }, a, true },
		{ MATCH_NOT_IN, { a }, NULL, true },
		{ MATCH_EXISTS, { NULL }, none, true },
		{ MATCH_EXISTS, { NULL }, NULL, false },
		{ MATCH_NOT_EXISTS, { NULL }, a, false },
		{ MATCH_NOT_EXISTS, { NULL }, NULL, true },
		{ MATCH_GT, { "9" }, ten, true },
		{ MATCH_GT, { "10" }, ten, false },
		{ MATCH_GT, { "9", "8" }, ten, false }, /* one number only */
		{ MATCH_GT, { "nine" }, ten, false },
		{ MATCH_GT, { "9" }, a, false },
		{ MATCH_GT, { "9" }, NULL, false },
		{ MATCH_LT, { "11" }, ten, true },
		{ MATCH_LT, { "10" }, ten, false },
		{ MATCH_LT, { "11" }, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *values[2] = { rows[i].wanted[0], rows[i].wanted[1] };
		const struct match_expr e = {
			.key = zone,
			.op = rows[i].op,
			.values = values,
			.nvalues = values[0] == NULL   ? 0
				   : values[1] == NULL ? 1
						       : 2,
		};

		unit_row_number(i);
		assert_int_equal(match_expr_holds(&e, rows[i].value), rows[i].holds);
	}
}

/* Sorted, as classes keep them: found by halving. */
static void test_many_values(void **state)
{
	static const char *const texts[] = { "a0", "a1", "a2", "a3", "a4", "a5",
					     "a6", "a7", "a8", "a9", "b" };
	const char *values[ARRAY_LEN(texts)];
	struct match_expr e = { .op = MATCH_IN, .values = values, .nvalues = ARRAY_LEN(texts) };

	(void)state;
	memcpy(values, texts, sizeof(values));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		unit_row_number(i);
		assert_true(match_expr_holds(&e, texts[i]));
	}
	assert_false(match_expr_holds(&e, a));
	assert_false(match_expr_holds(&e, "a55"));
	assert_false(match_expr_holds(&e, zone));
	e.op = MATCH_NOT_IN;
	assert_true(match_expr_holds(&e, zone));
	assert_false(match_expr_holds(&e, texts[10]));
}

static void test_field_is_compared_by_text(void **state)
{
	const char same_text[] = "a";
	const char *values[] = { same_text };
	struct match_expr e = { .op = MATCH_IN, .values = values, .nvalues = 1 };

	(void)state;
	assert_false(match_expr_holds(&e, a));
	e.on_field = true;
	assert_true(match_expr_holds(&e, a));
}

static void test_tolerations(void **state)
{
	static const struct taint taint = { dedicated, a, TAINT_NO_SCHEDULE };
	static const struct {
		const char *name;
		struct toleration t;
		bool tolerated;
	} rows[] = {
		{ "equal", { dedicated, a, false, false, TAINT_NO_SCHEDULE }, true },
		{ "every effect", { dedicated, a, false, true, 0 }, true },
		{ "another value", { dedicated, b, false, true, 0 }, false },
		{ "every value", { dedicated, none, true, true, 0 }, true },
		{ "another effect", { dedicated, a, false, false, TAINT_NO_EXECUTE }, false },
		{ "another key", { zone, a, false, true, 0 }, false },
		{ "every key", { NULL, none, true, true, 0 }, true },
		{ "every key needs Exists", { NULL, none, false, true, 0 }, false },
	};
	struct toleration both[2] = { rows[2].t, rows[0].t };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_int_equal(match_tolerates(&rows[i].t, 1, &taint), rows[i].tolerated);
	}
	assert_true(match_tolerates(both, 2, &taint)); /* one of them is enough */
	assert_false(match_tolerates(both, 1, &taint));
	assert_false(match_tolerates(NULL, 0, &taint));
}

static void test_empty_values_are_equal(void **state)
{
	static const struct taint taint = { dedicated, NULL, TAINT_NO_SCHEDULE };
	static const struct toleration t = { dedicated, none, false, true, 0 };

	(void)state;
	assert_true(match_tolerates(&t, 1, &taint));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label),
		cmocka_unit_test(test_many_labels),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_field_is_compared_by_text),
		cmocka_unit_test(test_tolerations),
		cmocka_unit_test(test_empty_values_are_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
