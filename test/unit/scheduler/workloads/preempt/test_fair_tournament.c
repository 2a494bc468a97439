#include "scheduler/workloads/preempt/fair_tournament.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

#define SHARED                                                                                     \
	"option fair_sharing=true\n"                                                               \
	"cohort c\n"                                                                               \
	"quota cohort/c default cpu nominal=20\n"                                                  \
	"queue a cohort=c within=LowerPriority reclaim=Any\n"                                      \
	"queue b cohort=c\n"                                                                       \
	"queue d cohort=c\n"                                                                       \
	"quota a default cpu nominal=0\n"                                                          \
	"quota b default cpu nominal=0\n"                                                          \
	"quota d default cpu nominal=0\n"

struct playing {
	struct quota_world w;
	struct victims_fixture v;
	struct arena *arena;
	struct fair_tournament t;
};

static void playing_init(struct playing *p, const char *world)
{
	quota_world_init(&p->w, world);
	victims_fixture_init(&p->v, &p->w, "p", "default/cpu=1");
	p->arena = arena_create(0);
	fair_tournament_init(&p->t, &p->v.r, p->arena);
	fair_tournament_rank(&p->t);
	fair_tournament_reset(&p->t);
}

static void playing_finish(struct playing *p)
{
	forest_undo(p->w.f, 0);
	fair_tournament_finish(&p->t);
	arena_destroy(p->arena);
	victims_fixture_finish(&p->v);
	quota_world_finish(&p->w);
}

static void name(struct strbuf *out, const struct candidate *c)
{
	strbuf_printf(out, "%s%s", out->len == 0 ? "" : " ", quota_workload_name(c->w));
}

/* Takes a victim from each queue in turn. */
static void play(struct playing *p, bool second_pass, const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
	uint32_t queue;

	strbuf_add_c(&got, "");
	fair_tournament_begin(&p->t, second_pass);
	for (; (queue = fair_tournament_next(&p->t)) != FAIR_TOURNAMENT_NONE;
	     fair_tournament_settle(&p->t, queue)) {
		const struct candidate *c = fair_tournament_pop(&p->t, queue);

		assert_non_null(c);
		assert_int_equal(fair_tournament_queue_of(&p->t, c), queue);
		name(&got, c);
		forest_remove(p->w.f, c->w->holding.node, &c->w->holding.usage);
		fair_tournament_changed(&p->t, queue);
	}
	assert_string_equal(got.p, expected);
}

static const struct row {
	const char *name, *world, *tournament;
} rows[] = {
	{ "shares follow what is taken",
	  SHARED "workload ns/b1 queue=b cpu=3 holds=default prio=1\n"
		 "workload ns/b2 queue=b cpu=5 holds=default\n" /* b has 8, then 3 */
		 "workload ns/d1 queue=d cpu=4 holds=default\n"
		 "workload ns/p queue=a cpu=1\n",
	  "b2 d1 b1" },
	{ "of equal shares the queue with the better candidate",
	  SHARED "workload ns/b1 queue=b cpu=4 holds=default prio=2\n"
		 "workload ns/d1 queue=d cpu=4 holds=default prio=1\n"
		 "workload ns/p queue=a cpu=1\n",
	  "d1 b1" },
	{ "a queue gives until it borrows no more, the own one all it has",
	  SHARED "quota b default cpu nominal=3\n"
		 "workload ns/b1 queue=b cpu=3 holds=default prio=1\n"
		 "workload ns/b2 queue=b cpu=2 holds=default\n"
		 "quota a default cpu nominal=9\n"
		 "workload ns/own queue=a cpu=1 holds=default prio=-1\n"
		 "workload ns/p queue=a cpu=1\n",
	  "b2 own" },
	{ "without a cohort only the own queue",
	  "option fair_sharing=true\n"
	  "queue a within=LowerPriority reclaim=Any\n"
	  "queue b\n"
	  "quota a default cpu nominal=3\n"
	  "quota b default cpu nominal=0\n"
	  "workload ns/a1 queue=a cpu=1 holds=default prio=-1\n"
	  "workload ns/a2 queue=a cpu=1 holds=default prio=-2\n"
	  "workload ns/b1 queue=b cpu=1 holds=default prio=-3\n"
	  "workload ns/p queue=a cpu=2\n",
	  "a2 a1" },
	{ "of equal shares the cohort, and in it the queue that borrows",
	  SHARED "cohort e parent=c\n"
		 "queue f cohort=e\n"
		 "quota f default cpu nominal=0\n"
		 "workload ns/f1 queue=f cpu=4 holds=default prio=9\n"
		 "workload ns/b1 queue=b cpu=4 holds=default\n"
		 "workload ns/p queue=a cpu=1\n",
	  "f1 b1" },
	{ "of cohorts with equal shares the last, until it borrows less",
	  SHARED "cohort e parent=c\n"
		 "cohort g parent=c\n"
		 "queue f cohort=e\n"
		 "queue h cohort=g\n"
		 "quota f default cpu nominal=0\n"
		 "quota h default cpu nominal=0\n"
		 "workload ns/f1 queue=f cpu=2 holds=default prio=-1\n"
		 "workload ns/f2 queue=f cpu=2 holds=default\n"
		 "workload ns/h1 queue=h cpu=2 holds=default\n"
		 "workload ns/h2 queue=h cpu=2 holds=default prio=-1\n"
		 "workload ns/b1 queue=b cpu=3 holds=default\n"
		 "workload ns/p queue=a cpu=1\n",
	  "h2 f1 b1 h1 f2" },
	{ "a cohort with the highest share and no candidates left in its queues",
	  SHARED "queue a cohort=c reclaim=LowerPriority\n"
		 "cohort e parent=c\n"
		 "cohort g parent=e\n"
		 "queue f cohort=g\n"
		 "queue h cohort=e\n"
		 "quota f default cpu nominal=0\n"
		 "quota h default cpu nominal=0\n"
		 "workload ns/f1 queue=f cpu=1 holds=default prio=-1\n"
		 "workload ns/f2 queue=f cpu=8 holds=default prio=1\n"
		 "workload ns/h1 queue=h cpu=1 holds=default prio=-1\n"
		 "workload ns/b1 queue=b cpu=4 holds=default prio=-1\n"
		 "workload ns/d1 queue=d cpu=5 holds=default prio=-1\n"
		 "workload ns/p queue=a cpu=1\n",
	  "f1 h1 d1 b1" },
	{ "a cohort that does not borrow is left alone",
	  SHARED "cohort e parent=c\n"
		 "quota cohort/e default cpu nominal=4\n"
		 "queue f cohort=e\n"
		 "quota f default cpu nominal=0\n"
		 "workload ns/f1 queue=f cpu=4 holds=default prio=-9\n"
		 "workload ns/p queue=a cpu=1\n",
	  "" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct playing p;

		print_message("%s\n", rows[i].name);
		playing_init(&p, rows[i].world);
		play(&p, false, rows[i].tournament);
		playing_finish(&p);
	}
}

#define FOUR                                                                                       \
	SHARED "workload ns/b1 queue=b cpu=3 holds=default prio=1\n"                               \
	       "workload ns/b2 queue=b cpu=5 holds=default\n"                                      \
	       "workload ns/d1 queue=d cpu=2 holds=default prio=1\n"                               \
	       "workload ns/d2 queue=d cpu=2 holds=default\n"                                      \
	       "workload ns/p queue=a cpu=1\n"

static void test_a_retained_victim_is_taken_in_the_second_pass(void **state)
{
	struct playing p;
	uint32_t b;

	(void)state;
	playing_init(&p, FOUR);
	fair_tournament_begin(&p.t, false);
	b = fair_tournament_next(&p.t);
	fair_tournament_keep(&p.t, b, fair_tournament_pop(&p.t, b));
	fair_tournament_settle(&p.t, b);
	fair_tournament_keep(&p.t, b, fair_tournament_pop(&p.t, b));
	fair_tournament_settle(&p.t, b);
	assert_null(fair_tournament_pop(&p.t, b));
	assert_int_not_equal(fair_tournament_next(&p.t), b);
	play(&p, true, "b2 b1");
	fair_tournament_reset(&p.t);
	play(&p, true, "");
	playing_finish(&p);
}

static void test_a_queue_that_is_skipped_and_a_candidate_that_is_banned(void **state)
{
	struct playing p;
	uint32_t b;

	(void)state;
	playing_init(&p, FOUR);
	fair_tournament_begin(&p.t, false);
	b = fair_tournament_next(&p.t);
	fair_tournament_skip(&p.t, b);
	fair_tournament_settle(&p.t, b);
	assert_int_not_equal(fair_tournament_next(&p.t), b);
	for (size_t i = 0; i < p.t.all.n; i++) {
		p.t.all.v[i]->banned = p.t.all.v[i]->w == quota_world_workload(&p.w, "b2");
	}
	play(&p, false, "b1 d2 d1"); /* b has 8, d 4 */
	playing_finish(&p);
}

/* Of b, which is below e, e counts; of the preemptor c's child above it, its own queue. */
static void test_shares_below_the_lowest_common_cohort(void **state)
{
	struct playing p;
	struct fair_tournament_shares s;
	uint32_t f;

	(void)state;
	playing_init(&p, SHARED "cohort e parent=c\n"
				"queue f cohort=e\n"
				"queue g cohort=e\n"
				"quota f default cpu nominal=0\n"
				"quota g default cpu nominal=0\n"
				"workload ns/f1 queue=f cpu=4 holds=default\n"
				"workload ns/g1 queue=g cpu=2 holds=default\n"
				"workload ns/a1 queue=a cpu=3 holds=default prio=9\n"
				"workload ns/p queue=a cpu=1\n");
	fair_tournament_begin(&p.t, false);
	f = fair_tournament_next(&p.t);
	s = fair_tournament_compare(&p.t, f);
	assert_int_not_equal(s.target, f);
	assert_int_equal(share_cmp(s.old, share_of(p.w.f, quota_world_id(&p.w, "e"), NULL)), 0);
	assert_int_equal(share_cmp(s.preemptor, share_of(p.w.f, quota_world_id(&p.w, "a"), NULL)),
			 0);
	assert_true(share_cmp(s.old, s.preemptor) > 0);
	forest_remove(p.w.f, quota_world_id(&p.w, "f"),
		      &quota_world_workload(&p.w, "f1")->holding.usage);
	assert_int_equal(share_cmp(fair_tournament_share(&p.t, s.target), s.old), 0);
	fair_tournament_changed(&p.t, f);
	assert_true(share_cmp(fair_tournament_share(&p.t, s.target), s.old) < 0);
	playing_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_a_retained_victim_is_taken_in_the_second_pass),
		cmocka_unit_test(test_a_queue_that_is_skipped_and_a_candidate_that_is_banned),
		cmocka_unit_test(test_shares_below_the_lowest_common_cohort),
	};

	return cmocka_run_group_tests_name("workloads/preempt/fair_tournament", tests, NULL, NULL);
}
