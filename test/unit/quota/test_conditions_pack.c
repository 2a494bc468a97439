#include "quota/conditions_pack.h"

#include "base/arena.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "quota/conditions_copy.h"

/* A status with something of everything, its texts in an arena that goes. */
static struct conditions make(struct arena *arena)
{
	static struct conditions_usage usage[2] = { { 1, "f", 5 }, { 2, NULL, 6 } };
	struct conditions c = { .arena = arena,
				.has_admission = true,
				.queue = arena_dup(arena, "q"),
				.cluster = arena_dup(arena, "remote"),
				.generation = 7 };
	struct condition one = { "A", "True", "R", "m", 10, 1 },
			 two = { "B", "False", "S", "", 0, 0 };
	struct conditions_check check = { .name = "c", .message = "x", .retries = 3 };
	struct conditions_gate gate = { "g", true, 1 };
	struct conditions_eviction eviction = { "Preempted", "", 4 };
	struct conditions_podset p = { "main", 2, usage, 2 }, none = { "none", 1, NULL, 0 };

	vec_push(&c.list, one);
	vec_push(&c.list, two);
	vec_push(&c.checks, check);
	vec_push(&c.gates, gate);
	vec_push(&c.evictions, eviction);
	vec_push(&c.podsets, p);
	vec_push(&c.podsets, none);
	vec_push(&c.requests, p);
	vec_push(&c.nominated, "n1");
	vec_push(&c.nominated, "n2");
	vec_push(&c.unhealthy, "node");
	c.has_requeue_count = c.has_requeue_at = c.has_past_seconds = true;
	c.requeue_count = 1;
	c.requeue_at = 2;
	c.past_seconds = 3;
	return c;
}

static void all_of_it_in_one_block(void **state)
{
	struct arena *first = arena_create(0), *second = arena_create(0);
	struct conditions a = make(first), copy = conditions_copy_make(&a, second);
	CLEANUP(xmalloc_freep) struct conditions *packed = conditions_pack_all(&copy);

	(void)state;
	conditions_finish(&copy);
	arena_destroy(second);
	assert_true(conditions_copy_same(&a, packed));
	assert_int_equal(packed->list.v[0].at, 10);
	assert_int_equal(packed->generation, 7);
	assert_string_equal(packed->podsets.v[0].v[0].flavor, "f");
	assert_null(packed->podsets.v[0].v[1].flavor);
	assert_string_equal(packed->podsets.v[1].name, "none");
	assert_string_equal(packed->unhealthy.v[0], "node");
	/* From one that is packed already. */
	second = arena_create(0);
	copy = conditions_copy_make(packed, second);
	assert_true(conditions_copy_same(&a, &copy));
	conditions_finish(&copy);
	arena_destroy(second);
	conditions_finish(&a);
	arena_destroy(first);
}

static void nothing_takes_nothing(void **state)
{
	const struct conditions none = { .generation = 1 };
	CLEANUP(xmalloc_freep) struct conditions *packed = conditions_pack_all(&none);

	(void)state;
	assert_true(conditions_copy_same(&none, packed));
	assert_null(packed->queue);
	assert_null(packed->cluster);
}

static void one_condition_alone(void **state)
{
	struct arena *arena = arena_create(0);
	struct conditions a = make(arena);
	CLEANUP(xmalloc_freep) struct conditions *packed = conditions_pack_one(&a, "A");
	CLEANUP(xmalloc_freep) struct conditions *none = conditions_pack_one(&a, "C");

	(void)state;
	assert_int_equal(none->list.n, 0);
	conditions_finish(&a);
	arena_destroy(arena);
	assert_int_equal(packed->list.n, 1);
	assert_true(conditions_is_true(packed, "A"));
	assert_string_equal(packed->list.v[0].reason, "R");
	assert_string_equal(packed->list.v[0].message, "");
	assert_int_equal(packed->list.v[0].at, 10);
	assert_int_equal(packed->evictions.n, 0);
	assert_false(packed->has_admission);
	assert_int_equal(packed->podsets.n + packed->requests.n + packed->checks.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_in_one_block),
		cmocka_unit_test(nothing_takes_nothing),
		cmocka_unit_test(one_condition_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
