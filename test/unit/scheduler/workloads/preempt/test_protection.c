#include "scheduler/workloads/preempt/protection.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/rng.h"
#include "lib/quota_world.h"
#include "lib/victims_random.h"

#define WORLDS 4000

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
	enum protection_rule rule;
	const char *node; /* NULL: none */
} rows[] = {
	{ "of the own queue with a lower priority",
	  PAIR("within=LowerPriority", "") P "workload ns/w queue=a cpu=1 prio=4 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "of the own queue, where the policy is Never",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=a cpu=1 prio=4 holds=default\n",
	  PROTECTION_POLICY, NULL },
	{ "of the own queue with the same priority",
	  PAIR("within=LowerPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-1s holds=default\n",
	  PROTECTION_PRIORITY, NULL },
	{ "older, of the same priority",
	  PAIR("within=LowerOrNewerEqualPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-99s holds=default\n",
	  PROTECTION_AGE, NULL },
	{ "newer, of the same priority",
	  PAIR("within=LowerOrNewerEqualPriority", "") P
	  "workload ns/w queue=a cpu=1 prio=5 created=-1s holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "of another queue that borrows",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=b cpu=5 prio=9 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "of another queue, where the policy is Never",
	  PAIR("within=LowerPriority", "") P "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_POLICY, NULL },
	{ "of another queue with a higher priority",
	  PAIR("reclaim=LowerPriority", "") P "workload ns/w queue=b cpu=5 prio=9 holds=default\n",
	  PROTECTION_PRIORITY, NULL },
	{ "of another queue within its quota",
	  PAIR("reclaim=Any", "") P "workload ns/w queue=b cpu=4 holds=default\n",
	  PROTECTION_NOMINAL, "b" },
	{ "of a queue that is stopped",
	  PAIR("reclaim=Any", "stop=Hold") P "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_INACTIVE, NULL },
	{ "of another cohort",
	  PAIR("reclaim=Any", "") "queue x\nquota x default cpu nominal=1\n" P
				  "workload ns/w queue=x cpu=5 holds=default\n",
	  PROTECTION_UNCONCERNED, NULL },
	{ "of another resource",
	  PAIR("reclaim=Any", "") "quota b default memory nominal=1\n"
				  "quota a default memory nominal=1\n" P
				  "workload ns/w queue=b memory=5 holds=default\n",
	  PROTECTION_UNCONCERNED, NULL },
	{ "for a queue that uses its quota, and must not borrow by preempting",
	  PAIR("reclaim=Any", "") P "workload ns/own queue=a cpu=4 holds=default\n"
				    "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_BORROW_POLICY, NULL },
	{ "for a queue that would borrow, and must not by preempting",
	  PAIR("reclaim=Any", "") P "workload ns/own queue=a cpu=2 holds=default\n"
				    "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_BORROW_POLICY, NULL },
	{ "for one that would not if it preempted its own",
	  PAIR("within=LowerPriority reclaim=Any", "") P
	  "workload ns/own queue=a cpu=2 holds=default\n"
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "for one that borrows, with a lower priority",
	  PAIR("reclaim=Any borrow=LowerPriority", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=4 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "for one that borrows, with the same priority",
	  PAIR("reclaim=Any borrow=LowerPriority", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=5 holds=default\n",
	  PROTECTION_BORROW_PRIORITY, NULL },
	{ "for one that borrows, above the threshold",
	  PAIR("reclaim=Any borrow=LowerPriority threshold=3", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=5 prio=4 holds=default\n",
	  PROTECTION_BORROW_THRESHOLD, NULL },
	{ "below a cohort within its quota",
	  "cohort root\ncohort side parent=root\nqueue a cohort=root reclaim=Any\n"
	  "queue b cohort=side\nqueue calm cohort=side\n"
	  "quota a default cpu nominal=4\nquota b default cpu nominal=1\n"
	  "quota calm default cpu nominal=4\n" P "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_NOMINAL, "cohort/side" },
	{ "what a cohort between has is a right, also for one that borrows",
	  "cohort root\ncohort side parent=root\ncohort other parent=root\n"
	  "queue a cohort=side reclaim=Any\nqueue b cohort=other\n"
	  "quota a default cpu nominal=1\nquota cohort/side default cpu nominal=4\n"
	  "quota b default cpu nominal=1\n" P "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "fair sharing: of the higher share",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=2 holds=default\n"
	  "workload ns/w queue=b cpu=6 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "fair sharing: of the lower share",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=3 holds=default\n"
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_SHARE, "b" },
	{ "fair sharing: within its quota a queue takes back whatever the shares are",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/w queue=b cpu=5 holds=default\n",
	  PROTECTION_NONE, NULL },
	{ "fair sharing: of a queue that does not borrow",
	  "option fair_sharing=true\n" PAIR("reclaim=Any", "") P
	  "workload ns/own queue=a cpu=4 holds=default\n"
	  "workload ns/w queue=b cpu=4 holds=default\n",
	  PROTECTION_NOMINAL, "b" },
};

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		CLEANUP(victims_fixture_finish) struct victims_fixture v;
		struct protection p;
		uint64_t before;

		quota_world_init(&w, rows[i].world);
		victims_fixture_init(&v, &w, "p", "default/cpu=3");
		before = victims_fixture_usage(&w);
		p = protection_of(&v.r, quota_world_workload(&w, "w"));
		assert_true(victims_fixture_usage(&w) == before);
		if (p.rule != rows[i].rule) {
			fail_msg("%s: %d, not %d", rows[i].name, (int)p.rule, (int)rows[i].rule);
		}
		if (rows[i].node != NULL) {
			assert_int_equal(p.node, quota_world_id(&w, rows[i].node));
		}
	}
}

static size_t count_protected(const struct victims_random *x, struct arena *arena)
{
	const struct quota *q = x->w.q;
	struct victims found;

	victims_find(&x->v.r, arena, &found);
	for (size_t i = 0; i < found.n; i++) {
		const struct workload *w = q->workloads.v[found.v[i].workload];
		struct protection p = protection_of(&x->v.r, w);

		if (p.rule != PROTECTION_NONE && p.rule != PROTECTION_SHARE) {
			fail_msg("%s\nvictim %s: rule %d", x->text.p, w->key, (int)p.rule);
		}
	}
	return found.n;
}

/* Whoever the searches take has no protection. */
static void test_no_victim_is_protected(void **state)
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
			victims += count_protected(&x, arena);
		}
	}
	assert_true(victims > WORLDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_no_victim_is_protected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
