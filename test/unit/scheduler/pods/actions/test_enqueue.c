#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"

static struct podgroup *wants(struct cycle_fixture *f, const char *name, int64_t cpu,
			      int64_t created)
{
	struct podgroup *g = cluster_fixture_podgroup(f->cluster, name, "q", 1);

	g->has_min_resources = cpu >= 0;
	g->min_resources.v[RES_CPU] = cpu >= 0 ? cpu : 0;
	g->created = created;
	return g;
}

/* The second does not fit beside the first; the third, smaller one passes it. */
static void smaller_podgroups_pass(void **state)
{
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 1000);
	wants(&f, "a", 600, 1);
	wants(&f, "b", 600, 2);
	wants(&f, "c", 300, 3);
	wants(&f, "d", -1, 4);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobPhase a Inqueue; JobCondition a Unschedulable; "
			    "JobCondition b Unschedulable; JobPhase c Inqueue; JobCondition c "
			    "Unschedulable; JobPhase d Inqueue; JobCondition d Unschedulable");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_finish(&f);
}

/* A refused PodGroup is asked again when others let go, even without any pod of theirs. */
static void a_refusal_is_looked_at_again(void **state)
{
	struct cycle_fixture f;
	struct podgroup *a;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 1000);
	a = wants(&f, "a", 1000, 1);
	wants(&f, "b", 1000, 2);
	cycle_fixture_run(&f);
	assert_string_equal(cycle_fixture_run(&f), "");
	a->exists = false;
	cluster_podgroup_changed(f.cluster, a);
	cluster_podgroup_prune(f.cluster, a);
	assert_string_equal(cycle_fixture_run(&f), "JobPhase b Inqueue");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(smaller_podgroups_pass),
		cmocka_unit_test(a_refusal_is_looked_at_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
