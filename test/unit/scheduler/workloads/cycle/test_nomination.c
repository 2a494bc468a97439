#include "scheduler/workloads/cycle/nomination.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"

static void nominate(const struct quota_world *w, struct arena *arena, struct entry *e)
{
	struct nominate_context c = { .forest = w->f, .arena = arena, .now = w->now };

	*e = (struct entry){ .w = quota_world_workload(w, "w"), .node = quota_world_id(w, "q") };
	nomination(&c, e);
}

static void filters_in_their_order(void **state)
{
	static const struct {
		const char *world;
		enum nofit_reason reason;
		enum quota_requeue requeue;
	} rows[] = {
		{ "workload w queue=q cpu=1 check-blocks\nqueue q namespaces=none\n",
		  QUOTA_PENDING_EVALUATION, QUOTA_REQUEUE_NONE },
		{ "workload w queue=q cpu=1\nqueue q namespaces=none\n", QUOTA_MISCONFIGURED,
		  QUOTA_REQUEUE_NAMESPACE_MISMATCH },
		{ "workload w queue=q cpu=1\n", QUOTA_REASON_NONE, QUOTA_REQUEUE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct quota_world w;
		struct entry e;

		unit_row(rows[i].world);
		quota_world_init(&w, "quota q f cpu nominal=1\n");
		quota_world_add(&w, rows[i].world);
		nominate(&w, arena, &e);
		assert_int_equal(e.reason, rows[i].reason);
		assert_int_equal(e.requeue, rows[i].requeue);
		assert_int_equal(e.status, rows[i].reason == QUOTA_REASON_NONE
						   ? ENTRY_NOMINATED
						   : ENTRY_NOT_NOMINATED);
		assert_int_equal(e.has_assignment, e.status == ENTRY_NOMINATED);
		quota_world_finish(&w);
	}
}

static void requests_that_are_not_valid_and_unsupported_features(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct quota_world w;
	struct workload *one;
	struct entry e;

	(void)state;
	quota_world_init(&w, "quota q f cpu nominal=1\nworkload w queue=q cpu=1\n");
	one = quota_world_workload(&w, "w");
	one->object.podsets[0].invalid = "requests exceed limits";
	nominate(&w, arena, &e);
	assert_int_equal(e.reason, QUOTA_MISCONFIGURED);
	assert_string_equal(e.message, "requests exceed limits");
	one->object.podsets[0].invalid = NULL;
	one->object.unsupported = "topologyRequest is not supported";
	nominate(&w, arena, &e);
	assert_int_equal(e.reason, QUOTA_MISCONFIGURED);
	assert_string_equal(e.message, one->object.unsupported);
	quota_world_finish(&w);
}

static void fits_or_has_victims_or_has_none(void **state)
{
	static const struct {
		const char *world;
		enum assign_mode mode;
		size_t victims;
	} rows[] = {
		{ "workload w queue=q cpu=4\n", ASSIGN_FIT, 0 },
		{ "workload w queue=q cpu=5\n", ASSIGN_NO_FIT, 0 },
		{ "workload w queue=q cpu=4\nworkload x queue=q cpu=2 holds=f reserved=-1s\n",
		  ASSIGN_PREEMPT, 0 },
		{ "workload w queue=q cpu=4\nworkload x queue=q cpu=2 holds=f reserved=-1s "
		  "prio=-1\n"
		  "workload y queue=q cpu=2 holds=f reserved=-1s prio=-2\n",
		  ASSIGN_PREEMPT, 2 },
		{ "workload w queue=q cpu=2\nworkload x queue=q cpu=2 holds=f reserved=-1s "
		  "prio=-1\n"
		  "workload y queue=q cpu=2 holds=f reserved=-1s prio=-2\n",
		  ASSIGN_PREEMPT, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct quota_world w;
		struct entry e;

		unit_row(rows[i].world);
		quota_world_init(&w, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n");
		quota_world_add(&w, rows[i].world);
		nominate(&w, arena, &e);
		assert_int_equal(e.assignment.mode, rows[i].mode);
		assert_int_equal(e.victims.n, rows[i].victims);
		quota_world_finish(&w);
	}
}

/* Without borrowing, without victims, and nothing is remembered. */
static void workloads_that_fit_into_nominal_quota(void **state)
{
	static const struct {
		const char *world;
		int64_t uses; /* 0: it does not */
	} rows[] = {
		{ "workload w queue=q cpu=4\n", 4000 },
		{ "workload w queue=q cpu=5\n", 0 },
		{ "workload w queue=q cpu=1 check-blocks\n", 0 },
		{ "workload w queue=q cpu=4\n"
		  "workload x queue=q cpu=1 holds=f reserved=-1s prio=-1\n",
		  0 },
		{ "workload w queue=q cpu=4\nworkload x queue=r cpu=8 holds=f reserved=-1s\n", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct nominate_context c = { .arena = arena };
		const struct quota_amounts *uses;
		struct quota_world w;

		unit_row(rows[i].world);
		quota_world_init(&w, "quota q f cpu nominal=4\nquota r f cpu nominal=4\n"
				     "queue q cohort=c within=LowerPriority reclaim=Any\n"
				     "queue r cohort=c\n");
		quota_world_add(&w, rows[i].world);
		c.forest = w.f;
		c.now = w.now;
		uses = nomination_usage_without_borrowing(&c, quota_world_workload(&w, "w"),
							  quota_world_id(&w, "q"));
		assert_int_equal(uses != NULL, rows[i].uses > 0);
		if (uses != NULL) {
			assert_int_equal(quota_amounts_get(uses, quota_world_pair(&w, "f", "cpu")),
					 rows[i].uses);
		}
		assert_int_equal(quota_world_workload(&w, "w")->pending.tried.n, 0);
		quota_world_finish(&w);
	}
}

static void partial_admission_takes_the_largest_size_that_will_do(void **state)
{
	static const struct {
		const char *world;
		enum assign_mode mode;
		int32_t count;
		size_t victims;
	} rows[] = {
		{ "", ASSIGN_FIT, 4, 0 },
		{ "workload x queue=q cpu=1 prio=9 holds=f reserved=-1s\n", ASSIGN_FIT, 3, 0 },
		{ "workload x queue=q cpu=1 prio=-1 holds=f reserved=-1s\n", ASSIGN_PREEMPT, 4, 1 },
		{ "workload x queue=q cpu=3 prio=9 holds=f reserved=-1s\n", ASSIGN_PREEMPT, 4, 0 },
		{ "workload x queue=q cpu=1 prio=9 holds=f reserved=-1s\n"
		  "option partial_admission=false\n",
		  ASSIGN_PREEMPT, 4, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct quota_world w;
		struct entry e;

		unit_row(rows[i].world);
		quota_world_init(&w, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
				     "workload w queue=q cpu=1 pods=4 min=2\n");
		quota_world_add(&w, rows[i].world);
		nominate(&w, arena, &e);
		assert_int_equal(e.assignment.mode, rows[i].mode);
		assert_int_equal(e.assignment.podsets[0].count, rows[i].count);
		assert_int_equal(e.victims.n, rows[i].victims);
		assert_int_equal(e.assignment.is_partial, rows[i].count < 4);
		quota_world_finish(&w);
	}
}

static void anew_with_the_same_flavors_and_without_those_that_go(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct quota_world w;
	struct entry e;
	struct nominate_context c;
	uint32_t gone;

	(void)state;
	quota_world_init(&w, "quota q f cpu nominal=4\nquota q g cpu nominal=1\n"
			     "queue q within=LowerPriority\n"
			     "workload x queue=q cpu=3 prio=-2 holds=f reserved=-1s\n"
			     "workload y queue=q cpu=1 prio=-1 holds=f reserved=-1s\n"
			     "workload w queue=q cpu=3\n");
	nominate(&w, arena, &e);
	assert_int_equal(e.victims.n, 1);
	gone = e.victims.v[0].workload;
	assert_int_equal(gone, quota_world_workload(&w, "x")->id);
	c = (struct nominate_context){
		.forest = w.f, .arena = arena, .now = w.now, .gone = &gone, .ngone = 1
	};
	forest_remove(w.f, e.node, &w.q->workloads.v[gone]->holding.usage);
	nomination_recompute(&c, &e);
	assert_int_equal(e.assignment.mode, ASSIGN_FIT);
	assert_int_equal(e.victims.n, 0);
	assert_int_equal(e.assignment.podsets[0].flavors[0].flavor, quota_world_flavor(&w, "f"));
	forest_undo(w.f, 0);
	quota_world_finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_in_their_order),
		cmocka_unit_test(requests_that_are_not_valid_and_unsupported_features),
		cmocka_unit_test(fits_or_has_victims_or_has_none),
		cmocka_unit_test(workloads_that_fit_into_nominal_quota),
		cmocka_unit_test(partial_admission_takes_the_largest_size_that_will_do),
		cmocka_unit_test(anew_with_the_same_flavors_and_without_those_that_go),
	};

	return cmocka_run_group_tests_name("workloads/cycle/nomination", tests, NULL, NULL);
}
