#include "scheduler/workloads/preempt/candidates.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"

#define S INT64_C(1000000000)

struct row {
	const char *name;
	const char *first, *second; /* words of two workloads that hold quota */
};

/* Each key, with everything after it the other way round. */
static const struct row rows[] = {
	{ "evicted", "at=a prio=9 cost=9 reserved=-99s uid=z evicted=-1s", "at=b" },
	{ "other queue", "at=b prio=9 cost=9 reserved=-99s uid=z", "at=a" },
	{ "priority", "at=b prio=1 cost=9 reserved=-99s uid=z", "at=b prio=2" },
	{ "cost", "at=b cost=1 reserved=-99s uid=z", "at=b cost=1001m" },
	{ "cost of nothing", "at=b cost=-1n reserved=-99s uid=z", "at=b" },
	{ "a billionth", "at=b cost=1000000000000 reserved=-99s uid=z",
	  "at=b cost=1000000000000000000001n" },
	{ "reservation", "at=b reserved=-1s uid=z", "at=b reserved=-2s uid=a" },
	{ "uid", "at=b uid=a reserved=-1s", "at=b uid=b reserved=-1s" },
	{ "key", "at=b uid=a reserved=-1s", "at=b uid=a reserved=-1s" },
};

static void make(struct quota_world *w, const struct row *row)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	strbuf_printf(&text,
		      "queue a\n"
		      "queue b\n"
		      "quota a default cpu nominal=4\n"
		      "quota b default cpu nominal=4\n"
		      "workload ns/p queue=a cpu=1 prio=5\n"
		      "workload ns/v1 queue=a cpu=1 holds=default %s\n"
		      "workload ns/v2 queue=a cpu=1 holds=default %s\n",
		      row->first, row->second);
	quota_world_init(w, text.p);
}

static void test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		CLEANUP(victims_fixture_finish) struct victims_fixture v;
		struct candidate first, second;

		print_message("%s\n", rows[i].name);
		make(&w, &rows[i]);
		victims_fixture_init(&v, &w, "p", "default/cpu=1");
		candidates_describe(&v.r, quota_world_workload(&w, "v1"), &first);
		candidates_describe(&v.r, quota_world_workload(&w, "v2"), &second);
		assert_true(candidates_cmp(&first, &second) < 0);
		assert_true(candidates_cmp(&second, &first) > 0);
		assert_true(candidates_cmp(&first, &first) == 0);
	}
}

static void test_an_unknown_time_of_reservation_is_now(void **state)
{
	static const struct row row = { "", "at=b", "at=b" };
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct candidate c;

	(void)state;
	make(&w, &row);
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	quota_world_workload(&w, "v1")->flags.reserved_at = MODEL_TIME_NONE;
	candidates_describe(&v.r, quota_world_workload(&w, "v1"), &c);
	assert_true(c.reserved == w.now);
	quota_world_workload(&w, "v1")->flags.reserved_at = w.now - 5 * S;
	candidates_describe(&v.r, quota_world_workload(&w, "v1"), &c);
	assert_true(c.reserved == w.now - 5 * S);
}

static void test_a_cost_without_the_field_does_not_count(void **state)
{
	static const struct row row = { "", "at=b", "at=b" };
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct candidate c;

	(void)state;
	make(&w, &row);
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	quota_world_workload(&w, "v1")->object.cost = 7;
	quota_world_workload(&w, "v1")->object.has_cost = false;
	candidates_describe(&v.r, quota_world_workload(&w, "v1"), &c);
	assert_true(candidates_cost(&c) == 0);
}

/* Admission fair sharing: of one queue, the LocalQueue that used more, before priority. */
static void test_usage_of_local_queues(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct candidate more, less, outside;

	(void)state;
	quota_world_init(&w, "option admission_fair_sharing=true\n"
			     "queue a usage-based\n"
			     "queue b\n"
			     "quota a default cpu nominal=4\n"
			     "quota b default cpu nominal=4\n"
			     "workload ns/p queue=a cpu=1 prio=5\n"
			     "workload ns/more queue=a cpu=1 prio=3 holds=default local=greedy\n"
			     "workload ns/less queue=a cpu=1 prio=1 holds=default local=modest\n"
			     "workload ns/outside queue=b cpu=1 prio=9 holds=default local=lq\n");
	quota_local_find(w.q, STR_LIT("ns/greedy"))->usage = 1;
	quota_local_find(w.q, STR_LIT("ns/modest"))->usage = 0.5;
	quota_local_find(w.q, STR_LIT("ns/lq"))->usage = 0.1;
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	candidates_describe(&v.r, quota_world_workload(&w, "more"), &more);
	candidates_describe(&v.r, quota_world_workload(&w, "less"), &less);
	candidates_describe(&v.r, quota_world_workload(&w, "outside"), &outside);
	assert_true(candidates_cmp(&more, &less) < 0);
	assert_true(candidates_cmp(&outside, &more) < 0);
	w.q->nodes.v[v.r.node]->queue->usage_based = false;
	candidates_describe(&v.r, quota_world_workload(&w, "more"), &more);
	candidates_describe(&v.r, quota_world_workload(&w, "less"), &less);
	assert_true(candidates_cmp(&more, &less) > 0);
}

static void test_collecting(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct candidates found = { 0 };
	uint32_t gone;

	(void)state;
	quota_world_init(&w, "queue a\n"
			     "quota a default cpu nominal=9\n"
			     "quota a spot cpu nominal=9\n"
			     "workload ns/p queue=a cpu=1 prio=5\n"
			     "workload ns/v1 queue=a cpu=1 prio=2 holds=default\n"
			     "workload ns/v2 queue=a cpu=1 prio=1 holds=default\n"
			     "workload ns/gone queue=a cpu=1 prio=0 holds=default\n"
			     "workload ns/spot queue=a cpu=1 prio=0 holds=spot\n"
			     "workload ns/high queue=a cpu=1 prio=7 holds=default\n");
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	gone = quota_world_workload(&w, "gone")->id;
	v.r.gone = &gone;
	v.r.ngone = 1;
	candidates_collect(&v.r, v.r.node, QUOTA_NEVER, arena, &found);
	assert_int_equal(found.n, 0);
	candidates_collect(&v.r, v.r.node, QUOTA_LOWER_PRIORITY, arena, &found);
	assert_int_equal(found.n, 2);
	assert_ptr_equal(found.v[0]->w, quota_world_workload(&w, "v1"));
	assert_ptr_equal(found.v[1]->w, quota_world_workload(&w, "v2"));
	candidates_collect(&v.r, v.r.node, QUOTA_ANY, arena, &found);
	assert_int_equal(found.n, 2 + 3);
}

/* Kueue: what holds quota of a ClusterQueue that is not active is left alone. */
static void test_a_stopped_queue_gives_nothing(void **state)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(victims_fixture_finish) struct victims_fixture v;
	struct candidates found = { 0 };

	(void)state;
	quota_world_init(&w, "cohort c\n"
			     "queue a cohort=c\n"
			     "queue b cohort=c stop=Hold\n"
			     "quota a default cpu nominal=9\n"
			     "quota b default cpu nominal=0\n"
			     "workload ns/p queue=a cpu=1\n"
			     "workload ns/v queue=b cpu=9 holds=default\n");
	victims_fixture_init(&v, &w, "p", "default/cpu=1");
	candidates_collect(&v.r, quota_world_id(&w, "b"), QUOTA_ANY, arena, &found);
	assert_int_equal(found.n, 0);
	quota_world_add(&w, "queue b cohort=c stop=None\n");
	candidates_collect(&v.r, quota_world_id(&w, "b"), QUOTA_ANY, arena, &found);
	assert_int_equal(found.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_an_unknown_time_of_reservation_is_now),
		cmocka_unit_test(test_a_cost_without_the_field_does_not_count),
		cmocka_unit_test(test_usage_of_local_queues),
		cmocka_unit_test(test_collecting),
		cmocka_unit_test(test_a_stopped_queue_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
