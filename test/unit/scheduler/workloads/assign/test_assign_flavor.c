#include "scheduler/workloads/assign/assign_flavor.h"

#include <stdio.h>

#include "lib/unit.h"
#include "unit/scheduler/workloads/assign/assign_fixture.h"

#define expect assign_fixture_expect

/* Queue q with 2 cpu of its own and 10 of its neighbour, which uses all of them. */
#define NEIGHBOUR_IS_FULL                                                                          \
	"quota q f cpu nominal=2\n"                                                                \
	"queue o cohort=c\n"                                                                       \
	"quota o f cpu nominal=10\n"                                                               \
	"workload ns/v queue=o cpu=10 holds=f\n"                                                   \
	"workload ns/w queue=q cpu=3\n"

static void test_within_nominal_quota_it_fits_at_level_0(void **state)
{
	(void)state;
	expect("queue q\nquota q f cpu nominal=3\nworkload ns/w queue=q cpu=3\n", NULL,
	       "Fit 0 | main*1 cpu=f/Fit/0/-1");
	expect("queue q cohort=c\nquota q f cpu nominal=3\nworkload ns/w queue=q cpu=3\n", NULL,
	       "Fit 0 | main*1 cpu=f/Fit/0/-1");
	expect("queue q\nquota q f cpu nominal=unlimited\nworkload ns/w queue=q cpu=3\n", NULL,
	       "Fit 0 | main*1 cpu=f/Fit/0/-1");
}

static void test_the_level_is_the_height_of_the_cohort_that_lends(void **state)
{
	(void)state;
	expect("queue q cohort=c\nqueue o cohort=c\nquota q f cpu nominal=2\n"
	       "quota o f cpu nominal=10\nworkload ns/w queue=q cpu=3\n",
	       NULL, "Fit 1 | main*1 cpu=f/Fit/1/-1");
	expect("cohort c parent=r\nqueue q cohort=c\nqueue o cohort=r\n"
	       "quota q f cpu nominal=2\nquota o f cpu nominal=10\nworkload ns/w queue=q cpu=3\n",
	       NULL, "Fit 2 | main*1 cpu=f/Fit/2/-1");
}

static void test_more_than_it_could_ever_have_does_not_fit(void **state)
{
	(void)state;
	/* No search for victims, whatever the policies. */
	expect("queue q within=LowerPriority\nquota q f cpu nominal=2\n"
	       "workload ns/w queue=q cpu=3\n",
	       "f/cpu=inside@0", "NoFit 0 ExceedsMaxQuota | main*1");
	expect("queue q cohort=c borrow=LowerPriority reclaim=Any\nqueue o cohort=c\n"
	       "quota q f cpu nominal=2 borrow=4\nquota o f cpu nominal=10\n"
	       "workload ns/w queue=q cpu=7\n",
	       "f/cpu=outside@0", "NoFit 0 ExceedsMaxQuota | main*1");
	/* A borrowing limit beyond what the cohort has is no quota. */
	expect("queue q cohort=c\nqueue o cohort=c\nquota q f cpu nominal=2 borrow=100\n"
	       "quota o f cpu nominal=1\nworkload ns/w queue=q cpu=4\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1");
}

static void test_nominal_quota_that_is_used_can_be_preempted_for(void **state)
{
	static const char world[] = "queue q\nquota q f cpu nominal=3\n"
				    "workload ns/v queue=q cpu=1 holds=f\n"
				    "workload ns/w queue=q cpu=3\n";

	(void)state;
	expect(world, NULL, "Preempt 0 | main*1 cpu=f/NoCandidates/0/-1");
	expect(world, "f/cpu=inside@0", "Preempt 0 | main*1 cpu=f/Preempt/0/-1");
	expect(world, "f/cpu=outside@0", "Preempt 0 | main*1 cpu=f/Reclaim/0/-1");
}

static void test_the_level_is_that_without_the_victims(void **state)
{
	(void)state;
	expect("queue q cohort=c borrow=LowerPriority reclaim=LowerPriority\n" NEIGHBOUR_IS_FULL,
	       "f/cpu=outside@7", "Preempt 7 | main*1 cpu=f/Reclaim/7/-1");
	/* Without victims it is the present level, whatever the search returned. */
	expect("queue q cohort=c borrow=LowerPriority reclaim=LowerPriority\n" NEIGHBOUR_IS_FULL,
	       NULL, "Preempt 1 | main*1 cpu=f/NoCandidates/1/-1");
}

static void test_quota_of_the_own_subtree_can_be_reclaimed(void **state)
{
	/* Cohort c has 4 of 8; o took 6, so 2 are left in the root. */
	static const char world[] = "cohort c parent=r\nqueue q cohort=c\nqueue p cohort=c\n"
				    "queue o cohort=r\nquota q f cpu nominal=0\n"
				    "quota p f cpu nominal=4\nquota o f cpu nominal=4\n"
				    "workload ns/v queue=o cpu=6 holds=f\n"
				    "workload ns/w queue=q cpu=%d\n";
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), world, 3);
	expect(text, "f/cpu=outside@1", "Preempt 1 | main*1 cpu=f/Reclaim/1/-1");
	/* More than the quota of the subtree only fits with borrowWithinCohort. */
	snprintf(text, sizeof(text), world, 5);
	expect(text, "f/cpu=outside@1", "NoFit 0 WaitingForQuota | main*1");
}

static void test_beyond_nominal_quota_it_waits(void **state)
{
	(void)state;
	expect("queue q cohort=c within=LowerPriority reclaim=Any\n" NEIGHBOUR_IS_FULL,
	       "f/cpu=outside@1", "NoFit 0 WaitingForQuota | main*1");
}

static void test_borrow_within_cohort_preempts_beyond_nominal_quota(void **state)
{
	(void)state;
	expect("queue q cohort=c reclaim=Any borrow=LowerPriority\n" NEIGHBOUR_IS_FULL,
	       "f/cpu=outside@1", "Preempt 1 | main*1 cpu=f/Reclaim/1/-1");
}

static void test_fair_sharing_with_reclaim_preempts_beyond_nominal_quota(void **state)
{
	(void)state;
	expect("option fair_sharing=true\nqueue q cohort=c "
	       "reclaim=LowerPriority\n" NEIGHBOUR_IS_FULL,
	       "f/cpu=outside@1", "Preempt 1 | main*1 cpu=f/Reclaim/1/-1");
	expect("option fair_sharing=true\nqueue q cohort=c "
	       "within=LowerPriority\n" NEIGHBOUR_IS_FULL,
	       "f/cpu=outside@1", "NoFit 0 WaitingForQuota | main*1");
}

static void test_over_use_is_nothing_available(void **state)
{
	/* 3 of 2 are in use: nothing still fits. */
	expect("queue q\nquota q f cpu nominal=2\nworkload ns/v queue=q cpu=3 holds=f\n"
	       "workload ns/w queue=q cpu=0\n",
	       NULL, "Fit 0 | main*1 cpu=f/Fit/0/-1");
	expect("queue q\nquota q f cpu nominal=2\nworkload ns/v queue=q cpu=3 holds=f\n"
	       "workload ns/w queue=q cpu=1\n",
	       NULL, "Preempt 0 | main*1 cpu=f/NoCandidates/0/-1");
	(void)state;
}

static void test_the_oracle_is_asked_for_all_of_the_workload(void **state)
{
	struct assign_fixture x;

	(void)state;
	assign_fixture_init(&x, "queue q\nquota q f cpu nominal=3\n"
				"workload ns/v queue=q cpu=2 holds=f\n"
				"workload ns/w queue=q cpu=1\npodset ps cpu=2\n");
	assert_string_equal(assign_fixture_run(&x), "Preempt 0 | main*1 cpu=f/Fit/0/-1; "
						    "ps*1 cpu=f/NoCandidates/0/-1");
	assert_string_equal(x.asked.p, "f/cpu=3000 ");
	x.request.probe = NULL;
	assert_string_equal(assign_fixture_run(&x), "Preempt 0 | main*1 cpu=f/Fit/0/-1; "
						    "ps*1 cpu=f/NoCandidates/0/-1");
	assign_fixture_finish(&x);
}

static void test_requests_beyond_counting_do_not_fit(void **state)
{
	(void)state;
	expect("queue q\nquota q f memory nominal=10\n"
	       "workload ns/w queue=q memory=8Ei\npodset ps memory=8Ei pods=2000000000\n",
	       NULL, "NoFit 0 ExceedsMaxQuota | main*1; ps*2000000000");
	expect("queue q\nquota q f memory nominal=unlimited\n"
	       "workload ns/w queue=q memory=7Ei\npodset ps memory=7Ei pods=2000000000\n",
	       NULL, "Fit 0 | main*1 memory=f/Fit/0/-1; ps*2000000000 memory=f/Fit/0/-1");
}

/* --- preference
 * ---------------------------------------------------------------------------------*/

static const struct assign_fit no_fit = { FLAVOR_NO_FIT, 0 },
			       no_candidates = { FLAVOR_NO_CANDIDATES, 0 },
			       no_candidates_1 = { FLAVOR_NO_CANDIDATES, 1 },
			       preempt = { FLAVOR_PREEMPT, 0 }, preempt_1 = { FLAVOR_PREEMPT, 1 },
			       reclaim = { FLAVOR_RECLAIM, 0 }, reclaim_1 = { FLAVOR_RECLAIM, 1 },
			       fit = { FLAVOR_FIT, 0 }, fit_1 = { FLAVOR_FIT, 1 },
			       fit_2 = { FLAVOR_FIT, 2 };

/* From the worst to the best: each is preferred to all before it, and to none behind it. */
static void check_ranking(enum quota_preference p, const struct assign_fit *const *rank, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(assign_flavor_is_preferred(*rank[i], *rank[k], p), i > k);
		}
	}
}

static void test_borrowing_over_preemption_prefers_the_mode(void **state)
{
	static const struct assign_fit *const rank[] = {
		&no_fit,    &no_candidates_1, &no_candidates, &preempt_1, &preempt,
		&reclaim_1, &reclaim,         &fit_2,         &fit_1,     &fit,
	};

	(void)state;
	check_ranking(QUOTA_BORROWING_OVER_PREEMPTION, rank, ARRAY_LEN(rank));
}

static void test_preemption_over_borrowing_prefers_the_level(void **state)
{
	static const struct assign_fit *const rank[] = {
		&no_fit,    &no_candidates_1, &no_candidates, &fit_2,   &preempt_1,
		&reclaim_1, &fit_1,           &preempt,       &reclaim, &fit,
	};

	(void)state;
	check_ranking(QUOTA_PREEMPTION_OVER_BORROWING, rank, ARRAY_LEN(rank));
}

static void test_the_next_flavor_is_tried(void **state)
{
	static const enum quota_search choice[] = { QUOTA_MAY_STOP_SEARCH, QUOTA_TRY_NEXT_FLAVOR };
	enum { STOP, NEXT }; /* whenCanBorrow, whenCanPreempt: TryNextFlavor */
	static const struct {
		const char *name;
		const struct assign_fit *fit;
		int borrow, preempt;
		bool next;
	} rows[] = {
		{ "no fit", &no_fit, STOP, STOP, true },
		{ "no candidates", &no_candidates, STOP, STOP, true },
		{ "preempts; whenCanBorrow: TryNextFlavor", &preempt, NEXT, STOP, false },
		{ "preempts; whenCanPreempt: TryNextFlavor", &preempt, STOP, NEXT, true },
		{ "reclaims; whenCanBorrow: TryNextFlavor", &reclaim, NEXT, STOP, false },
		{ "reclaims; whenCanPreempt: TryNextFlavor", &reclaim, STOP, NEXT, true },
		{ "preempts and borrows", &preempt_1, STOP, STOP, false },
		{ "preempts and borrows; whenCanBorrow: TryNextFlavor", &preempt_1, NEXT, STOP,
		  true },
		{ "reclaims and borrows", &reclaim_1, STOP, STOP, false },
		{ "reclaims and borrows; whenCanBorrow: TryNextFlavor", &reclaim_1, NEXT, STOP,
		  true },
		{ "fits; both: TryNextFlavor", &fit, NEXT, NEXT, false },
		{ "borrows; whenCanPreempt: TryNextFlavor", &fit_1, STOP, NEXT, false },
		{ "borrows; whenCanBorrow: TryNextFlavor", &fit_1, NEXT, STOP, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cluster_queue queue = { .when_can_borrow = choice[rows[i].borrow],
					       .when_can_preempt = choice[rows[i].preempt] };

		unit_row(rows[i].name);
		assert_int_equal(assign_flavor_try_next(&queue, *rows[i].fit), rows[i].next);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_nominal_quota_it_fits_at_level_0),
		cmocka_unit_test(test_the_level_is_the_height_of_the_cohort_that_lends),
		cmocka_unit_test(test_more_than_it_could_ever_have_does_not_fit),
		cmocka_unit_test(test_nominal_quota_that_is_used_can_be_preempted_for),
		cmocka_unit_test(test_the_level_is_that_without_the_victims),
		cmocka_unit_test(test_quota_of_the_own_subtree_can_be_reclaimed),
		cmocka_unit_test(test_beyond_nominal_quota_it_waits),
		cmocka_unit_test(test_borrow_within_cohort_preempts_beyond_nominal_quota),
		cmocka_unit_test(test_fair_sharing_with_reclaim_preempts_beyond_nominal_quota),
		cmocka_unit_test(test_over_use_is_nothing_available),
		cmocka_unit_test(test_the_oracle_is_asked_for_all_of_the_workload),
		cmocka_unit_test(test_requests_beyond_counting_do_not_fit),
		cmocka_unit_test(test_borrowing_over_preemption_prefers_the_mode),
		cmocka_unit_test(test_preemption_over_borrowing_prefers_the_level),
		cmocka_unit_test(test_the_next_flavor_is_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
