#include "scheduler/workloads/cycle/admission_cycle.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"

static void one_head_of_each_queue_in_a_cycle(void **state)
{
	static const struct admission_cycle_row rows[] = {
		{ "quota q f cpu nominal=2\nquota r f cpu nominal=1\n"
		  "workload a queue=q cpu=1 prio=2\nworkload b queue=q cpu=1 prio=1\n"
		  "workload c queue=r cpu=1 prio=-1\n",
		  { "admit a to q cpu=f; admit c to r cpu=f", "admit b to q cpu=f", "", NULL } },
		{ "option heads=3\nquota q f cpu nominal=2\n"
		  "workload a queue=q cpu=1 prio=3\nworkload b queue=q cpu=1 prio=2\n"
		  "workload c queue=q cpu=1 prio=1\n",
		  { "admit a to q cpu=f; admit b to q cpu=f; "
		    "wait c heap FailedAfterNomination WaitingForQuota",
		    "wait c inadmissible PreemptionNoCandidates WaitingForQuota", "" } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

static void victims_keep_their_quota_until_they_are_gone(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
					 "workload low queue=q cpu=4 holds=f reserved=-60s\n"
					 "workload high queue=q cpu=2 prio=10\n");
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "preempt low for high InClusterQueue; "
			    "wait high heap PendingPreemption WaitingForPreemptedWorkloads");
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "preempt low for high InClusterQueue ongoing; "
			    "wait high heap PendingPreemption WaitingForPreemptedWorkloads");
	admission_cycle_fixture_delete(&f, "low");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit high to q cpu=f");
	admission_cycle_fixture_finish(&f);
}

static void entries_without_quota_are_requeued(void **state)
{
	static const struct admission_cycle_row rows[] = {
		{ "quota q f cpu nominal=2\nworkload a queue=q cpu=3\nworkload b queue=q cpu=1 "
		  "prio=-1\n",
		  { "wait a inadmissible NoFit ExceedsMaxQuota", "admit b to q cpu=f" } },
		{ "quota q f cpu nominal=2\nqueue q strategy=StrictFIFO\n"
		  "workload a queue=q cpu=3\nworkload b queue=q cpu=1 prio=-1\n",
		  { "wait a heap NoFit ExceedsMaxQuota", "wait a heap NoFit ExceedsMaxQuota" } },
		{ "quota q f cpu nominal=2\nqueue q namespaces=none\nworkload a queue=q cpu=1\n",
		  { "wait a inadmissible NamespaceMismatch Misconfigured", "" } },
		{ "quota q f cpu nominal=2\nworkload a queue=q cpu=1 check-blocks\n",
		  { "wait a inadmissible  PendingEvaluation", "" } },
		{ "option preemption_gates=true\nquota q f cpu nominal=2\n"
		  "queue q within=LowerPriority\n"
		  "workload low queue=q cpu=2 holds=f reserved=-60s\n"
		  "workload high queue=q cpu=2 prio=10 preemption-gated\n",
		  { "wait high inadmissible PreemptionGated AdmissionGated", "" } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

static void quota_is_as_before_until_decisions_are_applied(void **state)
{
	struct admission_cycle_fixture f;
	uint32_t q, pair;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=4\nqueue q within=LowerPriority\n"
					 "workload low queue=q cpu=3 holds=f reserved=-60s\n"
					 "workload high queue=q cpu=4 prio=10\n");
	q = quota_world_id(&f.w, "q");
	pair = quota_world_pair(&f.w, "f", "cpu");
	f.last = admission_cycle_run(f.cycle, f.w.now);
	assert_int_equal(f.last->n, 2);
	assert_int_equal(forest_usage(f.w.f, q, pair), 3000);
	assert_int_equal(forest_mark(f.w.f), 0);
	assert_false(quota_world_workload(&f.w, "low")->flags.evicted);
	admission_cycle_fixture_finish(&f);
}

/* Where a scan over the flavors stopped: the next cycle goes on behind it. */
static void flavors_not_looked_at_yet_are_tried_at_once(void **state)
{
	static const struct admission_cycle_row rows[] = {
		{ "quota q x cpu nominal=2\nquota q y cpu nominal=2\n"
		  "queue q whenpreempt=MayStopSearch within=LowerPriority\n"
		  "workload low queue=q cpu=2 prio=-1 holds=x reserved=-60s\n"
		  "workload a queue=q cpu=2\n",
		  { "preempt low for a InClusterQueue; "
		    "wait a heap PendingPreemption WaitingForPreemptedWorkloads" } },
		{ "quota q x cpu nominal=2\nquota q y cpu nominal=2\n"
		  "queue q whenpreempt=TryNextFlavor within=LowerPriority\n"
		  "workload low queue=q cpu=2 prio=-1 holds=x reserved=-60s\n"
		  "workload a queue=q cpu=2\n",
		  { "admit a to q cpu=y" } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

/* Quota of a flavor that this scan has passed comes free before the scan ends: the next one begins
 * at once, since nothing would wake the workload otherwise. */
static void quota_behind_the_scan_is_not_missed(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q x cpu nominal=0\nquota q y cpu nominal=0\n"
					 "queue q cohort=c whenborrow=MayStopSearch\n"
					 "quota r x cpu nominal=2\nqueue r cohort=c\n"
					 "workload a queue=q cpu=2\nworkload b queue=r cpu=2\n");
	assert_string_equal(
		admission_cycle_fixture_run(&f),
		"admit b to r cpu=x; wait a heap FailedAfterNomination WaitingForQuota");
	admission_cycle_fixture_delete(&f, "b");
	assert_string_equal(admission_cycle_fixture_run(&f), "wait a heap NoFit ExceedsMaxQuota");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit a to q cpu=x");
	admission_cycle_fixture_finish(&f);
}

/* A scan over the flavors goes on only if it stopped in the cycle before; so each cycle counts,
 * also one without heads. */
static void every_cycle_counts(void **state)
{
	struct admission_cycle_fixture f;
	uint64_t before;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q x cpu nominal=2\nqueue q\n"
					 "workload a queue=q cpu=2\n");
	before = f.w.q->cycle;
	assert_string_equal(admission_cycle_fixture_run(&f), "admit a to q cpu=x");
	assert_string_equal(admission_cycle_fixture_run(&f), "");
	assert_int_equal(f.w.q->cycle, before + 2);
	admission_cycle_fixture_finish(&f);
}

/* A flavor was passed only because others of the same cycle took its quota: fewer pods may still
 * fit there, and nothing that came free would wake the workload. */
static void a_flavor_lost_within_a_cycle_is_tried_again(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q x cpu nominal=0\nquota q y cpu nominal=0\n"
					 "queue q cohort=c whenborrow=MayStopSearch\n"
					 "quota r x cpu nominal=3\nqueue r cohort=c\n"
					 "workload a queue=q pods=3 min=2 cpu=1\n"
					 "workload b queue=r cpu=1\n");
	assert_string_equal(
		admission_cycle_fixture_run(&f),
		"admit b to r cpu=x; wait a heap FailedAfterNomination WaitingForQuota");
	assert_string_equal(admission_cycle_fixture_run(&f), "wait a heap NoFit ExceedsMaxQuota");
	assert_string_equal(admission_cycle_fixture_run(&f), "admit a to q cpu=x x2");
	admission_cycle_fixture_finish(&f);
}

/* Several heads of one queue: none overtakes one that stays first, whatever the order of the
 * cycle. */
static void heads_of_one_queue_keep_their_order(void **state)
{
	static const struct admission_cycle_row rows[] = {
		/* b would borrow less than a. */
		{ "option heads=2\nqueue q cohort=c within=LowerPriority\nquota q f cpu nominal=2\n"
		  "quota cohort/c f cpu nominal=2\n"
		  "workload v queue=q cpu=3 prio=-1 holds=f reserved=-9s\n"
		  "workload a queue=q cpu=2 prio=2\nworkload b queue=q cpu=1 prio=1\n",
		  { "preempt v for a InClusterQueue; "
		    "wait a heap PendingPreemption WaitingForPreemptedWorkloads; "
		    "wait b heap FailedAfterNomination WaitingForQuota" } },
		{ "option heads=2\nqueue q strategy=StrictFIFO\nquota q f cpu nominal=2\n"
		  "workload a queue=q cpu=3 prio=2\nworkload b queue=q cpu=1 prio=1\n",
		  { "wait a heap NoFit ExceedsMaxQuota; "
		    "wait b heap FailedAfterNomination WaitingForQuota" } },
		/* One that is inadmissible does not block the others. */
		{ "option heads=2\nquota q f cpu nominal=2\n"
		  "workload a queue=q cpu=3 prio=2\nworkload b queue=q cpu=1 prio=1\n",
		  { "admit b to q cpu=f; wait a inadmissible NoFit ExceedsMaxQuota" } },
		{ "option heads=3\nquota q f cpu nominal=2\nqueue q strategy=StrictFIFO\n"
		  "workload a queue=q cpu=1 prio=3 check-blocks\n"
		  "workload b queue=q cpu=1 prio=2\nworkload d queue=q cpu=1 prio=1\n",
		  { "wait b heap FailedAfterNomination WaitingForQuota; "
		    "wait d heap FailedAfterNomination WaitingForQuota; "
		    "wait a heap  PendingEvaluation" } },
	};

	(void)state;
	admission_cycle_fixture_rows(rows, ARRAY_LEN(rows));
}

static void equal_input_gives_equal_output(void **state)
{
	static const char world[] =
		"cohort c\nqueue q cohort=c reclaim=Any within=LowerPriority\n"
		"queue r cohort=c reclaim=LowerPriority\nqueue s cohort=c\n"
		"quota q f cpu nominal=5\nquota r f cpu nominal=5\nquota s f cpu nominal=5\n"
		"workload h1 queue=s cpu=4 holds=f reserved=-50s\n"
		"workload h2 queue=s cpu=4 holds=f reserved=-40s\n"
		"workload h3 queue=r cpu=4 holds=f reserved=-40s\n"
		"workload a queue=q cpu=5\nworkload b queue=r cpu=4 prio=2\n"
		"workload d queue=s cpu=1\n";
	char first[1000];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct admission_cycle_fixture f;
		const char *text;

		admission_cycle_fixture_init(&f, world);
		text = admission_cycle_fixture_run(&f);
		if (i == 0) {
			snprintf(first, sizeof(first), "%s", text);
			assert_non_null(strstr(text, "preempt"));
		}
		assert_string_equal(text, first);
		admission_cycle_fixture_finish(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_head_of_each_queue_in_a_cycle),
		cmocka_unit_test(victims_keep_their_quota_until_they_are_gone),
		cmocka_unit_test(entries_without_quota_are_requeued),
		cmocka_unit_test(quota_is_as_before_until_decisions_are_applied),
		cmocka_unit_test(flavors_not_looked_at_yet_are_tried_at_once),
		cmocka_unit_test(quota_behind_the_scan_is_not_missed),
		cmocka_unit_test(every_cycle_counts),
		cmocka_unit_test(a_flavor_lost_within_a_cycle_is_tried_again),
		cmocka_unit_test(heads_of_one_queue_keep_their_order),
		cmocka_unit_test(equal_input_gives_equal_output),
	};

	return cmocka_run_group_tests_name("workloads/cycle/admission_cycle", tests, NULL, NULL);
}
