#include "scheduler/workloads/cycle/process_entry.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"

struct row {
	const char *option, *world, *decided;
};

static void run_rows(const char *world, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct admission_cycle_fixture f;

		admission_cycle_fixture_init(&f, rows[i].option);
		admission_cycle_fixture_add(&f, world);
		admission_cycle_fixture_add(&f, rows[i].world);
		assert_string_equal(admission_cycle_fixture_run(&f), rows[i].decided);
		admission_cycle_fixture_finish(&f);
	}
}

/* Two queues want what one victim leaves: the second one is computed again. */
static void overlapping_victims(void **state)
{
	static const char world[] = "queue a cohort=c reclaim=Any\nqueue b cohort=c reclaim=Any\n"
				    "queue x cohort=c\n"
				    "quota a f cpu nominal=2\nquota b f cpu nominal=2\n"
				    "quota x f cpu nominal=2\n"
				    "workload wa queue=a cpu=2 prio=2\n"
				    "workload wb queue=b cpu=2 prio=1\n";
	static const struct row rows[] = {
		{ "", "workload x1 queue=x cpu=6 holds=f reserved=-9s\n",
		  "preempt x1 for wa InCohortReclamation; "
		  "wait wa heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wb heap PendingPreemption WaitingForPreemptedWorkloads" },
		{ "",
		  "workload x1 queue=x cpu=3 holds=f reserved=-9s\n"
		  "workload x2 queue=x cpu=3 holds=f reserved=-8s\n",
		  "preempt x2 for wa InCohortReclamation; preempt x1 for wb InCohortReclamation; "
		  "wait wa heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wb heap PendingPreemption WaitingForPreemptedWorkloads" },
		{ "option recompute_on_overlap=false\n",
		  "workload x1 queue=x cpu=6 holds=f reserved=-9s\n",
		  "preempt x1 for wa InCohortReclamation; "
		  "wait wa heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wb heap FailedAfterNomination WaitingForQuota" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

/* An entry that fits once a victim is gone takes that room: the third one needs another victim. */
static void a_deferred_fit_takes_its_room(void **state)
{
	static const char world[] =
		"queue a cohort=c reclaim=Any\nqueue b cohort=c reclaim=Any\n"
		"queue d cohort=c reclaim=Any\nqueue x cohort=c\nqueue y cohort=c\n"
		"quota a f cpu nominal=2\nquota b f cpu nominal=2\nquota d f cpu nominal=2\n"
		"quota x f cpu nominal=2\nquota y f cpu nominal=0\n"
		"workload wa queue=a cpu=2 prio=3\nworkload wb queue=b cpu=2 prio=2\n"
		"workload wd queue=d cpu=2 prio=1\n";
	static const struct row rows[] = {
		{ "",
		  "workload x1 queue=x cpu=4 holds=f reserved=-8s\n"
		  "workload y1 queue=y cpu=4 holds=f reserved=-9s\n",
		  "preempt x1 for wa InCohortReclamation; preempt y1 for wd InCohortReclamation; "
		  "wait wa heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wb heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wd heap PendingPreemption WaitingForPreemptedWorkloads" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

static void recomputation_is_reported(void **state)
{
	struct admission_cycle_fixture f;
	const struct admission_decision *d;

	(void)state;
	admission_cycle_fixture_init(&f,
				     "queue a cohort=c reclaim=Any\nqueue b cohort=c reclaim=Any\n"
				     "queue x cohort=c\n"
				     "quota a f cpu nominal=2\nquota b f cpu nominal=2\n"
				     "quota x f cpu nominal=2\n"
				     "workload x1 queue=x cpu=6 holds=f reserved=-9s\n"
				     "workload wa queue=a cpu=2 prio=2\n"
				     "workload wb queue=b cpu=2 prio=1\n");
	(void)admission_cycle_fixture_run(&f);
	assert_int_equal(f.last->n, 3);
	d = &f.last->v[2];
	assert_int_equal(d->recompute, QUOTA_RECOMPUTE_DEFERRED_FIT);
	assert_int_equal(d->assignment->mode, ASSIGN_DEFERRED_FIT);
	assert_int_equal(f.last->v[1].recompute, QUOTA_RECOMPUTE_NONE);
	admission_cycle_fixture_finish(&f);
}

static void earlier_ones_take_the_quota(void **state)
{
	static const char world[] = "queue a cohort=c\nqueue b cohort=c\nqueue x cohort=c\n"
				    "quota a f cpu nominal=0\nquota b f cpu nominal=0\n"
				    "quota x f cpu nominal=4\n"
				    "workload wa queue=a cpu=3 prio=2\n";
	static const struct row rows[] = {
		{ "", "workload wb queue=b cpu=2 prio=1\n",
		  "admit wa to a cpu=f; wait wb heap FailedAfterNomination WaitingForQuota" },
		/* Any number of borrowers of one cohort get in when they fit. */
		{ "", "workload wb queue=b cpu=1 prio=1\n",
		  "admit wa to a cpu=f; admit wb to b cpu=f" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

/* A blocked head keeps its nominal share from borrowers of the cycle, unless it can always reclaim
 * it. */
static void capacity_is_reserved_for_a_blocked_head(void **state)
{
	static const char world[] = "queue a cohort=c\nqueue b cohort=c\n"
				    "quota a f cpu nominal=4\nquota b f cpu nominal=0\n"
				    "workload run queue=a cpu=2 holds=f reserved=-9s\n"
				    "workload wa queue=a cpu=3 prio=2\n"
				    "workload wb queue=b cpu=2 prio=1\n";
	static const struct row rows[] = {
		{ "", "queue a reclaim=Never\n",
		  "wait wa inadmissible PreemptionNoCandidates WaitingForQuota; "
		  "wait wb heap FailedAfterNomination WaitingForQuota" },
		{ "", "queue a reclaim=LowerPriority\n",
		  "wait wa inadmissible PreemptionNoCandidates WaitingForQuota; "
		  "wait wb heap FailedAfterNomination WaitingForQuota" },
		{ "", "queue a reclaim=Any\n",
		  "admit wb to b cpu=f; "
		  "wait wa inadmissible PreemptionNoCandidates WaitingForQuota" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

static void a_closed_gate_holds_back_preemption_and_reserves_nothing(void **state)
{
	static const char world[] = "queue a cohort=c within=LowerPriority\nqueue b cohort=c\n"
				    "quota a f cpu nominal=4\nquota b f cpu nominal=0\n"
				    "workload low queue=a cpu=2 prio=-9 holds=f reserved=-9s\n"
				    "workload wb queue=b cpu=2 prio=1\n";
	static const struct row rows[] = {
		{ "option preemption_gates=true\n",
		  "workload wa queue=a cpu=3 prio=2 preemption-gated\n",
		  "admit wb to b cpu=f; wait wa inadmissible PreemptionGated AdmissionGated" },
		{ "option preemption_gates=false\n",
		  "workload wa queue=a cpu=3 prio=2 preemption-gated\n",
		  "preempt low for wa InClusterQueue; "
		  "wait wa heap PendingPreemption WaitingForPreemptedWorkloads; "
		  "wait wb heap FailedAfterNomination WaitingForQuota" },
		/* An entry that fits without preemption is not affected. */
		{ "option preemption_gates=true\n",
		  "workload wa queue=a cpu=2 prio=2 preemption-gated\n",
		  "admit wa to a cpu=f; wait wb heap FailedAfterNomination WaitingForQuota" },
		/* Without victims the gate has no effect. */
		{ "option preemption_gates=true\n",
		  "workload wa queue=a cpu=3 prio=-10 preemption-gated\n",
		  "admit wb to b cpu=f; "
		  "wait wa inadmissible PreemptionNoCandidates WaitingForQuota" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

/* KEP-8303, design details: the gate does not change which flavor is chosen. */
static void a_gate_does_not_change_the_flavor(void **state)
{
	enum { NO, FITS, PREEMPTS };
	static const char *const quota[] = { [NO] = "0", [FITS] = "2", [PREEMPTS] = "2" };
	static const struct {
		int a, b;
		const char *stop, *next; /* flavors by whenCanPreempt; "!": by preemption */
	} rows[] = {
		{ FITS, FITS, "a", "a" },     { FITS, NO, "a", "a" },
		{ FITS, PREEMPTS, "a", "a" }, { PREEMPTS, FITS, "!a", "b" },
		{ PREEMPTS, NO, "!a", "!a" }, { PREEMPTS, PREEMPTS, "!a", "!a" },
		{ NO, FITS, "b", "b" },       { NO, NO, "", "" },
		{ NO, PREEMPTS, "!b", "!b" },
	};

	(void)state;
	for (size_t i = 0; i < 4 * ARRAY_LEN(rows); i++) {
		bool stops = i % 2 == 0, gated = i / 2 % 2 == 0;
		size_t at = i / 4;
		const char *flavor = stops ? rows[at].stop : rows[at].next;
		char world[1024], wants[256];

		snprintf(world, sizeof(world),
			 "option preemption_gates=true\n"
			 "queue q within=LowerPriority whenpreempt=%s\n"
			 "quota q a cpu nominal=%s\nquota q b cpu nominal=%s\n"
			 "%s%sworkload w queue=q cpu=2 prio=1%s\n",
			 stops ? "MayStopSearch" : "TryNextFlavor", quota[rows[at].a],
			 quota[rows[at].b],
			 rows[at].a == PREEMPTS
				 ? "workload va queue=q cpu=2 prio=-1 holds=a reserved=-9s\n"
				 : "",
			 rows[at].b == PREEMPTS
				 ? "workload vb queue=q cpu=2 prio=-1 holds=b reserved=-9s\n"
				 : "",
			 gated ? " preemption-gated" : "");
		if (flavor[0] == '\0') {
			snprintf(wants, sizeof(wants), "wait w inadmissible NoFit ExceedsMaxQuota");
		} else if (flavor[0] != '!') {
			snprintf(wants, sizeof(wants), "admit w to q cpu=%s", flavor);
		} else if (gated) {
			snprintf(wants, sizeof(wants),
				 "wait w inadmissible PreemptionGated AdmissionGated");
		} else {
			snprintf(wants, sizeof(wants),
				 "preempt v%s for w InClusterQueue; "
				 "wait w heap PendingPreemption WaitingForPreemptedWorkloads",
				 flavor + 1);
		}
		run_rows(world, &(struct row){ "", "", wants }, 1);
	}
}

/* The same where flavor a fits by borrowing alone: what whenCanBorrow and the preference choose is
 * what the gated one gets, or is kept from. */
static void a_gate_does_not_change_where_it_borrows(void **state)
{
	enum { NO, FITS, PREEMPTS };
	static const struct {
		int b;
		const char *borrow, *preference, *flavor; /* "!": by preemption */
	} rows[] = {
		{ NO, "MayStopSearch", "BorrowingOverPreemption", "a" },
		{ NO, "TryNextFlavor", "BorrowingOverPreemption", "a" },
		{ FITS, "MayStopSearch", "BorrowingOverPreemption", "a" },
		{ FITS, "TryNextFlavor", "BorrowingOverPreemption", "b" },
		{ PREEMPTS, "MayStopSearch", "BorrowingOverPreemption", "a" },
		{ PREEMPTS, "TryNextFlavor", "BorrowingOverPreemption", "a" },
		{ PREEMPTS, "TryNextFlavor", "PreemptionOverBorrowing", "!b" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
		bool gated = i % 2 == 0;
		const char *flavor = rows[i / 2].flavor;
		char world[1024], wants[256];

		unit_row_number(i / 2);
		snprintf(world, sizeof(world),
			 "option preemption_gates=true\n"
			 "queue lender cohort=c\nquota lender a cpu nominal=2\n"
			 "queue q cohort=c within=LowerPriority whenborrow=%s "
			 "whenpreempt=TryNextFlavor "
			 "preference=%s\n"
			 "quota q a cpu nominal=0\nquota q b cpu nominal=%s\n"
			 "%sworkload w queue=q cpu=2 prio=1%s\n",
			 rows[i / 2].borrow, rows[i / 2].preference,
			 rows[i / 2].b == NO ? "0" : "2",
			 rows[i / 2].b == PREEMPTS
				 ? "workload vb queue=q cpu=2 prio=-1 holds=b reserved=-9s\n"
				 : "",
			 gated ? " preemption-gated" : "");
		if (flavor[0] != '!') {
			snprintf(wants, sizeof(wants), "admit w to q cpu=%s", flavor);
		} else if (gated) {
			snprintf(wants, sizeof(wants),
				 "wait w inadmissible PreemptionGated AdmissionGated");
		} else {
			snprintf(wants, sizeof(wants),
				 "preempt vb for w InClusterQueue; "
				 "wait w heap PendingPreemption WaitingForPreemptedWorkloads");
		}
		run_rows(world, &(struct row){ "", "", wants }, 1);
	}
}

/* The message becomes that of QuotaReserved, and of the event about it. */
static void preempting_in_spite_of_a_gate_is_said(void **state)
{
	struct admission_cycle_fixture f;
	const char *message = NULL;

	(void)state;
	admission_cycle_fixture_init(&f, "option preemption_gates=false\n"
					 "queue q within=LowerPriority\nquota q f cpu nominal=2\n"
					 "workload low queue=q cpu=2 prio=-9 holds=f reserved=-9s\n"
					 "workload w queue=q cpu=2 prio=1 preemption-gated\n");
	(void)admission_cycle_fixture_run(&f);
	for (size_t i = 0; i < f.last->n; i++) {
		if (f.last->v[i].workload == quota_world_workload(&f.w, "w")->id) {
			message = f.last->v[i].message;
		}
	}
	assert_non_null(message);
	assert_non_null(strstr(message, "its preemption gates have no effect, because the feature "
					"gate MultiKueueOrchestratedPreemption is off"));
	admission_cycle_fixture_finish(&f);
}

/* Kueue: waitForPodsReady.blockAdmission. */
static void one_after_the_other_until_its_pods_are_ready(void **state)
{
	static const char world[] = "queue a\nqueue b within=LowerPriority\n"
				    "quota a f cpu nominal=2\nquota b f cpu nominal=2\n"
				    "workload wa queue=a cpu=1 prio=2\n"
				    "workload wb queue=b cpu=2 prio=1\n";
	static const struct row rows[] = {
		{ "option block_admission=true\n", "",
		  "admit wa to a cpu=f; wait wb heap FailedAfterNomination WaitingForPodsReady" },
		{ "option block_admission=true\n", "workload x queue=a cpu=1 holds=f pods-ready\n",
		  "admit wa to a cpu=f; wait wb heap FailedAfterNomination WaitingForPodsReady" },
		{ "option block_admission=true\n",
		  "workload x queue=b cpu=1 prio=-1 holds=f reserved=-9s\n",
		  "wait wa heap FailedAfterNomination WaitingForPodsReady; "
		  "wait wb heap FailedAfterNomination WaitingForPodsReady" },
		{ "", "workload x queue=a cpu=1 holds=f\n",
		  "admit wa to a cpu=f; admit wb to b cpu=f" },
	};

	(void)state;
	run_rows(world, rows, ARRAY_LEN(rows));
}

/* A Workload that a cycle has claimed is free in the next one. */
static void a_cycle_begins_without_claims(void **state)
{
	struct admission_cycle_fixture f;
	struct process p = { 0 };
	uint32_t id;

	(void)state;
	admission_cycle_fixture_init(&f, "queue q\nworkload w queue=q cpu=1\n");
	id = quota_world_workload(&f.w, "w")->id;
	for (unsigned i = 0; i < 2; i++) {
		process_entry_begin(&p, f.w.f, NULL, NULL, 0, NULL);
		assert_int_equal(p.claimed.n, 0);
		assert_int_equal(p.claimed_mark.v[id], 0);
		vec_push(&p.claimed, id);
		p.claimed_mark.v[id] = 1;
		process_entry_end(&p);
	}
	process_entry_finish(&p);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cycle_begins_without_claims),
		cmocka_unit_test(overlapping_victims),
		cmocka_unit_test(a_deferred_fit_takes_its_room),
		cmocka_unit_test(recomputation_is_reported),
		cmocka_unit_test(one_after_the_other_until_its_pods_are_ready),
		cmocka_unit_test(earlier_ones_take_the_quota),
		cmocka_unit_test(capacity_is_reserved_for_a_blocked_head),
		cmocka_unit_test(a_closed_gate_holds_back_preemption_and_reserves_nothing),
		cmocka_unit_test(a_gate_does_not_change_the_flavor),
		cmocka_unit_test(a_gate_does_not_change_where_it_borrows),
		cmocka_unit_test(preempting_in_spite_of_a_gate_is_said),
	};

	return cmocka_run_group_tests_name("workloads/cycle/process_entry", tests, NULL, NULL);
}
