#include "scheduler/workloads/preempt/victims.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

static const enum quota_policy policies[] = { QUOTA_NEVER, QUOTA_LOWER_PRIORITY,
					      QUOTA_LOWER_OR_NEWER_EQUAL, QUOTA_ANY };

static bool is_allowed(const struct quota_model *q, enum quota_policy policy,
		       const struct workload *p, const struct workload *c)
{
	return victims_policy_rule(q, policy, p, c) == PASSED_OVER_NOT;
}

static void test_policies(void **state)
{
	static const struct {
		const char *candidate;
		bool allowed[ARRAY_LEN(policies)];
	} table[] = {
		{ "lower", { false, true, true, true } },
		{ "newer", { false, false, true, true } },
		{ "same", { false, false, false, true } },
		{ "older", { false, false, false, true } },
		{ "higher", { false, false, false, true } },
	};
	CLEANUP(quota_world_finish) struct quota_world w;
	const struct workload *p;

	(void)state;
	quota_world_init(&w, "queue a\n"
			     "quota a default cpu nominal=4\n"
			     "workload ns/p queue=a cpu=1 prio=5 created=-60s\n"
			     "workload ns/lower queue=a cpu=1 prio=4 created=-99s\n"
			     "workload ns/newer queue=a cpu=1 prio=5 created=-59s\n"
			     "workload ns/same queue=a cpu=1 prio=5 created=-60s\n"
			     "workload ns/older queue=a cpu=1 prio=5 created=-61s\n"
			     "workload ns/higher queue=a cpu=1 prio=6 created=-1s\n");
	p = quota_world_workload(&w, "p");
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct workload *c = quota_world_workload(&w, table[i].candidate);

		unit_row(table[i].candidate);
		for (size_t k = 0; k < ARRAY_LEN(policies); k++) {
			assert_true(is_allowed(w.q, policies[k], p, c) == table[i].allowed[k]);
		}
	}
}

/* Whatever workloads cost, LowerOrNewerEqualPriority is a strict order on them: irreflexive,
 * asymmetric and transitive. So there is no circle of preemptions. */
static void test_lower_or_newer_is_a_strict_order(void **state)
{
	struct workload w[24] = { 0 };
	struct quota_model q = { 0 };
	struct rng rng;
	const enum quota_policy policy = QUOTA_LOWER_OR_NEWER_EQUAL;

	(void)state;
	rng_init(&rng, 4);
	q.options.priority_sorting = true;
	for (size_t i = 0; i < ARRAY_LEN(w); i++) {
		w[i].object.priority = (int32_t)rng_below(&rng, 2);
		w[i].object.created = (int64_t)rng_below(&rng, 6);
		w[i].object.has_cost = rng_below(&rng, 2) == 0;
		w[i].object.cost = (__int128)rng_below(&rng, 1000) - 500;
		w[i].flags.evicted_at = w[i].flags.preempted_at = MODEL_TIME_NONE;
	}
	for (size_t a = 0; a < ARRAY_LEN(w); a++) {
		assert_false(is_allowed(&q, policy, &w[a], &w[a]));
		for (size_t b = 0; b < ARRAY_LEN(w); b++) {
			if (!is_allowed(&q, policy, &w[a], &w[b])) {
				continue;
			}
			assert_false(is_allowed(&q, policy, &w[b], &w[a]));
			for (size_t c = 0; c < ARRAY_LEN(w); c++) {
				assert_true(!is_allowed(&q, policy, &w[b], &w[c]) ||
					    is_allowed(&q, policy, &w[a], &w[c]));
			}
		}
	}
}

static const char world[] = "cohort c\n"
			    "queue a cohort=c within=LowerPriority reclaim=Any\n"
			    "queue b cohort=c\n"
			    "quota a default cpu nominal=4\n"
			    "quota b default cpu nominal=4\n"
			    "workload ns/b1 queue=b cpu=6 holds=default reserved=-9s\n"
			    "workload ns/b2 queue=b cpu=1 holds=default reserved=-8s\n"
			    "workload ns/own queue=a cpu=1 prio=-1 holds=default\n"
			    "workload ns/p queue=a cpu=3\n";

/* b2 counts as removed already, so b1 has to go; the other ids do not matter. */
static void test_removed_workloads_are_no_candidates(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	const struct workload *b2;
	uint32_t gone[3];
	struct victims found;
	size_t mark;

	(void)state;
	quota_world_init(&w, world);
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	victims_fixture_expect(&w, "p", "default/cpu=1", "b2:InCohortReclamation");
	victims_fixture_expect(&w, "p", "default/cpu=2", "b1:InCohortReclamation");
	b2 = quota_world_workload(&w, "b2");
	gone[0] = 1000;
	gone[1] = b2->id;
	gone[2] = quota_world_workload(&w, "own")->id;
	v.r.gone = gone;
	v.r.ngone = ARRAY_LEN(gone);
	mark = forest_mark(w.f);
	forest_add(w.f, quota_world_id(&w, "a"),
		   &b2->holding.usage); /* another workload takes its place */
	forest_remove(w.f, b2->holding.node, &b2->holding.usage);
	victims_find(&v.r, arena, &found);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].workload, quota_world_workload(&w, "b1")->id);
	forest_undo(w.f, mark);
}

static struct victims_probe oracle_of(const struct quota_world *x, struct arena *arena)
{
	return (struct victims_probe){
		.forest = x->f, .node = quota_world_id(x, "a"), .now = x->now, .arena = arena
	};
}

static void test_the_oracle(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	struct victims_probe o;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct workload *p;
	uint64_t before;
	uint32_t cpu;
	unsigned level = 7;

	(void)state;
	quota_world_init(&w, world);
	p = quota_world_workload(&w, "p");
	cpu = quota_world_pair(&w, "default", "cpu");
	o = oracle_of(&w, arena);
	before = victims_fixture_usage(&w);
	assert_int_equal(victims_probe_ask(&o, p, cpu, 3000, &level), ASSIGN_TARGETS_OUTSIDE);
	assert_int_equal(level, 0);
	assert_int_equal(victims_probe_ask(&o, p, cpu, 4000, &level), ASSIGN_TARGETS_INSIDE);
	assert_int_equal(level, 0);
	level = 7;
	assert_int_equal(victims_probe_ask(&o, p, cpu, 5000, &level), ASSIGN_NO_TARGETS);
	assert_int_equal(level, 7);
	assert_true(victims_fixture_usage(&w) == before);
}

/* With its victims gone the request still borrows: one level up. */
static void test_the_oracle_knows_the_level_afterwards(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct victims_probe o;
	unsigned level = 7;

	(void)state;
	quota_world_init(&w, world);
	quota_world_add(&w, "queue a cohort=c reclaim=LowerPriority borrow=LowerPriority\n"
			    "workload ns/high queue=a cpu=3 prio=9\n");
	o = oracle_of(&w, arena);
	assert_int_equal(victims_probe_ask(&o, quota_world_workload(&w, "high"),
					   quota_world_pair(&w, "default", "cpu"), 5000, &level),
			 ASSIGN_TARGETS_OUTSIDE);
	assert_int_equal(level, 1);
}

/* The result for a pair is reused for a request of that pair alone, and for no other. */
static void test_the_oracle_is_not_asked_twice(void **state)
{
	static const struct {
		const char *need;
		bool known;
	} rows[] = { { "default/cpu=3", true },
		     { "default/cpu=4", false },
		     { "default/cpu=3 default/memory=0?", true },
		     { "default/cpu=3 default/memory=1?", false },
		     { "default/cpu=3 default/memory=1", false },
		     { "default/cpu=3? default/memory=1", false } };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	struct victims_probe o;
	struct victims first, found;
	unsigned level;

	(void)state;
	quota_world_init(&w, world);
	quota_world_add(&w, "quota a default memory nominal=1\n");
	o = oracle_of(&w, arena);
	victims_probe_ask(&o, quota_world_workload(&w, "p"), quota_world_pair(&w, "default", "cpu"),
			  3000, &level);
	first = o.answers->victims;
	assert_true(first.n > 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(victims_fixture_finish) struct victims_fixture v;

		unit_row(rows[i].need);
		victims_fixture_init(&v, &w, "p", rows[i].need);
		victims_probe_find(&o, &v.r, &found);
		assert_int_equal(found.v == first.v, rows[i].known);
	}
}

/* A queue on a cycle of cohorts is not in any tree. */
static void test_nothing_on_a_cycle_of_cohorts(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct victims found = { .n = 5 };

	(void)state;
	quota_world_init(&w, "cohort c parent=d\n"
			     "cohort d parent=c\n"
			     "queue a cohort=c within=LowerPriority reclaim=Any\n"
			     "quota a default cpu nominal=4\n"
			     "workload ns/v queue=a cpu=4 holds=default\n"
			     "workload ns/p queue=a cpu=3 prio=1\n");
	victims_fixture_init(&v, &w, "p", "default/cpu=3");
	victims_find(&v.r, arena, &found);
	assert_int_equal(found.n, 0);
	v.r.npairs = 0;
	victims_find(&v.r, arena, &found);
	assert_int_equal(found.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policies),
		cmocka_unit_test(test_lower_or_newer_is_a_strict_order),
		cmocka_unit_test(test_removed_workloads_are_no_candidates),
		cmocka_unit_test(test_the_oracle),
		cmocka_unit_test(test_the_oracle_knows_the_level_afterwards),
		cmocka_unit_test(test_the_oracle_is_not_asked_twice),
		cmocka_unit_test(test_nothing_on_a_cycle_of_cohorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
