#include "scheduler/workloads/cycle/entry_order.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "lib/unit.h"
#include "scheduler/workloads/forest/share.h"
#include "unit/scheduler/workloads/cycle/order_fixture.h"

#define FAIR "option fair_sharing=true\n"
#define expect order_fixture_expect

/* Queues x, y, z of one cpu each in one cohort, which has 9 more. */
#define COHORT                                                                                     \
	"cohort c\nqueue x cohort=c\nqueue y cohort=c\nqueue z cohort=c\nquota cohort/c f cpu "    \
	"nominal=9\n"                                                                              \
	"quota x f cpu nominal=1\nquota y f cpu nominal=1\nquota z f cpu nominal=1\n"

static void test_the_lower_share_is_first(void **state)
{
	(void)state;
	expect(FAIR COHORT
	       "workload ns/used-x queue=x cpu=3 holds=f\n"
	       "workload ns/used-y queue=y cpu=2 holds=f\n"
	       "workload ns/x queue=x cpu=1 prio=9\nworkload ns/y queue=y cpu=1 prio=5\n"
	       "workload ns/z queue=z cpu=2\n",
	       "z y x");
}

static void test_the_entry_itself_counts(void **state)
{
	(void)state;
	/* y uses more than x, but its entry is so much smaller. */
	expect(FAIR COHORT "workload ns/used-y queue=y cpu=2 holds=f\n"
			   "workload ns/x queue=x cpu=4\nworkload ns/y queue=y cpu=1\n",
	       "y x");
}

static void test_a_share_is_by_weight(void **state)
{
	(void)state;
	expect(FAIR "cohort c\nqueue x cohort=c\nqueue y cohort=c weight=3\nquota cohort/c f cpu "
		    "nominal=9\n"
		    "quota x f cpu nominal=0\nquota y f cpu nominal=0\n"
		    "workload ns/x queue=x cpu=1\nworkload ns/y queue=y cpu=2\n",
	       "y x");
	/* Weight 0 is behind all others; among such the one that borrows less is first. */
	expect(FAIR
	       "cohort c\nqueue x cohort=c weight=0\nqueue y cohort=c\nqueue z cohort=c weight=0\n"
	       "quota cohort/c f cpu nominal=9\nquota x f cpu nominal=0\n"
	       "quota y f cpu nominal=0\nquota z f cpu nominal=0\n"
	       "workload ns/x queue=x cpu=2\nworkload ns/y queue=y cpu=3\n"
	       "workload ns/z queue=z cpu=1\n",
	       "y z x");
}

static void test_workloads_that_do_not_borrow_are_first(void **state)
{
	/* x borrows gpu, much of it; its entry wants cpu, which it has. y borrows a little cpu. */
	static const char *const objects =
		"cohort c\nqueue x cohort=c\nqueue y cohort=c\n"
		"quota cohort/c f cpu nominal=9\nquota cohort/c f gpu nominal=9\n"
		"quota x f cpu nominal=4\nquota x f gpu nominal=0\n"
		"quota y f cpu nominal=0\nquota y f gpu nominal=0\n"
		"workload ns/used-x queue=x gpu=5 holds=f\n"
		"workload ns/x queue=x cpu=1 gpu=0\nworkload ns/y queue=y cpu=1\n";
	char world[1024];

	(void)state;
	snprintf(world, sizeof(world), FAIR "%s", objects);
	expect(world, "x y");
	snprintf(world, sizeof(world), FAIR "option prioritize_non_borrowing=false\n%s", objects);
	expect(world, "y x");
}

static void test_a_subtree_that_does_not_borrow_is_first(void **state)
{
	/* Under c both queues borrow, but c as a whole has what they ask for. */
	(void)state;
	expect(FAIR "cohort r\ncohort c parent=r\ncohort d parent=r\nqueue x cohort=c\nqueue y "
		    "cohort=d\n"
		    "quota cohort/c f cpu nominal=4\nquota cohort/c g gpu nominal=0\n"
		    "quota cohort/r f cpu nominal=9\nquota cohort/r g gpu nominal=9\n"
		    "quota x f cpu nominal=0\nquota x g gpu nominal=0\nquota y f cpu nominal=0\n"
		    "workload ns/used queue=x gpu=8 holds=g\n"
		    "workload ns/x queue=x cpu=4\nworkload ns/y queue=y cpu=1\n",
	       "x y");
}

static void test_of_equal_shares_priority_age_and_uid_decide(void **state)
{
	static const char *const objects =
		COHORT "workload ns/x queue=x cpu=1 prio=1 created=-50s uid=c\n"
		       "workload ns/y queue=y cpu=1 prio=2 created=-10s uid=b\n"
		       "workload ns/z queue=z cpu=1 prio=1 created=-50s uid=a\n";
	char world[1024];

	(void)state;
	snprintf(world, sizeof(world), FAIR "%s", objects);
	expect(world, "y z x");
	snprintf(world, sizeof(world), FAIR "option priority_sorting=false\n%s", objects);
	expect(world, "z x y");
	expect(FAIR COHORT "workload ns/x queue=x cpu=1 uid=u\nworkload ns/y queue=y cpu=1 uid=u\n"
			   "workload m/z queue=z cpu=1 uid=u\n",
	       "z x y");
}

static void test_preemptors_are_first_with_their_gate(void **state)
{
	static const char *const objects = COHORT "workload ns/preemptor queue=x cpu=5\n"
						  "workload ns/y queue=y cpu=1\n";
	char world[1024];

	(void)state;
	snprintf(world, sizeof(world), FAIR "%s", objects);
	expect(world, "preemptor y");
	snprintf(world, sizeof(world), FAIR "option prioritize_preemptors=false\n%s", objects);
	expect(world, "y preemptor");
}

static void test_admissions_count_for_those_behind(void **state)
{
	/* Cohort c has the two smallest entries, but with the first of them its share grows. */
	(void)state;
	expect(FAIR
	       "cohort r\ncohort c parent=r\nqueue x cohort=c\nqueue y cohort=c\nqueue z cohort=r\n"
	       "quota cohort/r f cpu nominal=12\nquota x f cpu nominal=0\n"
	       "quota y f cpu nominal=0\nquota z f cpu nominal=0\n"
	       "workload ns/x queue=x cpu=2\nworkload ns/y queue=y cpu=2\n"
	       "workload ns/z queue=z cpu=3\n",
	       "x z y");
}

static void test_entries_that_never_fit_do_not_count(void **state)
{
	/* As above, but x could never fit. */
	(void)state;
	expect(FAIR
	       "cohort r\ncohort c parent=r\nqueue x cohort=c\nqueue y cohort=c\nqueue z cohort=r\n"
	       "quota cohort/r f cpu nominal=12\nquota x f cpu nominal=0 borrow=1\n"
	       "quota y f cpu nominal=0\nquota z f cpu nominal=0\n"
	       "workload ns/x queue=x cpu=2\nworkload ns/y queue=y cpu=2\n"
	       "workload ns/z queue=z cpu=3\n",
	       "x y z");
}

static void test_the_share_of_a_cohort_decides_above_it(void **state)
{
	/* c is the larger borrower although each of its queues is a small one. */
	(void)state;
	expect(FAIR "cohort r\ncohort c parent=r\ncohort d parent=r\nqueue x cohort=c\nqueue y "
		    "cohort=c\n"
		    "queue z cohort=d\nquota cohort/r f cpu nominal=30\n"
		    "quota x f cpu nominal=0\nquota y f cpu nominal=0\nquota z f cpu nominal=0\n"
		    "workload ns/used-x queue=x cpu=3 holds=f\n"
		    "workload ns/used-y queue=y cpu=3 holds=f\n"
		    "workload ns/used-z queue=z cpu=4 holds=f\n"
		    "workload ns/x queue=x cpu=1\nworkload ns/z queue=z cpu=1\n",
	       "z x");
}

static void test_trees_come_by_the_names_of_their_roots(void **state)
{
	(void)state;
	/* A cohort is before the queue of its name. */
	expect(FAIR "queue m\nqueue x cohort=m\nqueue a\nqueue y cohort=z\n"
		    "quota m f cpu nominal=9\nquota x f cpu nominal=9\nquota a f cpu nominal=9\n"
		    "quota y f cpu nominal=9\n"
		    "workload ns/m queue=m cpu=1 prio=7\nworkload ns/x queue=x cpu=1\n"
		    "workload ns/a queue=a cpu=1\nworkload ns/y queue=y cpu=1 prio=9\n",
	       "a x m y");
}

static void test_entries_of_one_queue_keep_their_order(void **state)
{
	struct order_fixture x;

	(void)state;
	order_fixture_init(&x, FAIR COHORT "workload ns/one queue=x cpu=1 prio=1\n"
					   "workload ns/two queue=x cpu=1 prio=9\n"
					   "workload ns/second queue=x cpu=1 holds=f\n"
					   "workload ns/y queue=y cpu=2\n");
	/* x has its cpu in use: with any of them it borrows as much as y, with both more. */
	assert_string_equal(order_fixture_run(&x), "second one y two");
	x.given[0] = &x.entries[1];
	x.given[1] = &x.entries[0];
	assert_string_equal(order_fixture_run(&x), "second two y one");
	order_fixture_finish(&x);
}

static void test_workloads_with_quota_add_nothing(void **state)
{
	struct order_fixture x;

	(void)state;
	/* Counted once, x has as much as y would have; twice it would have more. */
	order_fixture_init(&x, FAIR COHORT "workload ns/second queue=x cpu=3 holds=f prio=5\n"
					   "workload ns/y queue=y cpu=3\n");
	assert_string_equal(order_fixture_run(&x), "second y");
	order_fixture_finish(&x);
}

/* --- against a tournament that is held again for each winner
 * -------------------------------------*/

struct naive {
	struct order_fixture *x;
	bool gone[ORDER_FIXTURE_MAX];
};

struct contender {
	const struct entry *e;
	struct share share;
	bool borrows;
};

static bool beats(const struct quota_model *q, const struct contender *a, const struct contender *b)
{
	int64_t pa = workload_priority(q, a->e->w), pb = workload_priority(q, b->e->w);
	int64_t ta = workload_queue_time(q, a->e->w), tb = workload_queue_time(q, b->e->w);
	int r = share_cmp(a->share, b->share);

	if (a->borrows != b->borrows) {
		return b->borrows;
	}
	if (r != 0) {
		return r < 0;
	}
	if (pa != pb) {
		return pa > pb;
	}
	return ta != tb ? ta < tb : strcmp(a->e->w->object.uid, b->e->w->object.uid) < 0;
}

/* The best entry at or below node, with its values for the node; e NULL: none. */
static struct contender winner_of(const struct naive *n, uint32_t node)
{
	struct forest *f = n->x->world.f;
	const struct quota_model *q = n->x->world.q;
	struct contender best = { .e = NULL };
	const uint32_t *children;
	size_t nchildren, mark = forest_mark(f);

	for (size_t i = 0; q->nodes.v[node]->is_queue && i < n->x->n && best.e == NULL; i++) {
		best.e = n->x->entries[i].node == node && !n->gone[i] ? &n->x->entries[i] : NULL;
	}
	children = forest_children(f, node, &nchildren);
	for (size_t i = 0; i < nchildren; i++) {
		struct contender c = winner_of(n, children[i]);

		if (c.e != NULL && (best.e == NULL || beats(q, &c, &best))) {
			best = c;
		}
	}
	if (best.e == NULL) {
		return best;
	}
	forest_add(f, best.e->node, &best.e->assignment.usage);
	best.share = share_of(f, node, NULL);
	best.borrows = false;
	for (size_t i = 0; i < best.e->assignment.usage.n; i++) {
		const struct quota_amount *u = &best.e->assignment.usage.v[i];

		best.borrows |= u->value > 0 && forest_borrows_with(f, node, u->id, 0);
	}
	forest_undo(f, mark);
	return best;
}

static void check_against_naive(const char *world)
{
	struct order_fixture x;
	struct naive n = { .x = &x };
	struct entry_order *o;
	size_t mark;

	order_fixture_init(&x, world);
	mark = forest_mark(x.world.f);
	o = entry_order_create(x.world.f, x.given, x.n, x.arena);
	for (size_t i = 0; i < x.n; i++) {
		struct contender c = winner_of(&n, quota_world_id(&x.world, "cohort/root"));
		struct entry *e = entry_order_next(o);

		assert_ptr_equal(e, c.e);
		n.gone[e - x.entries] = true;
		order_fixture_admit(&x, e);
	}
	assert_null(entry_order_next(o));
	forest_undo(x.world.f, mark);
	order_fixture_finish(&x);
}

/* Cohorts up to three deep with limits and weights, queues of all depths with one or two entries.
 */
static void write_world(struct rng *r, struct strbuf *out)
{
	static const char *const parents[] = { "root", "a", "b", "c" };
	unsigned queues = 2 + (unsigned)rng_below(r, 12);

	strbuf_add_c(
		out, FAIR
		"cohort root\ncohort a parent=root\ncohort b parent=root\ncohort c parent=a\n");
	strbuf_printf(out,
		      "quota cohort/root f cpu nominal=%u\nquota cohort/root f gpu nominal=%u\n",
		      (unsigned)rng_below(r, 40), (unsigned)rng_below(r, 40));
	strbuf_printf(out, "quota cohort/a f cpu nominal=%u lend=%u\n", (unsigned)rng_below(r, 9),
		      (unsigned)rng_below(r, 5));
	for (unsigned i = 0; i < queues; i++) {
		strbuf_printf(out, "queue q%u cohort=%s weight=%u\n", i, parents[rng_below(r, 4)],
			      (unsigned)rng_below(r, 4));
		strbuf_printf(out,
			      "quota q%u f cpu nominal=%u\nquota q%u f gpu nominal=%u lend=1\n", i,
			      (unsigned)rng_below(r, 5), i, 1 + (unsigned)rng_below(r, 3));
	}
	for (unsigned i = 0; i < queues; i++) {
		strbuf_printf(out, "workload ns/used%u queue=q%u cpu=%u gpu=%u holds=f\n", i, i,
			      (unsigned)rng_below(r, 4), (unsigned)rng_below(r, 3));
		for (unsigned k = 0; k < rng_below(r, 3); k++) {
			strbuf_printf(out,
				      "workload ns/w%u-%u queue=q%u cpu=%u gpu=%u prio=%u "
				      "created=-%us\n",
				      i, k, i, (unsigned)rng_below(r, 4), (unsigned)rng_below(r, 2),
				      (unsigned)rng_below(r, 2), (unsigned)rng_below(r, 2));
		}
	}
}

static void test_it_decides_as_a_tournament_held_anew(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct strbuf world = STRBUF_INIT;
		struct rng r;

		rng_init(&r, seed);
		write_world(&r, &world);
		check_against_naive(world.p);
		strbuf_finish(&world);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_lower_share_is_first),
		cmocka_unit_test(test_the_entry_itself_counts),
		cmocka_unit_test(test_a_share_is_by_weight),
		cmocka_unit_test(test_workloads_that_do_not_borrow_are_first),
		cmocka_unit_test(test_a_subtree_that_does_not_borrow_is_first),
		cmocka_unit_test(test_of_equal_shares_priority_age_and_uid_decide),
		cmocka_unit_test(test_preemptors_are_first_with_their_gate),
		cmocka_unit_test(test_admissions_count_for_those_behind),
		cmocka_unit_test(test_entries_that_never_fit_do_not_count),
		cmocka_unit_test(test_the_share_of_a_cohort_decides_above_it),
		cmocka_unit_test(test_trees_come_by_the_names_of_their_roots),
		cmocka_unit_test(test_entries_of_one_queue_keep_their_order),
		cmocka_unit_test(test_workloads_with_quota_add_nothing),
		cmocka_unit_test(test_it_decides_as_a_tournament_held_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
