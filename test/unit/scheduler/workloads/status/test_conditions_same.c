#include "scheduler/workloads/status/conditions_same.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/unit.h"

/* A status with every kind of entry. */
static struct conditions make(struct arena *arena)
{
	static struct conditions_usage usage[2] = { { 1, "f", 5 }, { 2, "g", 6 } };
	struct conditions c = { .arena = arena, .has_admission = true, .queue = "q" };
	struct condition one = { "A", "True", "R", "m", 10, 1 };
	struct conditions_check check = { .name = "c", .message = "x" };
	struct conditions_gate gate = { "g", true, 1 };
	struct conditions_eviction eviction = { "Preempted", "", 1 };
	struct conditions_podset p = { "main", 2, usage, 2 };

	vec_push(&c.list, one);
	vec_push(&c.checks, check);
	vec_push(&c.gates, gate);
	vec_push(&c.evictions, eviction);
	vec_push(&c.podsets, p);
	vec_push(&c.requests, p);
	c.has_requeue_count = c.has_requeue_at = c.has_past_seconds = true;
	return c;
}

static void the_same(void **state)
{
	struct arena *arena = arena_create(0);
	struct conditions a = make(arena), b = make(arena);

	(void)state;
	assert_true(conditions_same(&a, &b));
	conditions_finish(&a);
	conditions_finish(&b);
	arena_destroy(arena);
}

static void of_conditions(struct conditions *c, int what)
{
	struct condition more = { "B", "True", "R", "m", 10, 1 };

	switch (what) {
	case 0:
		c->list.v[0].status = "False";
		break;
	case 1:
		c->list.v[0].reason = "S";
		break;
	case 2:
		c->list.v[0].message = "n";
		break;
	default:
		vec_push(&c->list, more);
	}
}

static void of_lists(struct conditions *c, int what)
{
	switch (what) {
	case 0:
		c->checks.v[0].state = QUOTA_CHECK_READY;
		break;
	case 1:
		c->checks.v[0].message = "y";
		break;
	case 2:
		c->gates.v[0].open = false;
		break;
	default:
		c->evictions.v[0].count = 2;
	}
}

static void of_admission(struct conditions *c, int what)
{
	static struct conditions_usage flavor[2] = { { 1, "f", 5 }, { 2, "h", 6 } };
	static struct conditions_usage amount[2] = { { 1, "f", 5 }, { 2, "g", 7 } };

	switch (what) {
	case 0:
		c->queue = "p";
		break;
	case 1:
		c->podsets.v[0].count = 1;
		break;
	case 2:
		c->podsets.v[0].v = flavor;
		break;
	default:
		c->requests.v[0].v = amount;
	}
}

static void of_requeue(struct conditions *c, int what)
{
	switch (what) {
	case 0:
		c->requeue_count = 1;
		break;
	case 1:
		c->requeue_at = 1;
		break;
	case 2:
		c->past_seconds = 1;
		break;
	default:
		c->has_past_seconds = false;
	}
}

static void every_change_is_seen(void **state)
{
	static void (*const changes[])(struct conditions *, int) = { of_conditions, of_lists,
								     of_admission, of_requeue };

	(void)state;
	for (int i = 0; i < 16; i++) {
		struct arena *arena = arena_create(0);
		struct conditions a = make(arena), b = make(arena);

		changes[i / 4](&b, i % 4);
		assert_false(conditions_same(&a, &b));
		assert_false(conditions_same(&b, &a));
		conditions_finish(&a);
		conditions_finish(&b);
		arena_destroy(arena);
	}
}

static void times_and_generations_are_no_change(void **state)
{
	struct arena *arena = arena_create(0);
	struct conditions a = make(arena), b = make(arena);

	(void)state;
	b.list.v[0].at = 99;
	b.list.v[0].generation = 9;
	b.generation = 9;
	assert_true(conditions_same(&a, &b));
	conditions_finish(&a);
	conditions_finish(&b);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same),
		cmocka_unit_test(every_change_is_seen),
		cmocka_unit_test(times_and_generations_are_no_change),
	};

	return cmocka_run_group_tests_name("workloads/status/conditions_same", tests, NULL, NULL);
}
