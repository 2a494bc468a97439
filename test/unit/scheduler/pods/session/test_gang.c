#include "scheduler/pods/session/gang.h"

#include <stdio.h>

#include "base/arena.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/statement.h"

static void which_members_count(void **state)
{
	static const struct {
		const char *what;
		uint32_t flags;
		int64_t cpu;
		enum charge_state charge;
		bool reserved, placeable;
	} rows[] = {
		{ "plain", 0, 1, CHARGE_NONE, true, true },
		{ "plain, our gate goes at once", TASK_OUR_GATE, 1, CHARGE_NONE, true, false },
		{ "plain, other gate", TASK_FOREIGN_GATE, 1, CHARGE_NONE, false, false },
		{ "best effort, gated", TASK_OPTED_IN | TASK_OUR_GATE, 0, CHARGE_NONE, true, true },
		{ "gated", TASK_OPTED_IN | TASK_OUR_GATE, 1, CHARGE_NONE, false, false },
		{ "patching", TASK_OPTED_IN | TASK_OUR_GATE, 1, CHARGE_PATCHING, true, false },
		{ "ungated", TASK_OPTED_IN, 1, CHARGE_UNGATED, true, true },
		{ "published", TASK_OPTED_IN, 1, CHARGE_PUBLISHED, true, true },
		{ "for a preemptor", TASK_OPTED_IN, 1, CHARGE_AWAITING_VICTIMS, true, false },
		{ "lost its charge", TASK_OPTED_IN, 1, CHARGE_NONE, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;

		print_message("%s\n", rows[i].what);
		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
		t = cluster_fixture_task(sf.f.cluster, "t",
					 cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1),
					 rows[i].cpu);
		t->flags |= rows[i].flags;
		if (rows[i].charge != CHARGE_NONE) {
			ledger_charge(sf.f.cluster, t, queue_find(sf.f.cluster, STR_LIT("q")),
				      rows[i].charge);
		}
		core_fixture_open(&sf);
		assert_int_equal(gang_has_reached(sf.s, t, GANG_RESERVED), rows[i].reserved);
		assert_int_equal(gang_has_reached(sf.s, t, GANG_PLACEABLE), rows[i].placeable);
		core_fixture_finish(&sf);
	}
}

static void which_statuses_count(void **state)
{
	static const bool expected[TASK_STATUS_COUNT_] = {
		[TASK_PENDING] = true,  [TASK_BINDING] = true,   [TASK_BOUND] = true,
		[TASK_RUNNING] = true,  [TASK_SUCCEEDED] = true, [TASK_RELEASING] = false,
		[TASK_UNKNOWN] = false, [TASK_FAILED] = false,
	};
	struct podgroup *g;
	struct core_fixture sf;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_node(sf.f.cluster, "n", 10);
	g = cluster_fixture_podgroup(sf.f.cluster, "g", "q", 1);
	t = cluster_fixture_task(sf.f.cluster, "t", g, 1);
	for (int i = 0; i < TASK_STATUS_COUNT_; i++) {
		if (i == TASK_ALLOCATED || i == TASK_PIPELINED) {
			continue;
		}
		cluster_task_set_status(sf.f.cluster, t, (enum task_status)i,
					sf.f.cluster->nodes.v[0]);
		core_fixture_open(&sf);
		assert_int_equal(gang_has_reached(sf.s, t, GANG_RESERVED), expected[i]);
		assert_int_equal(gang_has_reached(sf.s, t, GANG_VALID), expected[i]);
		assert_int_equal(gang_has_reached(sf.s, t, GANG_READY),
				 expected[i] && i != TASK_PENDING);
		assert_int_equal(gang_count(sf.s, g, GANG_VALID), expected[i]);
		assert_int_equal(gang_count(sf.s, g, GANG_PIPELINED),
				 expected[i] && i != TASK_PENDING);
		assert_int_equal(gang_count(sf.s, g, GANG_READY), expected[i] && i != TASK_PENDING);
		session_close(sf.s);
	}
	core_fixture_open(&sf);
	core_fixture_finish(&sf);
}

/* For a node that is to come: until the pod has it, it counts as a pending one. */
static void a_pipelined_pod_reaches_no_more_than_a_pending_one(void **state)
{
	static const uint32_t flags[] = { 0, TASK_FOREIGN_GATE, TASK_OPTED_IN | TASK_OUR_GATE };
	static const enum gang_stage stages[] = { GANG_VALID, GANG_RESERVED, GANG_PLACEABLE };
	unsigned reached = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		struct core_fixture sf;
		bool pending[ARRAY_LEN(stages)];
		struct task *t;

		unit_row_number(i);
		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
		cluster_fixture_node(sf.f.cluster, "n", 10);
		t = cluster_fixture_task(sf.f.cluster, "t",
					 cluster_fixture_podgroup(sf.f.cluster, "g", "q", 1), 1);
		t->flags |= flags[i];
		core_fixture_open(&sf);
		for (size_t k = 0; k < ARRAY_LEN(stages); k++) {
			pending[k] = gang_has_reached(sf.s, t, stages[k]);
		}
		statement_pipeline(sf.s, t, sf.f.cluster->nodes.v[0]);
		for (size_t k = 0; k < ARRAY_LEN(stages); k++) {
			assert_int_equal(gang_has_reached(sf.s, t, stages[k]), pending[k]);
			reached += pending[k];
		}
		assert_true(gang_has_reached(sf.s, t, GANG_PIPELINED));
		assert_false(gang_has_reached(sf.s, t, GANG_READY));
		core_fixture_finish(&sf);
	}
	assert_in_range(reached, ARRAY_LEN(flags), ARRAY_LEN(flags) * ARRAY_LEN(stages) - 1);
}

/* The minimum of a role at each stage, and its one task on the way. */
static void roles_are_met_stage_by_stage(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;
	struct task *t;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	cluster_fixture_node(sf.f.cluster, "n", 10);
	g = cluster_fixture_podgroup(sf.f.cluster, "g", "q", 1);
	vec_push(&g->role_min, ((struct podgroup_role_min){ 1, 1 }));
	t = cluster_fixture_task(sf.f.cluster, "t", g, 1);
	core_fixture_open(&sf);
	assert_false(gang_roles_are_met(sf.s, g, GANG_VALID)); /* another role */
	t->role = 1;
	assert_true(gang_roles_are_met(sf.s, g, GANG_VALID));
	assert_false(gang_roles_are_met(sf.s, g, GANG_PIPELINED));
	statement_pipeline(sf.s, t, sf.f.cluster->nodes.v[0]);
	assert_true(gang_roles_are_met(sf.s, g, GANG_VALID));
	assert_true(gang_roles_are_met(sf.s, g, GANG_PIPELINED));
	assert_false(gang_roles_are_met(sf.s, g, GANG_READY));
	assert_int_equal(gang_count(sf.s, g, GANG_PIPELINED), 1);
	assert_int_equal(gang_count(sf.s, g, GANG_READY), 0);
	g->min_member = 0; /* less than the roles ask for */
	assert_true(gang_roles_are_met(sf.s, g, GANG_READY));
	core_fixture_finish(&sf);
}

enum { ROLES = 1000 };

/* They are asked about in each comparison of two PodGroups: nothing stays in the session's memory.
 */
static void many_roles_leave_nothing(void **state)
{
	struct core_fixture sf;
	struct gang_need need;
	struct podgroup *g;
	char name[16];
	size_t used;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
	g = cluster_fixture_podgroup(sf.f.cluster, "g", "q", ROLES);
	for (unsigned i = 0; i < ROLES; i++) {
		vec_push(&g->role_min, ((struct podgroup_role_min){ 2 * i, 1 }));
	}
	for (unsigned i = 0; i < ROLES; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		cluster_fixture_task(sf.f.cluster, name, g, 1)->role = 2 * (ROLES - 1 - i);
	}
	core_fixture_open(&sf);
	used = arena_used(session_arena(sf.s));
	assert_true(gang_roles_are_met(sf.s, g, GANG_VALID));
	sf.f.cluster->tasks.v[0]->role = 1;
	assert_false(gang_roles_are_met(sf.s, g, GANG_VALID));
	g->min_member = ROLES - 1; /* less than the roles ask for */
	assert_true(gang_roles_are_met(sf.s, g, GANG_VALID));
	assert_int_equal(arena_used(session_arena(sf.s)), used);
	g->min_member = ROLES;
	gang_need(sf.s, g, GANG_VALID, &need);
	assert_true(gang_needs_role(&need, 2 * (ROLES - 1)));
	assert_false(gang_is_met(&need));
	gang_add_member(&need, 2 * (ROLES - 1));
	assert_false(gang_needs_role(&need, 2 * (ROLES - 1)));
	core_fixture_finish(&sf);
}

static void roles_come_before_the_rest(void **state)
{
	struct gang_role roles[] = { { 1, 1 }, { 2, 2 } };
	struct gang_need need = {
		.missing = 4, .roles = roles, .nroles = 2, .missing_in_roles = 3
	};

	(void)state;
	/* Three of four belong to roles: one is free for any pod. */
	assert_true(gang_needs_role(&need, 9));
	gang_add_member(&need, 9);
	assert_false(gang_needs_role(&need, 9));
	assert_true(gang_needs_role(&need, 1));
	gang_add_member(&need, 1);
	assert_false(gang_needs_role(&need, 1));
	assert_false(gang_is_met(&need));
	gang_add_member(&need, 2);
	gang_add_member(&need, 2);
	assert_true(gang_is_met(&need));
}

static void enough_pods_of_other_roles_are_not_enough(void **state)
{
	struct gang_role roles[] = { { 1, 1 }, { 2, -3 } };
	struct gang_need need = {
		.missing = 0, .roles = roles, .nroles = 2, .missing_in_roles = 1
	};

	(void)state;
	assert_false(gang_is_met(&need));
	gang_add_member(&need, 1);
	assert_true(gang_is_met(&need));
}

static void roles_that_ask_for_more_than_the_whole_are_not_looked_at(void **state)
{
	struct core_fixture sf;
	struct gang_need need;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 3);
	vec_push(&g->role_min, ((struct podgroup_role_min){ 1, 2 }));
	vec_push(&g->role_min, ((struct podgroup_role_min){ 2, 2 }));
	core_fixture_open(&sf);
	gang_need(sf.s, g, GANG_RESERVED, &need);
	assert_int_equal(need.nroles, 0);
	assert_int_equal(need.missing, 3);
	g->min_member = 4;
	gang_need(sf.s, g, GANG_RESERVED, &need);
	assert_int_equal(need.nroles, 2);
	core_fixture_finish(&sf);
}

static void which_pods_may_ask_for_quota(void **state)
{
	static const struct {
		const char *what;
		uint32_t add, remove;
		int64_t cpu, retry_in;
		bool expected;
	} rows[] = {
		{ "gated", 0, 0, 1, 0, true },
		{ "gate removed by another client", 0, TASK_OUR_GATE, 1, 0, true },
		{ "other gate", TASK_FOREIGN_GATE, 0, 1, 0, false },
		{ "not ours", 0, TASK_OURS, 1, 0, false },
		{ "did not opt in", 0, TASK_OPTED_IN, 1, 0, false },
		{ "parked", TASK_PARKED, 0, 1, 0, false },
		{ "best effort", 0, 0, 0, 0, false },
		{ "to be tried later", 0, 0, 1, 5, false },
		{ "time has come", 0, 0, 1, -5, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;

		print_message("%s\n", rows[i].what);
		core_fixture_init(&sf, NULL);
		t = cycle_fixture_gated(&sf.f, "t", NULL, rows[i].cpu);
		t->flags = (t->flags | rows[i].add) & ~rows[i].remove;
		t->retry_at = rows[i].retry_in == 0 ? MODEL_TIME_NONE : sf.f.now + rows[i].retry_in;
		core_fixture_open(&sf);
		assert_int_equal(gang_is_candidate(sf.s, t), rows[i].expected);
		core_fixture_finish(&sf);
	}
}

/* Three of three run. A role of which all are needed spares none; one more than that does. */
static void which_members_a_gang_can_spare(void **state)
{
	static const struct {
		int32_t min_member, role_min;
		bool spares;
	} rows[] = {
		{ 2, 0, true },  { 3, 0, false }, { 4, 0, true }, { 2, 1, true },
		{ 2, 2, false }, { 2, 3, true }, /* as many roles are not looked at */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup_role_min min = { 1, rows[i].role_min };
		struct core_fixture sf;
		struct podgroup *g;
		struct node *n;

		unit_row_number(i);
		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, -1);
		n = cluster_fixture_node(sf.f.cluster, "n", 3000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", rows[i].min_member);
		if (rows[i].role_min > 0) {
			vec_push(&g->role_min, min);
		}
		for (int k = 0; k < 3; k++) {
			const char *const names[] = { "t0", "t1", "t2" };
			struct task *t = cluster_fixture_task(sf.f.cluster, names[k], g, 1000);

			t->role = k < 2 ? 1 : 2;
			cluster_task_set_status(sf.f.cluster, t, TASK_RUNNING, n);
		}
		core_fixture_open(&sf);
		assert_int_equal(gang_can_spare(sf.s, sf.f.cluster->tasks.v[0]), rows[i].spares);
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_members_count),
		cmocka_unit_test(which_statuses_count),
		cmocka_unit_test(a_pipelined_pod_reaches_no_more_than_a_pending_one),
		cmocka_unit_test(roles_are_met_stage_by_stage),
		cmocka_unit_test(many_roles_leave_nothing),
		cmocka_unit_test(roles_come_before_the_rest),
		cmocka_unit_test(enough_pods_of_other_roles_are_not_enough),
		cmocka_unit_test(roles_that_ask_for_more_than_the_whole_are_not_looked_at),
		cmocka_unit_test(which_pods_may_ask_for_quota),
		cmocka_unit_test(which_members_a_gang_can_spare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
