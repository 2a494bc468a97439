/* The rules by which preemption gates are opened, on the same traces of Jobs (bench_trace prints
 * the figures; docs/multikueue.md has them). Only what holds for every trace is checked, no figure
 * that another order of requests may change. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/multikueue/fleet_shapes.h"
#include "lib/multikueue/fleet_trace.h"
#include "process/log.h"

static void check(const struct fleet_trace *t, enum fleet_trace_rule rule,
		  const struct fleet_trace_result *r, const struct fleet_trace_result *no_gates)
{
	if (r->ran != r->managed || r->twice > 0) {
		fail_msg("%s, %s: of %u Jobs %u ran to their end, %u on two workers at once",
			 t->name, fleet_trace_rule_name(rule), r->managed, r->ran, r->twice);
	}
	if (r->in_vain > no_gates->in_vain) {
		fail_msg("%s, %s: %u evictions in vain, without gates %u", t->name,
			 fleet_trace_rule_name(rule), r->in_vain, no_gates->in_vain);
	}
}

static void test_rules(void **state UNUSED)
{
	static const enum fleet_trace_rule gated[] = { FLEET_TRACE_COMPAT, FLEET_TRACE_COST };
	struct fleet_trace t;
	unsigned without = 0, with = 0;

	for (size_t i = 0; fleet_shapes_get(i, &t); i++) {
		struct fleet_trace_result none, r;

		fleet_trace_play(&t, FLEET_TRACE_NO_GATES, &none);
		check(&t, FLEET_TRACE_NO_GATES, &none, &none);
		for (size_t k = 0; k < ARRAY_LEN(gated); k++) {
			fleet_trace_play(&t, gated[k], &r);
			check(&t, gated[k], &r, &none);
		}
		without += none.in_vain;
		with += r.in_vain;
	}
	assert_true(without > 0); /* or there was nothing to prevent */
	assert_true(with < without);
}

/* A trace is played the same way each time. */
static void test_same(void **state UNUSED)
{
	struct fleet_trace t;
	struct fleet_trace_result a, b;

	assert_true(fleet_shapes_get(1, &t));
	fleet_trace_play(&t, FLEET_TRACE_COST, &a);
	fleet_trace_play(&t, FLEET_TRACE_COST, &b);
	assert_memory_equal(&a, &b, sizeof(a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_same),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
