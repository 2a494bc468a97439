#include "scheduler/workloads/cycle/entry_order.h"

#include <stdio.h>

#include "lib/unit.h"
#include "unit/scheduler/workloads/cycle/order_fixture.h"

#define expect order_fixture_expect

/* Three queues without a cohort. */
#define QUEUES                                                                                     \
	"queue x\nqueue y\nqueue z\nquota x f cpu nominal=9\nquota y f cpu nominal=9\n"            \
	"quota z f cpu nominal=9\n"

static void test_the_higher_priority_is_first(void **state)
{
	(void)state;
	expect(QUEUES "workload ns/low queue=x cpu=1 prio=-1 created=-90s\n"
		      "workload ns/high queue=y cpu=1 prio=5 created=-10s\n"
		      "workload ns/mid queue=z cpu=1 created=-50s\n",
	       "high mid low");
}

static void test_without_priority_sorting_the_older_is_first(void **state)
{
	(void)state;
	expect("option priority_sorting=false\n" QUEUES
	       "workload ns/low queue=x cpu=1 prio=-1 created=-90s\n"
	       "workload ns/high queue=y cpu=1 prio=5 created=-10s\n"
	       "workload ns/mid queue=z cpu=1 created=-50s\n",
	       "low mid high");
}

static void test_of_equal_priority_the_older_is_first(void **state)
{
	(void)state;
	expect(QUEUES "workload ns/new queue=x cpu=1 created=-10s\n"
		      "workload ns/old queue=y cpu=1 created=-90s\n"
		      "workload ns/mid queue=z cpu=1 created=-50s\n",
	       "old mid new");
}

static void test_an_eviction_by_a_check_restarts_the_time(void **state)
{
	(void)state;
	expect(QUEUES
	       "workload ns/new queue=x cpu=1 created=-10s\n"
	       "workload ns/old queue=y cpu=1 created=-90s evicted=-5s evicted-by=check\n"
	       "workload ns/late queue=z cpu=1 created=-91s evicted=-7s evicted-by=timeout\n",
	       "new late old");
}

static void test_a_reclaimed_workload_goes_behind_without_priority_sorting(void **state)
{
	static const char *const objects =
		QUEUES "workload ns/a queue=x cpu=1 created=-90s preempted=-5s reclaimed\n"
		       "workload ns/b queue=y cpu=1 created=-20s\n"
		       "workload ns/c queue=z cpu=1 created=-90s preempted=-6s reclaimed uid=zz\n";
	char world[1024];

	(void)state;
	expect(objects, "a c b");
	snprintf(world, sizeof(world), "option priority_sorting=false\n%s", objects);
	expect(world, "b c a");
}

static void test_the_lower_level_of_borrowing_is_first(void **state)
{
	/* x borrows from its cohort, y across cohorts, z not at all. */
	(void)state;
	expect("cohort c parent=r\nqueue x cohort=c\nqueue p cohort=c\nqueue y cohort=r\nqueue z\n"
	       "quota x f cpu nominal=1\nquota p f cpu nominal=4\nquota y f cpu nominal=1\n"
	       "quota z f cpu nominal=4\n"
	       "workload ns/one queue=x cpu=2 prio=5\nworkload ns/two queue=y cpu=2 prio=9\n"
	       "workload ns/none queue=z cpu=2 prio=1\n",
	       "none one two");
}

static void test_preemptors_are_first_with_their_gate(void **state)
{
	static const char *const objects = QUEUES "workload ns/high queue=x cpu=1 prio=9\n"
						  "workload ns/preemptor queue=y cpu=1 prio=1\n";
	char world[512];

	(void)state;
	expect(objects, "preemptor high");
	snprintf(world, sizeof(world), "option prioritize_preemptors=false\n%s", objects);
	expect(world, "high preemptor");
}

static void test_a_preemptor_that_borrows_is_first_with_the_gate(void **state)
{
	(void)state;
	expect("option prioritize_preemptors=true\nqueue x cohort=c\nqueue y cohort=c\n"
	       "quota x f cpu nominal=1\nquota y f cpu nominal=9\n"
	       "workload ns/preemptor queue=x cpu=2\nworkload ns/w queue=y cpu=2\n",
	       "preemptor w");
}

static void test_workloads_with_quota_are_first(void **state)
{
	(void)state;
	expect("option prioritize_preemptors=true\n" QUEUES
	       "workload ns/preemptor queue=x cpu=1 prio=9\n"
	       "workload ns/second queue=y cpu=1 prio=1 holds=f\n",
	       "second preemptor");
}

static void test_ties_end_in_uid_and_key(void **state)
{
	(void)state;
	expect(QUEUES "workload ns/a queue=x cpu=1 uid=u2\nworkload ns/b queue=y cpu=1 uid=u1\n"
		      "workload ns/c queue=z cpu=1 uid=u3\n",
	       "b a c");
	expect(QUEUES "workload m/b queue=x cpu=1 uid=u\nworkload ns/a queue=y cpu=1 uid=u\n"
		      "workload ns/c queue=z cpu=1 uid=u\n",
	       "b a c");
}

static void test_nothing_gives_nothing(void **state)
{
	(void)state;
	expect(QUEUES, "");
	expect("option fair_sharing=true\n" QUEUES, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_higher_priority_is_first),
		cmocka_unit_test(test_without_priority_sorting_the_older_is_first),
		cmocka_unit_test(test_of_equal_priority_the_older_is_first),
		cmocka_unit_test(test_an_eviction_by_a_check_restarts_the_time),
		cmocka_unit_test(test_a_reclaimed_workload_goes_behind_without_priority_sorting),
		cmocka_unit_test(test_the_lower_level_of_borrowing_is_first),
		cmocka_unit_test(test_preemptors_are_first_with_their_gate),
		cmocka_unit_test(test_a_preemptor_that_borrows_is_first_with_the_gate),
		cmocka_unit_test(test_workloads_with_quota_are_first),
		cmocka_unit_test(test_ties_end_in_uid_and_key),
		cmocka_unit_test(test_nothing_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
