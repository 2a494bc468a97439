#include "core/cycle.h"

#include "lib/cycle_fixture.h"
#include "lib/unit.h"

static void gated_pod_is_ungated_then_bound(void **state)
{
	struct cycle_fixture f;
	struct job *j;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	cluster_fixture_node(f.cluster, "n1", 4000);
	j = cluster_fixture_job(f.cluster, "j", "q", 1);
	cycle_fixture_gated(&f, "p1", j, 1000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate p1; JobPhase j Inqueue");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "Bind p1 n1; JobCondition j Scheduled");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "JobPhase j Running");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_finish(&f);
}

static void what_fits_quota_but_no_node_is_published_once(void **state)
{
	struct cycle_fixture f;
	struct job *j;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	j = cluster_fixture_job(f.cluster, "j", "q", 2);
	cycle_fixture_gated(&f, "p1", j, 1000);
	cycle_fixture_gated(&f, "p2", j, 1000);
	cycle_fixture_gated(&f, "p3", j, 1000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate p1; Ungate p2; JobPhase j Inqueue");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobCondition j Unschedulable; Publish p1; Publish p2");
	assert_string_equal(cycle_fixture_run(&f), "");
	cluster_fixture_node(f.cluster, "n1", 4000);
	assert_string_equal(cycle_fixture_run(&f), "Bind p1 n1; Bind p2 n1; "
						   "JobCondition j Scheduled");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gated_pod_is_ungated_then_bound),
		cmocka_unit_test(what_fits_quota_but_no_node_is_published_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
