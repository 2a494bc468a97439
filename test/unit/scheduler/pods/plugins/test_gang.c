#include <stdio.h>

#include "collections/intern.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/hooks.h"

static struct hooks_fixture f;
static struct node *node;
static struct podgroup *podgroup;

static int setup(void **state)
{
	(void)state;
	hooks_fixture_init(&f, "- plugins:\n  - name: gang\n", plugin_registry,
			   plugin_registry_count);
	node = cluster_fixture_node(f.cluster, "n", 1000);
	podgroup = cluster_fixture_podgroup(f.cluster, "j", NULL, 3);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	hooks_fixture_finish(&f);
	return 0;
}

static uint32_t role(const char *name)
{
	return intern_id(f.cluster->names, str_of(name));
}

static struct task *add(const char *name, const char *of_role, enum task_status status, int64_t cpu)
{
	struct task *t = cluster_fixture_task(f.cluster, name, podgroup, cpu);

	t->role = of_role == NULL ? MODEL_NONE : role(of_role);
	cluster_task_set_status(
		f.cluster, t, status,
		status == TASK_PENDING || status == TASK_SUCCEEDED || status == TASK_FAILED ? NULL
											    : node);
	return t;
}

static void need(const char *of_role, int32_t min)
{
	struct podgroup_role_min m = { .role = role(of_role), .min = min };

	vec_push(&podgroup->role_min, m);
}

static const char *invalid_because(void)
{
	struct reason why = { .code = NULL };

	return hooks_job_valid(f.s, podgroup, &why) ? NULL : why.code;
}

static void test_ready_counts_what_is_placed_or_done(void **state)
{
	(void)state;
	add("a", NULL, TASK_BOUND, 1);
	add("b", NULL, TASK_RUNNING, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_ready(f.s, podgroup));
	add("c", NULL, TASK_PENDING, 1);
	add("d", NULL, TASK_FAILED, 1);
	add("e", NULL, TASK_RELEASING, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_ready(f.s, podgroup));
	assert_false(hooks_job_pipelined(f.s, podgroup));
	add("g", NULL, TASK_SUCCEEDED, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
	assert_true(hooks_job_pipelined(f.s, podgroup));
}

static void test_best_effort_tasks_need_no_decision(void **state)
{
	(void)state;
	add("a", NULL, TASK_BOUND, 1);
	add("b", NULL, TASK_BOUND, 1);
	add("c", NULL, TASK_PENDING, 0);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
}

static void test_roles_must_have_their_minimum(void **state)
{
	(void)state;
	need("ps", 1);
	need("worker", 2);
	add("w1", "worker", TASK_BOUND, 1);
	add("w2", "worker", TASK_BOUND, 1);
	add("w3", "worker", TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_ready(f.s, podgroup));
	assert_false(hooks_job_pipelined(f.s, podgroup));
	assert_string_equal(invalid_because(), "NotEnoughPodsOfTask");
	add("p1", "ps", TASK_PENDING, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_ready(f.s, podgroup));
	assert_null(invalid_because());
	add("p2", "ps", TASK_RUNNING, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
}

static void test_quirk_roles_are_ignored_when_they_ask_for_more_than_min_member(void **state)
{
	(void)state;
	need("ps", 2);
	need("worker", 2);
	add("w1", "worker", TASK_BOUND, 1);
	add("w2", "worker", TASK_BOUND, 1);
	add("w3", "worker", TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
	assert_null(invalid_because());
	podgroup->min_member = 4;
	add("w4", "worker", TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_ready(f.s, podgroup));
}

static void test_valid_counts_pending_but_not_lost_tasks(void **state)
{
	struct reason why = { .code = NULL };

	(void)state;
	add("a", NULL, TASK_PENDING, 1);
	add("b", NULL, TASK_BOUND, 1);
	add("c", NULL, TASK_FAILED, 1);
	add("d", NULL, TASK_RELEASING, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_valid(f.s, podgroup, &why));
	assert_string_equal(why.code, "NotEnoughTasks");
	assert_string_equal(why.detail,
			    "Not enough valid tasks for gang-scheduling, valid: 2, min: 3");
	assert_false(hooks_job_valid(f.s, podgroup, NULL));
	add("e", NULL, TASK_PENDING, 1);
	hooks_fixture_open(&f);
	assert_null(invalid_because());
}

static void test_many_roles(void **state)
{
	char name[16];

	(void)state;
	podgroup->min_member = 20;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		need(name, 1);
		add(name, name, i == 19 ? TASK_PENDING : TASK_BOUND, 1);
	}
	add("more", "r0", TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_int_equal(session_podgroup_ready_count(f.s, podgroup), 20);
	assert_false(hooks_job_ready(f.s, podgroup));
	cluster_task_set_status(f.cluster, cluster_task_find(f.cluster, STR_LIT("ns/r19")),
				TASK_BOUND, node);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
}

static void test_a_role_with_minimum_zero_is_met(void **state)
{
	(void)state;
	need("ps", 0);
	need("worker", 3);
	add("w1", "worker", TASK_BOUND, 1);
	add("w2", "worker", TASK_BOUND, 1);
	add("w3", "worker", TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_ready(f.s, podgroup));
}

static void test_podgroups_that_lack_members_go_first(void **state)
{
	struct podgroup *other = cluster_fixture_podgroup(f.cluster, "z", NULL, 1);

	(void)state;
	podgroup->min_member = 1;
	add("a", NULL, TASK_BOUND, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_job_order(f.s, podgroup, other) > 0);
	assert_true(hooks_job_order(f.s, other, podgroup) < 0);
	podgroup->min_member = 2;
	assert_true(hooks_job_order(f.s, podgroup, other) < 0); /* both lack: by name */
}

/* It starves below minMember, and loses only what it has beyond that. */
static void test_preemption_keeps_the_minimum(void **state)
{
	const struct task *a;

	(void)state;
	podgroup->min_member = 2;
	add("a", NULL, TASK_RUNNING, 1);
	a = f.cluster->tasks.v[0];
	hooks_fixture_open(&f);
	assert_true(hooks_job_starving(f.s, podgroup));
	add("b", NULL, TASK_RUNNING, 1);
	hooks_fixture_open(&f);
	assert_false(hooks_job_starving(f.s, podgroup));
	assert_false(hooks_preemptable(f.s, a, a));
	add("c", NULL, TASK_RUNNING, 1);
	hooks_fixture_open(&f);
	assert_true(hooks_preemptable(f.s, a, a));
	assert_true(hooks_reclaimable(f.s, a, a));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ready_counts_what_is_placed_or_done),
		TEST(test_best_effort_tasks_need_no_decision),
		TEST(test_roles_must_have_their_minimum),
		TEST(test_quirk_roles_are_ignored_when_they_ask_for_more_than_min_member),
		TEST(test_valid_counts_pending_but_not_lost_tasks),
		TEST(test_many_roles),
		TEST(test_a_role_with_minimum_zero_is_met),
		TEST(test_podgroups_that_lack_members_go_first),
		TEST(test_preemption_keeps_the_minimum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
