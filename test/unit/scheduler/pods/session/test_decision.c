#include "scheduler/pods/session/decision.h"

#include <string.h>

#include "base/str.h"
#include "lib/unit.h"

static void a_new_decision_means_nothing_yet(void **state)
{
	struct decisions list = { .v = NULL };

	(void)state;
	for (int i = 0; i < 100; i++) {
		struct decision *d = decision_add(&list, DECISION_BIND);

		assert_int_equal(d->kind, DECISION_BIND);
		assert_int_equal(d->task, MODEL_NONE);
		assert_int_equal(d->podgroup, MODEL_NONE);
		assert_int_equal(d->queue, MODEL_NONE);
		assert_int_equal(d->node, MODEL_NONE);
		assert_true(d->retry_at == MODEL_TIME_NONE);
		assert_null(d->reason);
		assert_false(d->uncharged);
		d->task = 7;
		d->reason = "x";
	}
	assert_int_equal(list.n, 100);
	/* A place that is used again starts afresh. */
	list.n = 0;
	assert_int_equal(decision_add(&list, DECISION_EVENT)->task, MODEL_NONE);
	decision_finish(&list);
	assert_null(list.v);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_decision_means_nothing_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
