/* The largest amounts and numbers of things: sums along a tree saturate and never wrap, thousands
 * of flavors and resources are distinguished, and a circle of cohorts affects no other tree. */
#include "scheduler/workloads/forest/forest.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "lib/workloads/admission_cycle_fixture.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/pending/pending.h"

#define U QUOTA_UNLIMITED
#define HALF INT64_C(5000000000000000000) /* twice this is no int64 */
#define MOST "9223372036854775806"        /* largest amount that is not QUOTA_UNLIMITED */
#define TREE "cohort c\nqueue q cohort=c\nqueue o cohort=c\n"
#define NOMINAL(node, words) "quota " node " x gpu nominal=" words "\n"
#define HOLDS(name, amount) "workload " name " queue=q gpu=" amount " holds=gpu:x\n"

struct row {
	const char *world, *node;
	int64_t subtree, used, available, potential;
};

static const struct row rows[] = {
	/* Quota of two queues is more than can be counted. */
	{ TREE NOMINAL("q", "5e18") NOMINAL("o", "5e18"), "c", U, 0, U, U },
	{ TREE NOMINAL("q", "5e18") NOMINAL("o", "5e18"), "q", HALF, 0, U, U },
	{ TREE NOMINAL("q", MOST) NOMINAL("o", "1"), "c", U, 0, U, U },
	{ TREE NOMINAL("q", MOST) NOMINAL("o", "0"), "c", U - 1, 0, U - 1, U - 1 },
	/* Borrowing limits. */
	{ TREE NOMINAL("q", "5e18 borrow=5e18") NOMINAL("o", "5e18"), "q", HALF, 0, U, U },
	{ TREE NOMINAL("q", "5e18 borrow=1") NOMINAL("o", "5e18"), "q", HALF, 0, HALF + 1,
	  HALF + 1 },
	{ TREE NOMINAL("q", "0 borrow=" MOST) NOMINAL("o", "unlimited"), "q", 0, 0, U - 1, U - 1 },
	/* Lending limits: what is private is not in the cohort. */
	{ TREE NOMINAL("q", "5e18 lend=1") NOMINAL("o", "5e18"), "c", HALF + 1, 0, HALF + 1,
	  HALF + 1 },
	{ TREE NOMINAL("q", "5e18 lend=1") NOMINAL("o", "5e18"), "q", HALF, 0, U, U },
	{ TREE NOMINAL("q", MOST " lend=0") NOMINAL("o", "1"), "c", 1, 0, 1, 1 },
	{ TREE NOMINAL("q", "unlimited lend=7") NOMINAL("o", "0"), "c", 0, 0, 0, 0 },
	/* Usage that is more than can be counted: nothing is left, of unlimited quota neither. */
	{ TREE NOMINAL("q", "1") HOLDS("a", "5e18") HOLDS("b", "5e18"), "q", 1, U, INT64_MIN, 1 },
	{ TREE NOMINAL("q", "1") HOLDS("a", "5e18") HOLDS("b", "5e18"), "c", 1, U, INT64_MIN, 1 },
	{ TREE NOMINAL("q", "1") HOLDS("a", "5e18") HOLDS("b", "5e18"), "o", 0, 0, INT64_MIN, 1 },
	{ TREE NOMINAL("q", "unlimited") HOLDS("a", "5e18") HOLDS("b", "5e18"), "q", U, U, 0, U },
	{ TREE NOMINAL("q", "unlimited") HOLDS("a", MOST), "q", U, U - 1, U, U },
	/* Of usage beyond what is private only that rises. */
	{ TREE NOMINAL("q", MOST " lend=0") NOMINAL("o", "9") HOLDS("a", MOST) HOLDS("b", "5"), "c",
	  9, 5, 4, 9 },
};

static void sums_saturate(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		uint32_t node, pair;

		quota_world_init(&w, rows[i].world);
		node = quota_world_id(&w, rows[i].node);
		pair = quota_world_pair(&w, "x", "gpu");
		if (forest_subtree(w.f, node, pair) != rows[i].subtree ||
		    forest_usage(w.f, node, pair) != rows[i].used ||
		    forest_available(w.f, node, pair) != rows[i].available ||
		    forest_potential(w.f, node, pair) != rows[i].potential ||
		    forest_lendable(w.f, node, quota_world_resource(&w, "gpu")) !=
			    rows[i].potential) {
			fail_msg("row %zu: subtree %jd used %jd available %jd potential %jd", i,
				 (intmax_t)forest_subtree(w.f, node, pair),
				 (intmax_t)forest_usage(w.f, node, pair),
				 (intmax_t)forest_available(w.f, node, pair),
				 (intmax_t)forest_potential(w.f, node, pair));
		}
	}
}

static void saturated_sums_recover(void **state)
{
	struct quota_amount one = { .value = HALF };
	struct quota_amounts more = { .v = &one, .n = 1 };
	struct quota_world w;
	uint32_t q, c;
	size_t mark;

	(void)state;
	quota_world_init(&w, TREE NOMINAL("q", "1") HOLDS("a", "5e18") HOLDS("b", "4e18"));
	q = quota_world_id(&w, "q");
	c = quota_world_id(&w, "c");
	one.id = quota_world_pair(&w, "x", "gpu");
	mark = forest_mark(w.f);
	forest_add(w.f, q, &more);
	assert_int_equal(forest_usage(w.f, c, one.id), U);
	assert_false(forest_fits(w.f, q, &more));
	forest_undo(w.f, mark);
	assert_int_equal(forest_usage(w.f, c, one.id), HALF / 5 * 9);
	quota_world_add(&w, HOLDS("d", "5e18"));
	assert_int_equal(forest_usage(w.f, c, one.id), U);
	forest_release(w.f, quota_world_workload(&w, "a"));
	assert_int_equal(forest_usage(w.f, c, one.id), HALF / 5 * 9);
	forest_release(w.f, quota_world_workload(&w, "d"));
	forest_release(w.f, quota_world_workload(&w, "b"));
	assert_int_equal(forest_usage(w.f, c, one.id), 0);
	assert_int_equal(forest_usage(w.f, q, one.id), 0);
	quota_world_finish(&w);
}

static void shares_stay_numbers(void **state)
{
	struct quota_world w;
	struct share s;

	(void)state;
	quota_world_init(&w, TREE NOMINAL("q", "1") NOMINAL("o", "5e18") HOLDS("a", "5e18")
				     HOLDS("b", "5e18"));
	s = share_of(w.f, quota_world_id(&w, "q"), NULL);
	assert_true(s.borrowing);
	assert_true(share_status(s) > 1000 && share_status(s) < 2000);
	quota_world_finish(&w);
	quota_world_init(&w, TREE NOMINAL("q", "0") NOMINAL("o", "1") HOLDS("a", MOST));
	s = share_of(w.f, quota_world_id(&w, "q"), NULL);
	assert_int_equal(share_status(s), INT64_MAX);
	quota_world_finish(&w);
}

static void all_of_it_is_preempted_for_all_of_it(void **state)
{
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(
		&f, "queue q within=LowerPriority\n" NOMINAL("q", MOST) HOLDS("a", "3e18")
			    HOLDS("b", "3e18")
				    HOLDS("d", "3e18") "workload p queue=q prio=1 gpu=" MOST "\n");
	(void)admission_cycle_fixture_run(&f);
	assert_int_equal(f.last->n, 4);
	admission_cycle_fixture_stop(&f, false);
	assert_string_equal(admission_cycle_fixture_run(&f), "admit p to q gpu=x");
	admission_cycle_fixture_finish(&f);
}

/* --- thousands ---------------------------------------------------------------------------------*/

#define MANY 2000

static void the_last_of_many_flavors_is_found(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct admission_cycle_fixture f;

	(void)state;
	strbuf_printf(&text, "queue q\n");
	for (int i = 0; i < MANY; i++) {
		strbuf_printf(&text, "quota q f%d gpu nominal=%d\n", i, i == MANY - 1 ? 2 : 1);
	}
	strbuf_printf(&text, "workload w queue=q gpu=2\n");
	admission_cycle_fixture_init(&f, text.p);
	assert_string_equal(admission_cycle_fixture_run(&f), "admit w to q gpu=f1999");
	admission_cycle_fixture_finish(&f);
}

/* Pairs with ids that share a bit of quota_amounts_mask are distinguished. */
static void many_resources_are_distinguished(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct admission_cycle_fixture f;

	(void)state;
	strbuf_printf(&text, "queue q within=LowerPriority\n");
	for (int i = 0; i < MANY; i++) {
		strbuf_printf(&text, "quota q x r%d nominal=1\n", i);
	}
	strbuf_printf(&text, "workload a queue=q r1998=1 holds=r1998:x\n"
			     "workload b queue=q r1999=1 holds=r1999:x\n"
			     "workload d queue=q r0=1 holds=r0:x\n"
			     "workload p queue=q prio=1 r1999=1\n");
	admission_cycle_fixture_init(&f, text.p);
	assert_non_null(strstr(admission_cycle_fixture_run(&f), "preempt b for p InClusterQueue"));
	assert_int_equal(f.last->n, 2);
	admission_cycle_fixture_stop(&f, false);
	assert_non_null(strstr(admission_cycle_fixture_run(&f), "admit p to q r1999=x"));
	admission_cycle_fixture_finish(&f);
}

/* --- circles -----------------------------------------------------------------------------------*/

#define HEALTHY                                                                                    \
	"cohort root\nqueue in cohort=root\nqueue by cohort=root\nqueue alone\n" NOMINAL(          \
		"in", "1") NOMINAL("by", "1")                                                      \
		NOMINAL("alone", "2") "workload v queue=in gpu=2\nworkload w queue=alone gpu=2\n"
#define CIRCLE                                                                                     \
	"cohort c parent=d\ncohort d parent=c\ncohort below parent=d\nqueue on cohort=c\n"         \
	"queue under cohort=below\n" NOMINAL("cohort/c", "9") NOMINAL("on", "1")                   \
		NOMINAL("under", "1") "workload x queue=on gpu=1\nworkload y queue=under gpu=1\n"

static void a_circle_of_cohorts_affects_no_other_tree(void **state)
{
	static const char expected[] = "admit w to alone gpu=x; admit v to in gpu=x";
	struct admission_cycle_fixture f;

	(void)state;
	admission_cycle_fixture_init(&f, HEALTHY);
	assert_string_equal(admission_cycle_fixture_run(&f), expected);
	admission_cycle_fixture_finish(&f);
	admission_cycle_fixture_init(&f, HEALTHY CIRCLE);
	assert_string_equal(admission_cycle_fixture_run(&f), expected);
	assert_int_equal(quota_world_node(&f.w, "on")->queue->inactive, QUOTA_COHORT_CYCLE);
	assert_int_equal(quota_world_node(&f.w, "under")->queue->inactive, QUOTA_COHORT_CYCLE);
	assert_int_equal(quota_world_node(&f.w, "in")->queue->inactive, QUOTA_ACTIVE);
	/* The circle is opened. */
	admission_cycle_fixture_add(&f, "cohort d parent=root\n");
	pending_flush(f.w.q, f.w.f, quota_world_id(&f.w, "root"), f.w.now);
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "admit x to on gpu=x; admit y to under gpu=x");
	/* Another tree joins the circle: it keeps its usage and is admitted nothing more. */
	admission_cycle_fixture_add(&f, "cohort root parent=below\nworkload z queue=by gpu=1\n"
					"workload u queue=alone gpu=1\n");
	assert_string_equal(admission_cycle_fixture_run(&f),
			    "wait u inadmissible PreemptionNoCandidates WaitingForQuota");
	assert_int_equal(quota_world_workload(&f.w, "x")->holding.node, quota_world_id(&f.w, "on"));
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test(saturated_sums_recover),
		cmocka_unit_test(shares_stay_numbers),
		cmocka_unit_test(all_of_it_is_preempted_for_all_of_it),
		cmocka_unit_test(the_last_of_many_flavors_is_found),
		cmocka_unit_test(many_resources_are_distinguished),
		cmocka_unit_test(a_circle_of_cohorts_affects_no_other_tree),
	};

	return cmocka_run_group_tests_name("workloads/forest/forest_limits", tests, NULL, NULL);
}
