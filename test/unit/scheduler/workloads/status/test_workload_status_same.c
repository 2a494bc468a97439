#include "scheduler/workloads/status/workload_status_same.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/unit.h"

/* A status with every kind of entry. */
static struct workload_status make(struct arena *arena)
{
	static struct workload_status_usage usage[2] = { { 1, "f", 5 }, { 2, "g", 6 } };
	struct workload_status status = { .arena = arena, .has_admission = true, .queue = "q" };
	struct condition one = { "A", "True", "R", "m", 10, 1 };
	struct workload_status_check check = { .name = "c", .message = "x" };
	struct workload_status_gate gate = { .name = "g", .open = true, .at = 1 };
	struct workload_status_eviction eviction = { "Preempted", "", 1 };
	struct workload_status_podset p = { "main", 2, usage, 2 };

	vec_push(&status.conditions, one);
	vec_push(&status.checks, check);
	vec_push(&status.gates, gate);
	vec_push(&status.evictions, eviction);
	vec_push(&status.podsets, p);
	vec_push(&status.requests, p);
	status.has_requeue_count = status.has_requeue_at = status.has_past_seconds = true;
	return status;
}

static void the_same(void **state)
{
	struct arena *arena = arena_create(0);
	struct workload_status a = make(arena), b = make(arena);

	(void)state;
	assert_true(workload_status_same(&a, &b));
	workload_status_finish(&a);
	workload_status_finish(&b);
	arena_destroy(arena);
}

static void of_conditions(struct workload_status *status, int what)
{
	struct condition more = { "B", "True", "R", "m", 10, 1 };

	switch (what) {
	case 0:
		status->conditions.v[0].status = "False";
		break;
	case 1:
		status->conditions.v[0].reason = "S";
		break;
	case 2:
		status->conditions.v[0].message = "n";
		break;
	default:
		vec_push(&status->conditions, more);
	}
}

static void of_lists(struct workload_status *status, int what)
{
	switch (what) {
	case 0:
		status->checks.v[0].state = QUOTA_CHECK_READY;
		break;
	case 1:
		status->checks.v[0].message = "y";
		break;
	case 2:
		status->gates.v[0].open = false;
		break;
	default:
		status->evictions.v[0].count = 2;
	}
}

static void of_admission(struct workload_status *status, int what)
{
	static struct workload_status_usage flavor[2] = { { 1, "f", 5 }, { 2, "h", 6 } };
	static struct workload_status_usage amount[2] = { { 1, "f", 5 }, { 2, "g", 7 } };

	switch (what) {
	case 0:
		status->queue = "p";
		break;
	case 1:
		status->podsets.v[0].count = 1;
		break;
	case 2:
		status->podsets.v[0].v = flavor;
		break;
	default:
		status->requests.v[0].v = amount;
	}
}

static void of_requeue(struct workload_status *status, int what)
{
	switch (what) {
	case 0:
		status->requeue_count = 1;
		break;
	case 1:
		status->requeue_at = 1;
		break;
	case 2:
		status->past_seconds = 1;
		break;
	default:
		status->has_past_seconds = false;
	}
}

static void every_change_is_seen(void **state)
{
	static void (*const changes[])(struct workload_status *,
				       int) = { of_conditions, of_lists, of_admission, of_requeue };

	(void)state;
	for (int i = 0; i < 16; i++) {
		struct arena *arena = arena_create(0);
		struct workload_status a = make(arena), b = make(arena);

		changes[i / 4](&b, i % 4);
		assert_false(workload_status_same(&a, &b));
		assert_false(workload_status_same(&b, &a));
		workload_status_finish(&a);
		workload_status_finish(&b);
		arena_destroy(arena);
	}
}

static void times_and_generations_are_no_change(void **state)
{
	struct arena *arena = arena_create(0);
	struct workload_status a = make(arena), b = make(arena);

	(void)state;
	b.conditions.v[0].at = 99;
	b.conditions.v[0].generation = 9;
	b.generation = 9;
	assert_true(workload_status_same(&a, &b));
	workload_status_finish(&a);
	workload_status_finish(&b);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same),
		cmocka_unit_test(every_change_is_seen),
		cmocka_unit_test(times_and_generations_are_no_change),
	};

	return cmocka_run_group_tests_name("workloads/status/workload_status_same", tests, NULL,
					   NULL);
}
