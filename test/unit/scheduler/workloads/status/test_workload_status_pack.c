#include "scheduler/workloads/status/workload_status_pack.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/unit.h"
#include "scheduler/workloads/status/workload_status_same.h"

/* A status with every kind of entry, with texts in an arena that is freed. */
static struct workload_status make(struct arena *arena)
{
	static struct workload_status_usage usage[2] = { { 1, "f", 5 }, { 2, NULL, 6 } };
	struct workload_status status = { .arena = arena,
					  .has_admission = true,
					  .queue = arena_dup(arena, "q"),
					  .cluster = arena_dup(arena, "remote"),
					  .generation = 7 };
	struct condition one = { "A", "True", "R", "m", 10, INT64_MIN },
			 two = { "B", "False", "S", "", 0, 0 };
	struct workload_status_check check = { "c",       "x", QUOTA_CHECK_RETRY,
					       INT64_MAX, 3,   INT32_MIN,
					       true,      true };
	struct workload_status_gate gate = {
		.name = "g", .open = true, .disagrees = true, .fields = 3, .at = 1
	};
	struct workload_status_eviction eviction = { "Preempted", "", 4 };
	struct workload_status_podset p = { "main", 2, usage, 2 }, none = { "none", 1, NULL, 0 };

	vec_push(&status.conditions, one);
	vec_push(&status.conditions, two);
	vec_push(&status.checks, check);
	vec_push(&status.gates, gate);
	vec_push(&status.evictions, eviction);
	vec_push(&status.podsets, p);
	vec_push(&status.podsets, none);
	vec_push(&status.requests, p);
	vec_push(&status.nominated, "n1");
	vec_push(&status.nominated, "n2");
	vec_push(&status.unhealthy, "node");
	status.has_requeue_count = status.has_requeue_at = status.has_past_seconds = true;
	status.requeue_count = 1;
	status.requeue_at = 2;
	status.past_seconds = 3;
	return status;
}

static void expect_all(const struct workload_status *status)
{
	const struct workload_status_check *check = &status->checks.v[0];

	assert_int_equal(status->conditions.v[0].at, 10);
	assert_int_equal(status->conditions.v[0].generation, INT64_MIN);
	assert_int_equal(status->conditions.v[1].generation, 0);
	assert_int_equal(check->at, INT64_MAX);
	assert_int_equal(check->requeue_after, INT32_MIN);
	assert_true(check->has_updates && check->drops_updates);
	assert_int_equal(status->gates.v[0].at, 1);
	assert_int_equal(status->gates.v[0].fields, 3);
	assert_true(status->gates.v[0].open && status->gates.v[0].disagrees);
	assert_int_equal(status->generation, 7);
	assert_int_equal(status->podsets.v[0].v[1].resource, 2);
	assert_string_equal(status->podsets.v[0].v[0].flavor, "f");
	assert_null(status->podsets.v[0].v[1].flavor);
	assert_string_equal(status->podsets.v[1].name, "none");
	assert_string_equal(status->requests.v[0].name, "main");
	assert_string_equal(status->unhealthy.v[0], "node");
}

static void all_of_it_comes_back(void **state)
{
	struct arena *first = arena_create(0);
	struct workload_status a = make(first), back = { .arena = arena_create(0) };
	CLEANUP(xmalloc_freep) struct workload_status_pack *packed = workload_status_pack_make(&a);
	CLEANUP(xmalloc_freep) struct workload_status_pack *again = NULL;

	(void)state;
	workload_status_pack_read(packed, &back);
	assert_true(workload_status_same(&a, &back));
	workload_status_finish(&a);
	arena_destroy(first);
	expect_all(&back);
	/* Once more, from texts in the first block, into what is in use. */
	again = workload_status_pack_make(&back);
	workload_status_pack_read(again, &back);
	expect_all(&back);
	workload_status_finish(&back);
	arena_destroy(back.arena);
}

static void reading_replaces_all_conditions(void **state)
{
	const struct workload_status none = { .generation = 1 };
	struct workload_status to = { .arena = arena_create(0) };
	struct workload_status all = make(to.arena);
	CLEANUP(xmalloc_freep) struct workload_status_pack *full = workload_status_pack_make(&all);
	CLEANUP(xmalloc_freep)
	struct workload_status_pack *empty = workload_status_pack_make(&none);

	(void)state;
	workload_status_finish(&all);
	workload_status_pack_read(full, &to);
	assert_int_equal(to.conditions.n, 2);
	workload_status_pack_read(empty, &to);
	assert_true(workload_status_same(&none, &to));
	assert_int_equal(to.generation, 1);
	assert_null(to.queue);
	assert_null(to.cluster);
	workload_status_finish(&to);
	arena_destroy(to.arena);
}

/* Around every number of bytes that a number and the length of a text may take. */
static void numbers_and_texts_of_all_lengths(void **state)
{
	struct workload_status to = { .arena = arena_create(0) };
	char text[300];

	(void)state;
	for (int bit = 0; bit < 64; bit++) {
		const int64_t around[] = { (int64_t)(UINT64_C(1) << bit),
					   (int64_t)((UINT64_C(1) << bit) - 1),
					   (int64_t) - (UINT64_C(1) << bit) };

		for (size_t i = 0; i < ARRAY_LEN(around); i++) {
			const struct workload_status from = { .generation = around[i] };
			CLEANUP(xmalloc_freep)
			struct workload_status_pack *packed = workload_status_pack_make(&from);

			unit_row_number(i);
			workload_status_pack_read(packed, &to);
			assert_int_equal(to.generation, around[i]);
		}
	}
	memset(text, 'x', sizeof(text));
	for (size_t len = sizeof(text); len-- > 0;) {
		const struct workload_status from = { .queue = text, .cluster = "behind" };
		CLEANUP(xmalloc_freep) struct workload_status_pack *packed = NULL;

		text[len] = '\0';
		packed = workload_status_pack_make(&from);
		workload_status_pack_read(packed, &to);
		assert_string_equal(to.queue, text);
		assert_string_equal(to.cluster, "behind");
	}
	workload_status_finish(&to);
	arena_destroy(to.arena);
}

static void one_condition_alone(void **state)
{
	struct arena *arena = arena_create(0);
	struct workload_status a = make(arena), to = { .arena = arena_create(0) };
	CLEANUP(xmalloc_freep)
	struct workload_status_pack *packed = workload_status_pack_one(&a, "A");
	CLEANUP(xmalloc_freep)
	struct workload_status_pack *none = workload_status_pack_one(&a, "C");

	(void)state;
	workload_status_finish(&a);
	arena_destroy(arena);
	workload_status_pack_read(none, &to);
	assert_int_equal(to.conditions.n, 0);
	workload_status_pack_read(packed, &to);
	assert_int_equal(to.conditions.n, 1);
	assert_true(workload_status_is_true(&to, "A"));
	assert_string_equal(to.conditions.v[0].reason, "R");
	assert_string_equal(to.conditions.v[0].message, "");
	assert_int_equal(to.conditions.v[0].at, 10);
	assert_int_equal(to.evictions.n, 0);
	assert_false(to.has_admission);
	assert_int_equal(to.podsets.n + to.requests.n + to.checks.n, 0);
	workload_status_finish(&to);
	arena_destroy(to.arena);
}

static void count_resource(void *ctx, uint32_t resource)
{
	unsigned *seen = ctx;

	assert_in_range(resource, 0, 2);
	seen[resource]++;
}

static void its_resources(void **state)
{
	const struct workload_status none = { .generation = 1 };
	struct arena *arena = arena_create(0);
	struct workload_status all = make(arena);
	CLEANUP(xmalloc_freep) struct workload_status_pack *full = workload_status_pack_make(&all);
	CLEANUP(xmalloc_freep)
	struct workload_status_pack *empty = workload_status_pack_make(&none);
	unsigned seen[3] = { 0 };

	(void)state;
	workload_status_finish(&all);
	arena_destroy(arena);
	workload_status_pack_resources(empty, count_resource, seen);
	assert_int_equal(seen[0] + seen[1] + seen[2], 0);
	workload_status_pack_resources(full, count_resource, seen);
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[1], 2); /* of the admission, and of the requests */
	assert_int_equal(seen[2], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_comes_back),
		cmocka_unit_test(reading_replaces_all_conditions),
		cmocka_unit_test(numbers_and_texts_of_all_lengths),
		cmocka_unit_test(one_condition_alone),
		cmocka_unit_test(its_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
