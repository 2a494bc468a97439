#include "scheduler/workloads/preempt/passed_over.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_random.h"

#define WORLDS 4000
#define UNCONCERNED ((enum passed_over_rule) - 1)

/* Two queues of a cohort with 4 each; p asks for 3 in a, w holds 5 in b. */
#define PAIR(a, b)                                                                                 \
	"cohort c\n"                                                                               \
	"queue a cohort=c " a "\n"                                                                 \
	"queue b cohort=c " b "\n"                                                                 \
	"quota a default cpu nominal=4\n"                                                          \
	"quota b default cpu nominal=4\n"
#define P "workload ns/p queue=a cpu=3 prio=5 created=-60s\n"

static const struct row {
	const char *name, *world;
	enum passed_over_rule rule;
	const char *node; /* NULL: none */
} rows[] = {
	{ "of the own queue with a lower priority",
	  PAIR("within=LowerPriority", "") P "workload ns/w queue=a cpu=1 prio=4 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "of the own queue, where the policy is Never",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=a cpu=1 prio=4 holds=default\n",
	  PASSED_OVER_POLICY, NULL },
	{ "of the own queue with the same priority",
	  PAIR("within=LowerPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-1s holds=default\n",
	  PASSED_OVER_PRIORITY, NULL },
	{ "older, of the same priority",
	  PAIR("within=LowerOrNewerEqualPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-99s holds=default\n",
	  PASSED_OVER_AGE, NULL },
	{ "newer, of the same priority",
	  PAIR("within=LowerOrNewerEqualPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-1s holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "of another queue that borrows",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=b cpu=5 prio=9 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "of another queue, where the policy is Never",
	  PAIR("within=LowerPriority", "") P "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_POLICY, NULL },
	{ "of another queue with a higher priority",
	  PAIR("reclaim=LowerPriority", "") P "workload ns/w queue=b cpu=5 prio=9 holds=default\n",
	  PASSED_OVER_PRIORITY, NULL },
	{ "of another queue within its quota",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=b cpu=4 holds=default\n",
	  PASSED_OVER_NOMINAL, "b" },
	{ "of a queue that is stopped",
	  PAIR("reclaim=Any", "stop=Hold") P "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_INACTIVE, NULL },
	{ "of another cohort",
	  PAIR("reclaim=Any", "") "queue x\nquota x default cpu nominal=1\n" P
				  "workload ns/w queue=x cpu=5 holds=default\n",
	  UNCONCERNED, NULL },
	{ "of another resource",
	  PAIR("reclaim=Any", "") "quota b default memory nominal=1\n"
				  "quota a default memory nominal=1\n" P
				  "workload ns/w queue=b memory=5 holds=default\n",
	  UNCONCERNED, NULL },
	{ "for a queue that uses its quota, and must not borrow by preempting",
	  PAIR("reclaim=Any", "") P "workload ns/own queue=a cpu=4 holds=default\n"
				    "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_BORROW_POLICY, NULL },
	{ "for a queue that would borrow, and must not by preempting",
	  PAIR("reclaim=Any", "") P "workload ns/own queue=a cpu=2 holds=default\n"
				    "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_BORROW_POLICY, NULL },
	{ "for one that would not if it preempted its own",
	  PAIR("within=LowerPriority reclaim=Any", "") P
	  "workload ns/own queue=a cpu=2 holds=default\n"
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "for one that borrows, with a lower priority",
	  PAIR("reclaim=Any borrow=LowerPriority", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=4 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "for one that borrows, with the same priority",
	  PAIR("reclaim=Any borrow=LowerPriority", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=5 holds=default\n",
	  PASSED_OVER_BORROW_PRIORITY, NULL },
	{ "for one that borrows, above the threshold",
	  PAIR("reclaim=Any borrow=LowerPriority threshold=3", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=4 holds=default\n",
	  PASSED_OVER_BORROW_THRESHOLD, NULL },
	{ "below a cohort within its quota",
	  "cohort root\ncohort side parent=root\nqueue a cohort=root reclaim=Any\n"
	  "queue b cohort=side\nqueue calm cohort=side\n"
	  "quota a default cpu nominal=4\nquota b default cpu nominal=1\n"
	  "quota calm default cpu nominal=4\n" P "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_NOMINAL, "cohort/side" },
	{ "what a cohort between has is a right, also for one that borrows",
	  "cohort root\ncohort side parent=root\ncohort other parent=root\n"
	  "queue a cohort=side reclaim=Any\nqueue b cohort=other\n"
	  "quota a default cpu nominal=1\nquota cohort/side default cpu nominal=4\n"
	  "quota b default cpu nominal=1\n" P "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "fair sharing: of the higher share",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=2 holds=default\n"
	  "workload ns/w queue=b cpu=6 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "fair sharing: of the lower share",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=3 holds=default\n"
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_SHARE, "b" },
	{ "fair sharing: within its quota a queue takes back whatever the shares are",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PASSED_OVER_NOT, NULL },
	{ "fair sharing: of a queue that does not borrow",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=4 holds=default\n",
	  PASSED_OVER_NOMINAL, "b" },
};

/* By workload id; in the arena. */
static struct passed_over *search(const struct victims_request *r, struct arena *arena,
				  struct victims *ret)
{
	struct victims_request recorded = *r;

	recorded.passed_over = arena_zero(arena, forest_model(r->forest)->workloads.n,
					  sizeof(*recorded.passed_over));
	victims_find(&recorded, arena, ret);
	return recorded.passed_over;
}

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(quota_world_finish) struct quota_world w;
		CLEANUP(victims_fixture_finish) struct victims_fixture v;
		struct victims found;
		struct passed_over *p;
		enum passed_over_rule rule;
		uint64_t before;

		quota_world_init(&w, rows[i].world);
		victims_fixture_init(&v, &w, "p", "default/cpu=3");
		before = victims_fixture_usage(&w);
		p = &search(&v.r, arena, &found)[quota_world_workload(&w, "w")->id];
		assert_true(victims_fixture_usage(&w) == before);
		rule = p->uses_short_pair ? p->rule : UNCONCERNED;
		if (rule != rows[i].rule) {
			fail_msg("%s: %d, not %d", rows[i].name, (int)rule, (int)rows[i].rule);
		}
		if (rows[i].node != NULL) {
			assert_int_equal(p->node, quota_world_id(&w, rows[i].node));
		}
	}
}

/* Rules about the workload itself, not about quota. */
static void test_rules_of_one_workload(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct workload *holder;
	struct victims found;

	(void)state;
	quota_world_init(&w,
			 PAIR("reclaim=Any", "") P "workload ns/w queue=b cpu=7 holds=default\n");
	victims_fixture_init(&v, &w, "p", "default/cpu=3");
	holder = quota_world_workload(&w, "w");
	holder->flags.finished = true; /* it holds its quota until that is written */
	assert_int_equal(search(&v.r, arena, &found)[holder->id].rule, PASSED_OVER_UNWRITABLE);
	assert_int_equal(found.n, 0);
	holder->flags.finished = false;
	assert_int_equal(search(&v.r, arena, &found)[holder->id].rule, PASSED_OVER_NOT);
	holder->object.unwritable = true;
	assert_int_equal(search(&v.r, arena, &found)[holder->id].rule, PASSED_OVER_UNWRITABLE);
	holder->flags.evicted = true;
	assert_int_equal(search(&v.r, arena, &found)[holder->id].rule, PASSED_OVER_NOT);
	v.r.gone = &holder->id;
	v.r.ngone = 1;
	assert_int_equal(search(&v.r, arena, &found)[holder->id].rule, PASSED_OVER_PRECEDENCE);
	assert_int_equal(found.n, 0);
}

static bool is_victim(const struct victims *found, uint32_t id)
{
	for (size_t i = 0; i < found->n; i++) {
		if (found->v[i].workload == id) {
			return true;
		}
	}
	return false;
}

/* The record does not change the result, and no victim is recorded as protected (except by its
 * share, which the search may have changed with earlier victims). */
static size_t check_record(const struct victims_random *x, struct arena *arena)
{
	const struct quota_model *q = x->w.q;
	struct victims plain, found;
	const struct passed_over *record;

	victims_find(&x->v.r, arena, &plain);
	record = search(&x->v.r, arena, &found);
	if (plain.n != found.n ||
	    (found.n > 0 && memcmp(plain.v, found.v, found.n * sizeof(*found.v)) != 0)) {
		fail_msg("%s\n%zu victims, with a record %zu", x->text.p, plain.n, found.n);
	}
	for (uint32_t id = 0; id < q->workloads.n; id++) {
		const struct workload *w = q->workloads.v[id];
		const struct passed_over *p = &record[id];

		if (is_victim(&found, id) &&
		    (!p->uses_short_pair ||
		     (p->rule != PASSED_OVER_NOT && p->rule != PASSED_OVER_SHARE))) {
			fail_msg("%s\nvictim %s: rule %d", x->text.p, w->key, (int)p->rule);
		}
	}
	return found.n;
}

static void test_random_worlds(void **state)
{
	size_t victims = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(victims_random_finish) struct victims_random x;
		uint8_t bytes[VICTIMS_RANDOM_BYTES];
		struct rng rng;

		rng_init(&rng, seed);
		for (size_t i = 0; i < sizeof(bytes); i++) {
			bytes[i] = (uint8_t)rng_next(&rng);
		}
		victims_random_init(&x, bytes, sizeof(bytes));
		if (x.is_blocked) {
			victims += check_record(&x, arena);
		}
	}
	assert_true(victims > WORLDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_rules_of_one_workload),
		cmocka_unit_test(test_random_worlds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
