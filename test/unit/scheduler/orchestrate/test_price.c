/* Worlds with known victims, and what they cost by hand. The preemptor is p, of one pod where the
 * world does not say otherwise. */
#include "scheduler/orchestrate/price.h"

#include <string.h>

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"
#include "scheduler/orchestrate/replica.h"
#include "scheduler/workloads/pending/pending.h"

#define NOT_ADMITTED INT64_MIN

struct fact {
	const char *key;
	int64_t ran_s, pods, grace_s, evictions;
};

struct row {
	const char *name, *world;
	struct fact facts[3];
	enum price_verdict verdict;
	const char *victims; /* their names, blanks between */
	int64_t cost;
	const char *promised[3];
};

#define ONE_QUEUE(policy)                                                                          \
	"option preemption_gates=true\nqueue a within=" policy                                     \
	"\nquota a default cpu nominal=4\nworkload ns/p queue=a cpu=2 preemption-gated prio="
#define TWO_QUEUES                                                                                 \
	"option preemption_gates=true\ncohort c\nqueue a cohort=c reclaim=Any\n"                   \
	"queue b cohort=c\nquota a default cpu nominal=4\nquota b default cpu nominal=0\n"         \
	"workload ns/p queue=a cpu=2 preemption-gated prio=10\n"

static const struct row rows[] = {
	{ "it fits",
	  ONE_QUEUE("Never") "0\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_FITS,
	  "",
	  0,
	  { NULL } },
	{ "it has quota already",
	  "quota a default cpu nominal=4\nworkload ns/p queue=a cpu=2 holds=default\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_FITS,
	  "",
	  0,
	  { NULL } },
	{ "withinClusterQueue, work of priority 0: 3 * (100 + 60) + 1 * 30",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  510,
	  { NULL } },
	{ "half of the preemptor's priority: 480 + 240 + 30",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 prio=5 holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  750,
	  { NULL } },
	{ "the same priority, but newer: 480 + 480 + 30",
	  ONE_QUEUE("LowerOrNewerEqualPriority") "10 created=-90s\nworkload ns/v queue=a cpu=4 "
						 "prio=10 created=-60s holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  990,
	  { NULL } },
	{ "a preemptor of priority 0 and a victim of the same: twice the work",
	  ONE_QUEUE("LowerOrNewerEqualPriority") "0 created=-90s\nworkload ns/v queue=a cpu=4 "
						 "created=-60s holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  990,
	  { NULL } },
	{ "a preemptor of priority 0 and a victim below: the work",
	  ONE_QUEUE("LowerPriority") "0\nworkload ns/v queue=a cpu=4 prio=-5 holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  510,
	  { NULL } },
	{ "reclaimWithinCohort, a higher priority counts as the same",
	  TWO_QUEUES "workload ns/v queue=b cpu=4 prio=90 holds=default\n",
	  { { "v", 100, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  990,
	  { NULL } },
	{ "borrowWithinCohort up to a threshold: only the lower one",
	  "option preemption_gates=true\ncohort c\n"
	  "queue a cohort=c reclaim=Any borrow=LowerPriority threshold=3\nqueue b cohort=c\n"
	  "quota a default cpu nominal=0\nquota b default cpu nominal=0\n"
	  "quota cohort/c default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=2 preemption-gated prio=10\n"
	  "workload ns/u queue=b cpu=2 prio=4 holds=default\n"
	  "workload ns/v queue=b cpu=2 prio=2 holds=default\n",
	  { { "u", 0, 1, 30, 0 }, { "v", 40, 1, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  100 + 20 + 30,
	  { NULL } },
	{ "fair sharing: from the queue with the larger share",
	  "option preemption_gates=true fair_sharing=true lte_final=true lt_initial=true\n"
	  "cohort c\nqueue a cohort=c reclaim=Any\nqueue b cohort=c\nqueue d cohort=c\n"
	  "quota a default cpu nominal=0\nquota b default cpu nominal=0\n"
	  "quota d default cpu nominal=0\nquota cohort/c default cpu nominal=6\n"
	  "workload ns/p queue=a cpu=1 preemption-gated\n"
	  "workload ns/u queue=d cpu=1 holds=default\n"
	  "workload ns/v queue=b cpu=1 holds=default reserved=-60s\n"
	  "workload ns/w queue=b cpu=1 holds=default reserved=-70s\n"
	  "workload ns/x queue=b cpu=3 holds=default reserved=-80s\n",
	  { { "v", 10, 2, 5, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  2 * (2 * 70) + 5,
	  { NULL } },
	{ "a priority boost protects, and weighs",
	  "option preemption_gates=true priority_boost=true\n"
	  "queue a within=LowerPriority\nquota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=4 preemption-gated prio=10\n"
	  "workload ns/u queue=a cpu=2 prio=1 holds=default\n"
	  "workload ns/v queue=a cpu=2 prio=1 boost=4 holds=default\n",
	  { { "u", 40, 1, 0, 0 }, { "v", 40, 1, 0, 0 } },
	  PRICE_PREEMPTS,
	  "u v",
	  100 + 10 + 100 + 50,
	  { NULL } },
	{ "a boost beyond the preemptor's priority: no victim",
	  "option preemption_gates=true priority_boost=true\n"
	  "queue a within=LowerPriority\nquota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=4 preemption-gated prio=10\n"
	  "workload ns/v queue=a cpu=2 prio=1 boost=9 holds=default\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { NULL } },
	{ "preemptionCost chooses within the queue, and counts",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/u queue=a cpu=2 cost=70 holds=default\n"
				     "workload ns/v queue=a cpu=2 cost=20 holds=default\n",
	  { { "u", 40, 1, 0, 0 }, { "v", 40, 1, 0, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  120,
	  { NULL } },
	{ "not beyond the work",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 cost=5000 holds=default\n",
	  { { "v", 40, 1, 0, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  200,
	  { NULL } },
	{ "nor below nothing",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 cost=-5000 holds=default\n",
	  { { "v", 40, 1, 0, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  0,
	  { NULL } },
	{ "each eviction before is another restart",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", 40, 2, 0, 3 } },
	  PRICE_PREEMPTS,
	  "v",
	  2 * (40 + 4 * 60),
	  { NULL } },
	{ "nine of them count",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", 0, 1, 0, 1000 } },
	  PRICE_PREEMPTS,
	  "v",
	  600,
	  { NULL } },
	{ "the longest grace period, for each pod that waits",
	  "option preemption_gates=true\nqueue a within=LowerPriority\n"
	  "quota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=1 pods=4 preemption-gated prio=10\n"
	  "workload ns/u queue=a cpu=2 holds=default reserved=-9s\n"
	  "workload ns/v queue=a cpu=2 holds=default reserved=-5s\n",
	  { { "u", 0, 1, 600, 0 }, { "v", 0, 1, 20, 0 } },
	  PRICE_PREEMPTS,
	  "v u",
	  60 + 60 + 4 * 600,
	  { NULL } },
	{ "as long as an attempt lasts at most",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", 0, 1, 1000000, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  60 + 1200,
	  { NULL } },
	{ "partial admission: fewer pods wait",
	  "option preemption_gates=true partial_admission=true\n"
	  "queue a within=LowerPriority\nquota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=1 pods=8 min=1 preemption-gated prio=10\n"
	  "workload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", 0, 1, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  60 + 4 * 30,
	  { NULL } },
	{ "quota without an admission: nothing has run yet",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", NOT_ADMITTED, 3, 0, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  180,
	  { NULL } },
	{ "admitted later than the newest time that is known",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "v", -500, 3, 0, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  180,
	  { NULL } },
	{ "a victim that leaves already is only waited for",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 evicted=-5s holds=default\n",
	  { { "v", 1000, 3, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  30,
	  { NULL } },
	{ "no number wraps",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/v queue=a cpu=4 prio=9 holds=default\n",
	  { { "v", 1000000000, INT64_MAX / 2, 30, 0 } },
	  PRICE_PREEMPTS,
	  "v",
	  INT64_MAX,
	  { NULL } },
	{ "Never",
	  ONE_QUEUE("Never") "10\nworkload ns/v queue=a cpu=4 holds=default\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { NULL } },
	{ "it is stopped",
	  ONE_QUEUE("Never") "10 active=false\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { NULL } },
	{ "its ClusterQueue is not active",
	  ONE_QUEUE("LowerPriority") "10\nflavor default missing\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { NULL } },
	{ "its cohorts form a cycle",
	  ONE_QUEUE("LowerPriority") "10\nqueue a cohort=c\ncohort c parent=d\ncohort d parent=c\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { NULL } },
	{ "the engine has no topologies",
	  "option preemption_gates=true topology=true\nqueue a within=LowerPriority\n"
	  "quota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=2 prio=10 topology preemption-gated\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_UNKNOWN,
	  "",
	  REPLICA_COST_UNKNOWN,
	  { NULL } },
	{ "promised to another token: the next one",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/u queue=a cpu=2 prio=1 holds=default\n"
				     "workload ns/v queue=a cpu=2 holds=default\n",
	  { { "u", 40, 1, 0, 0 } },
	  PRICE_PREEMPTS,
	  "u",
	  110,
	  { "ns/v", "ns/unknown", NULL } },
	{ "all promised: their room is not for this one",
	  ONE_QUEUE("LowerPriority") "10\nworkload ns/u queue=a cpu=2 prio=1 holds=default\n"
				     "workload ns/v queue=a cpu=2 holds=default\n",
	  { { "", 0, 0, 0, 0 } },
	  PRICE_CANNOT,
	  "",
	  INT64_MAX,
	  { "ns/v", "ns/u", NULL } },
};

static void read_facts(const struct quota_world *w, const struct row *row, struct price_facts *to)
{
	for (size_t i = 0; i < w->q->workloads.n; i++) {
		to[i].admitted_at = MODEL_TIME_NONE;
	}
	for (size_t i = 0; i < ARRAY_LEN(row->facts); i++) {
		const struct fact *f = &row->facts[i];

		if (f->key != NULL && f->key[0] != '\0') {
			to[quota_world_workload(w, f->key)->id] = (struct price_facts){
				.admitted_at = f->ran_s == NOT_ADMITTED
						       ? MODEL_TIME_NONE
						       : w->now - f->ran_s * CLOCK_NS_PER_S,
				.pods = f->pods,
				.grace_s = f->grace_s,
				.evictions = f->evictions
			};
		}
	}
}

static void list_victims(const struct price *p, struct strbuf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		strbuf_printf(out, "%s%s", i > 0 ? " " : "", strchr(p->victims[i].key, '/') + 1);
	}
}

static void find(struct quota_world *w, const struct row *row, struct price_facts *facts,
		 struct arena *arena, struct price *ret)
{
	struct price_request r = { .forest = w->f,
				   .w = quota_world_workload(w, "p"),
				   .facts = facts,
				   .nfacts = w->q->workloads.n,
				   .now = w->now,
				   .promised = row->promised };

	while (row->promised[r.npromised] != NULL) {
		r.npromised++;
	}
	price_find(&r, arena, ret);
}

static void check(const struct row *row)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf victims = STRBUF_INIT;
	CLEANUP(xmalloc_freep) struct price_facts *facts = NULL;
	struct workload *p;
	struct price price;
	uint64_t before;
	bool gated;

	unit_row(row->name);
	quota_world_init(&w, row->world);
	facts = xmalloc_zero(w.q->workloads.n, sizeof(*facts));
	read_facts(&w, row, facts);
	before = victims_fixture_usage(&w);
	p = quota_world_workload(&w, "p");
	gated = p->flags.preemption_gated;
	pending_update(w.q, p, true, w.now);
	find(&w, row, facts, arena, &price);
	list_victims(&price, &victims);
	assert_string_equal(price_verdict_name(price.verdict), price_verdict_name(row->verdict));
	assert_string_equal(victims.p == NULL ? "" : victims.p, row->victims);
	assert_int_equal(price.cost, row->cost);
	assert_int_equal(price.message != NULL,
			 row->verdict == PRICE_UNKNOWN || row->verdict == PRICE_CANNOT);
	assert_true(price.message == NULL || strstr(price.message, "Ready") == NULL);
	assert_true(victims_fixture_usage(&w) == before);
	assert_int_equal(p->flags.preemption_gated, gated);
	pending_remove(w.q, p);
}

static void test_victims_and_cost(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check(&rows[i]);
	}
}

/* The members from which the cost follows are those that were given. */
static void test_terms(void **state)
{
	static const struct row row = {
		.world = "option preemption_gates=true priority_boost=true\n"
			 "queue a within=LowerPriority\nquota a default cpu nominal=4\n"
			 "workload ns/p queue=a cpu=4 preemption-gated prio=10\n"
			 "workload ns/v queue=a cpu=2 prio=3 boost=-1 cost=7 holds=default\n"
			 "workload ns/w queue=a cpu=2 evicted=-3s holds=default\n",
		.facts = { { "v", 12, 2, 40, 1 }, { "w", 5, 1, 9, 0 } },
	};
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(xmalloc_freep) struct price_facts *facts = NULL;
	struct price p;
	const struct price_victim *v;

	(void)state;
	quota_world_init(&w, row.world);
	facts = xmalloc_zero(w.q->workloads.n, sizeof(*facts));
	read_facts(&w, &row, facts);
	pending_update(w.q, quota_world_workload(&w, "p"), true, w.now);
	find(&w, &row, facts, arena, &p);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.pods, 1);
	assert_int_equal(p.wait_s, 40);
	assert_string_equal(p.victims[0].key, "ns/w");
	assert_true(p.victims[0].leaving);
	assert_int_equal(p.victims[0].cost, 0);
	v = &p.victims[1];
	assert_string_equal(v->key, "ns/v");
	assert_int_equal(v->pods, 2);
	assert_int_equal(v->seconds, 12);
	assert_int_equal(v->evictions, 1);
	assert_int_equal(v->grace_s, 40);
	assert_int_equal(v->priority, 2);
	assert_int_equal(v->preemption_cost, 7);
	assert_false(v->leaving);
	assert_int_equal(v->cost, 264 + 264 * 2 / 10 + 7);
	assert_int_equal(p.cost, v->cost + 40);
	pending_remove(w.q, quota_world_workload(&w, "p"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_victims_and_cost),
		cmocka_unit_test(test_terms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
