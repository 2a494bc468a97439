#include "scheduler/workloads/preempt/victim_set.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

struct fixture {
	struct quota_world w;
	struct victims_fixture v;
	struct arena *arena;
	struct victim_set t;
	struct candidate c[4];
};

static void setup(struct fixture *f, const char *need)
{
	static const char *const names[] = { "v1", "v2", "v3", "v4" };

	quota_world_init(&f->w, "cohort c\n"
				"queue a cohort=c within=LowerPriority\n"
				"queue b cohort=c\n"
				"quota a default cpu nominal=4\n"
				"quota b default cpu nominal=4\n"
				"workload ns/v1 queue=a cpu=1 holds=default\n"
				"workload ns/v2 queue=a cpu=2 holds=default\n"
				"workload ns/v3 queue=a cpu=1 holds=default\n"
				"workload ns/v4 queue=b cpu=4 holds=default\n"
				"workload ns/p queue=a cpu=2 prio=1\n");
	victims_fixture_init(&f->v, &f->w, "p", need);
	f->arena = arena_create(0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		candidates_describe(&f->v.r, quota_world_workload(&f->w, names[i]), &f->c[i]);
	}
	victim_set_begin(&f->t, &f->v.r, f->arena);
}

static void teardown(struct fixture *f)
{
	arena_destroy(f->arena);
	victims_fixture_finish(&f->v);
	quota_world_finish(&f->w);
}

static void test_victims_make_room_until_the_end(void **state)
{
	CLEANUP(teardown) struct fixture f;
	uint64_t before;

	(void)state;
	setup(&f, "default/cpu=2");
	before = victims_fixture_usage(&f.w);
	assert_false(victim_set_fits(&f.t, true));
	victim_set_add(&f.t, &f.c[0]);
	assert_false(victim_set_fits(&f.t, true));
	victim_set_add(&f.t, &f.c[2]);
	assert_true(victim_set_fits(&f.t, true));
	assert_true(victims_fixture_usage(&f.w) != before);
	victim_set_end(&f.t);
	assert_true(victims_fixture_usage(&f.w) == before);
	assert_int_equal(f.t.taken.n, 2);
}

static void test_without_borrowing_the_own_quota_is_the_bound(void **state)
{
	CLEANUP(teardown) struct fixture f;

	(void)state;
	setup(&f, "default/cpu=2");
	victim_set_add(&f.t, &f.c[3]);
	assert_true(victim_set_fits(&f.t, true));
	assert_false(victim_set_fits(&f.t, false));
	victim_set_add(&f.t, &f.c[1]);
	assert_true(victim_set_fits(&f.t, false));
	victim_set_end(&f.t);
}

static void test_taking_back(void **state)
{
	CLEANUP(teardown) struct fixture f;
	uint64_t before;
	size_t mark;

	(void)state;
	setup(&f, "default/cpu=2");
	victim_set_add(&f.t, &f.c[0]);
	before = victims_fixture_usage(&f.w);
	mark = forest_mark(f.w.f);
	victim_set_add(&f.t, &f.c[1]);
	victim_set_undo(&f.t, mark);
	assert_true(victims_fixture_usage(&f.w) == before);
	assert_int_equal(f.t.taken.n, 1);
	assert_ptr_equal(f.t.taken.v[0], &f.c[0]);
	victim_set_end(&f.t);
}

/* Fit is not computed again before the victims free the missing amount; victims that are given back
 * do not count. */
static void test_the_missing_amount(void **state)
{
	CLEANUP(teardown) struct fixture f;
	size_t mark;

	(void)state;
	setup(&f, "default/cpu=3");
	assert_true(victim_set_may_fit(&f.t));
	assert_false(victim_set_fits(&f.t, true));
	assert_false(victim_set_may_fit(&f.t)); /* 3 */
	victim_set_add(&f.t, &f.c[0]);
	assert_false(victim_set_may_fit(&f.t)); /* 2 */
	mark = forest_mark(f.w.f);
	victim_set_add(&f.t, &f.c[1]);
	assert_true(victim_set_may_fit(&f.t));
	victim_set_undo(&f.t, mark);
	assert_false(victim_set_may_fit(&f.t));
	mark = forest_mark(f.w.f);
	victim_set_add(&f.t, &f.c[2]);
	assert_false(victim_set_fits(&f.t, true)); /* 1 */
	victim_set_undo(&f.t, mark);
	victim_set_add(&f.t, &f.c[1]);
	assert_true(victim_set_fits(&f.t, true));
	victim_set_end(&f.t);
}

/* The victims that remain keep their order, and their usage stays removed until the end. */
static void test_filling_back(void **state)
{
	CLEANUP(teardown) struct fixture f;
	struct victims found;

	(void)state;
	setup(&f, "default/cpu=3");
	for (size_t i = 0; i < 3; i++) {
		victim_set_add(&f.t, &f.c[i]);
	}
	assert_true(victim_set_fill_back(&f.t, true));
	assert_true(victim_set_fits(&f.t, true));
	victim_set_end(&f.t);
	victim_set_result(&f.t, &found);
	assert_int_equal(found.n, 2);
	assert_int_equal(found.v[0].workload, f.c[1].w->id);
	assert_int_equal(found.v[1].workload, f.c[2].w->id);
}

static void test_one_alone_is_needed(void **state)
{
	CLEANUP(teardown) struct fixture f;

	(void)state;
	setup(&f, "default/cpu=2");
	victim_set_add(&f.t, &f.c[1]);
	assert_false(victim_set_fill_back(&f.t, true));
	assert_int_equal(f.t.taken.n, 1);
	victim_set_end(&f.t);
}

static void test_hope(void **state)
{
	static const struct {
		const char *need;
		size_t ncandidates;
		bool hope;
	} table[] = {
		{ "default/cpu=1", 0, false }, { "default/cpu=1", 1, true },
		{ "default/cpu=2", 1, false }, { "default/cpu=4", 3, true },
		{ "default/cpu=5", 3, false }, { "default/cpu=8", 4, true },
		{ "default/cpu=9", 4, false }, { "default/cpu=0", 1, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		CLEANUP(teardown) struct fixture f;
		struct candidates all = { 0 };

		unit_row(table[i].need);
		setup(&f, table[i].need);
		for (size_t k = 0; k < table[i].ncandidates; k++) {
			candidates_push(&all, &f.c[k], f.arena);
		}
		assert_true(victim_set_could_fit(&f.v.r, &all) == table[i].hope);
		victim_set_end(&f.t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_victims_make_room_until_the_end),
		cmocka_unit_test(test_without_borrowing_the_own_quota_is_the_bound),
		cmocka_unit_test(test_taking_back),
		cmocka_unit_test(test_the_missing_amount),
		cmocka_unit_test(test_filling_back),
		cmocka_unit_test(test_one_alone_is_needed),
		cmocka_unit_test(test_hope),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
