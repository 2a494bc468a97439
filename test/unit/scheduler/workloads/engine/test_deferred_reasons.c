#include "scheduler/workloads/engine/deferred_reasons.h"

#include <stdio.h>

#include "base/clock.h"
#include "lib/unit.h"
#include "scheduler/workloads/model/quota_store.h"

#define AFTER DEFERRED_REASONS_AFTER_NS

struct fixture {
	struct quota *q;
	struct deferred_reasons *x;
};

static struct workload *add(struct fixture *f, const char *key, const char *uid)
{
	struct workload *w = quota_workload_add(f->q, str_of(key));

	w->object.uid = quota_name(f->q, str_of(uid));
	return w;
}

static void begin(struct fixture *f)
{
	f->q = quota_create();
	f->x = deferred_reasons_create();
}

static void end(struct fixture *f)
{
	deferred_reasons_destroy(f->x);
	quota_destroy(f->q);
}

static void put(struct fixture *f, const struct workload *w, const char *message, int64_t now)
{
	struct admission_decision d = { .kind = QUOTA_DECIDE_PENDING,
					.workload = w->id,
					.node = 7,
					.reason = QUOTA_WAITING_FOR_QUOTA,
					.message = message };

	deferred_reasons_put(f->x, w, &d, now);
}

static void assert_next(struct fixture *f, const struct workload *w, const char *message,
			int64_t now)
{
	struct admission_decision d;

	assert_true(deferred_reasons_next(f->x, f->q, false, now, &d));
	assert_int_equal(d.kind, QUOTA_DECIDE_PENDING);
	assert_int_equal(d.workload, w->id);
	assert_int_equal(d.node, 7);
	assert_int_equal(d.reason, QUOTA_WAITING_FOR_QUOTA);
	assert_string_equal(d.message, message);
}

static void assert_none(struct fixture *f, int64_t now)
{
	struct admission_decision d;

	assert_false(deferred_reasons_next(f->x, f->q, false, now, &d));
}

static void the_latest_of_each_in_order(void **state)
{
	struct fixture f;
	struct workload *a, *b;

	(void)state;
	begin(&f);
	a = add(&f, "ns/a", "1");
	b = add(&f, "ns/b", "2");
	assert_int_equal(deferred_reasons_due(f.x, false), CLOCK_NEVER);
	put(&f, a, "first", 0);
	put(&f, b, "other", 1);
	put(&f, a, "second", 2);
	assert_int_equal(deferred_reasons_due(f.x, false), AFTER);
	assert_none(&f, AFTER - 1);
	assert_next(&f, a, "second", AFTER);
	assert_none(&f, AFTER);
	assert_next(&f, b, "other", AFTER + 1);
	assert_int_equal(deferred_reasons_due(f.x, false), CLOCK_NEVER);
	end(&f);
}

static void nothing_of_those_who_wait_no_more(void **state)
{
	struct fixture f;
	struct workload *a, *b;

	(void)state;
	begin(&f);
	a = add(&f, "ns/a", "1");
	b = add(&f, "ns/b", "2");
	deferred_reasons_drop(f.x, a);
	put(&f, a, "one", 0);
	put(&f, b, "two", 0);
	deferred_reasons_drop(f.x, a);
	quota_workload_remove(f.q, b);
	assert_none(&f, AFTER);
	assert_int_equal(deferred_reasons_due(f.x, false), CLOCK_NEVER);
	end(&f);
}

/* Ids are given again. */
static void nothing_to_a_namesake(void **state)
{
	struct fixture f;
	struct workload *a;
	uint32_t id;

	(void)state;
	begin(&f);
	a = add(&f, "ns/a", "1");
	id = a->id;
	put(&f, a, "one", 0);
	quota_workload_remove(f.q, a);
	a = add(&f, "ns/a", "2");
	assert_int_equal(a->id, id);
	assert_none(&f, AFTER);
	put(&f, a, "one", 0);
	quota_workload_remove(f.q, a);
	a = add(&f, "ns/a", "3");
	put(&f, a, "three", 5);
	assert_none(&f, AFTER);
	assert_next(&f, a, "three", AFTER + 5);
	end(&f);
}

static void so_many_in_a_second(void **state)
{
	struct fixture f;
	struct admission_decision d;
	int64_t due;

	(void)state;
	begin(&f);
	for (unsigned i = 0; i < DEFERRED_REASONS_BURST + 3; i++) {
		char key[32];

		snprintf(key, sizeof(key), "ns/%u", i);
		put(&f, add(&f, key, key), "x", 0);
	}
	for (unsigned i = 0; i < DEFERRED_REASONS_BURST; i++) {
		assert_true(deferred_reasons_next(f.x, f.q, false, AFTER, &d));
	}
	assert_none(&f, AFTER);
	due = deferred_reasons_due(f.x, false);
	assert_in_range(due, AFTER + CLOCK_NS_PER_S / DEFERRED_REASONS_PER_S,
			AFTER + CLOCK_NS_PER_S / DEFERRED_REASONS_PER_S + CLOCK_NS_PER_MS);
	assert_true(deferred_reasons_next(f.x, f.q, false, due, &d));
	/* While others write, fewer. */
	assert_false(deferred_reasons_next(f.x, f.q, true, due + CLOCK_NS_PER_S / 2, &d));
	assert_true(deferred_reasons_due(f.x, true) > due + CLOCK_NS_PER_S / 2);
	assert_true(deferred_reasons_next(
		f.x, f.q, true,
		due + CLOCK_NS_PER_S / DEFERRED_REASONS_BUSY_PER_S + CLOCK_NS_PER_MS, &d));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_of_each_in_order),
		cmocka_unit_test(nothing_of_those_who_wait_no_more),
		cmocka_unit_test(nothing_to_a_namesake),
		cmocka_unit_test(so_many_in_a_second),
	};

	return cmocka_run_group_tests_name("workloads/engine/deferred_reasons", tests, NULL, NULL);
}
