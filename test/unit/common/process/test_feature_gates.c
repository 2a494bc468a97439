#include "process/feature_gates.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/err.h"

static void test_values(void **state)
{
	static const struct {
		const char *text;
		bool on;
		const char *ignored[3];
	} rows[] = {
		{ "", true, { NULL } },
		{ ",", true, { NULL } },
		{ "SchedulingGatesQueueAdmission=false", false, { NULL } },
		{ "SchedulingGatesQueueAdmission=F", false, { NULL } },
		{ "SchedulingGatesQueueAdmission=false,SchedulingGatesQueueAdmission=1",
		  true,
		  { NULL } },
		{ "CSIStorage=true, SchedulingGatesQueueAdmission = false",
		  false,
		  { "CSIStorage", NULL } },
		{ "AllAlpha=false,AllBeta=true", true, { "AllAlpha", "AllBeta", NULL } },
		{ "PodDisruptionBudgetsSupport=true,PodDisruptionBudgetsSupport=false",
		  true,
		  { "PodDisruptionBudgetsSupport", NULL } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct feature_gates g = { .queue_admission = true };
		size_t n = 0;

		unit_row(rows[i].text);
		assert_int_equal(feature_gates_set(&g, rows[i].text, NULL), 0);
		assert_int_equal(g.queue_admission, rows[i].on);
		for (; rows[i].ignored[n] != NULL; n++) {
			assert_string_equal(g.ignored.v[n], rows[i].ignored[n]);
		}
		assert_int_equal(g.ignored.n, n);
	}
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "Nope=true", "unknown feature gate \"Nope\"" },
		{ "=true", "unknown feature gate \"\"" },
		{ "schedulinggatesqueueadmission=true",
		  "unknown feature gate \"schedulinggatesqueueadmission\"" },
		{ "SchedulingGatesQueueAdmission",
		  "SchedulingGatesQueueAdmission is neither true nor false" },
		{ "SchedulingGatesQueueAdmission=",
		  "SchedulingGatesQueueAdmission is neither true nor false" },
		{ "CSIStorage=maybe", "CSIStorage is neither true nor false" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct feature_gates g = { 0 };
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(feature_gates_set(&g, rows[i].text, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].says);
	}
}

static void test_every_gate_is_listed(void **state)
{
	const char *name, *effect = NULL;
	size_t i = 0, with_effect = 0;

	(void)state;
	for (; (name = feature_gates_at(i, &effect)) != NULL; i++) {
		struct feature_gates g = { 0 };
		char text[80];

		snprintf(text, sizeof(text), "%s=true", name);
		assert_int_equal(feature_gates_set(&g, text, NULL), 0);
		assert_int_equal(g.ignored.n, effect == NULL);
		with_effect += effect != NULL;
	}
	assert_int_equal(with_effect, 1);
	assert_true(i > 9);
}

static void test_the_default_is_on(void **state)
{
	struct feature_gates g = { 0 };

	(void)state;
	assert_int_equal(feature_gates_set(&g, FEATURE_GATES_DEFAULT, NULL), 0);
	assert_true(g.queue_admission);
	assert_int_equal(g.ignored.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_every_gate_is_listed),
		cmocka_unit_test(test_the_default_is_on),
	};

	return cmocka_run_group_tests_name("process/feature_gates", tests, NULL, NULL);
}
