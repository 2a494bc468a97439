#include "scheduler/pods/cycle/shortage.h"

#include "enc/quantity.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

/* Queue q of 2 CPU below top of 3 CPU; 1 CPU is charged to q, and so much to a queue beside it. */
static struct podgroup *start(struct core_fixture *sf, int64_t beside, int32_t min)
{
	struct cluster *c;
	struct queue *q, *other;

	core_fixture_init(sf, NULL);
	c = sf->f.cluster;
	cluster_fixture_queue(c, "top", NULL, 3000);
	q = cluster_fixture_queue(c, "q", "top", 2000);
	other = cluster_fixture_queue(c, "beside", "top", 3000);
	ledger_charge(c,
		      cluster_fixture_task(c, "a", cluster_fixture_podgroup(c, "j", "q", 1), 1000),
		      q, CHARGE_UNGATED);
	ledger_charge(
		c,
		cluster_fixture_task(c, "b", cluster_fixture_podgroup(c, "k", "beside", 1), beside),
		other, CHARGE_UNGATED);
	return cluster_fixture_podgroup(c, "g", "q", min);
}

static struct task *waiting(struct core_fixture *sf, const char *name, struct podgroup *g,
			    int64_t cpu)
{
	struct task *t = cluster_fixture_task(sf->f.cluster, name, g, cpu);

	t->flags |= TASK_OPTED_IN | TASK_OUR_GATE;
	return t;
}

static void a_task(void **state)
{
	static const struct {
		int64_t beside, cpu;
		const char *text;
	} rows[] = {
		{ 100, 1000, "" },
		{ 100, 2500, " (2500m cpu requested, 1 of 2 left in queue q)" },
		{ 1500, 1000, " (1 cpu requested, 500m of 3 left in queue top)" },
		{ 2500, 1000, " (1 cpu requested, 0 of 3 left in queue top)" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct podgroup *g = start(&sf, rows[i].beside, 1);
		const struct task *t = waiting(&sf, "p", g, rows[i].cpu);

		unit_row(rows[i].text);
		core_fixture_open(&sf);
		assert_string_equal(shortage_of_task(sf.s, sf.f.cluster->queues.v[g->queue], t),
				    rows[i].text);
		core_fixture_finish(&sf);
	}
}

static void a_gang_is_summed(void **state)
{
	struct core_fixture sf;
	struct podgroup *g = start(&sf, 100, 3);
	const struct queue *q;

	(void)state;
	waiting(&sf, "p1", g, 500);
	waiting(&sf, "p2", g, 500);
	waiting(&sf, "p3", g, 500);
	waiting(&sf, "spare", g, 500);
	core_fixture_open(&sf);
	q = sf.f.cluster->queues.v[g->queue];
	assert_string_equal(shortage_of_podgroup(sf.s, q, g),
			    " (1500m cpu requested, 1 of 2 left in queue q)");
	core_fixture_finish(&sf);
}

static void an_excess(void **state)
{
	struct core_fixture sf;
	struct podgroup *g = start(&sf, 2500, 1);
	struct cluster *c = sf.f.cluster;

	(void)state;
	core_fixture_open(&sf);
	assert_string_equal(shortage_excess(sf.s, c->queues.v[g->queue]), "");
	assert_string_equal(shortage_excess(sf.s, queue_find(c, STR_LIT("top"))),
			    " (3500m cpu charged, the limit is 3)");
	core_fixture_finish(&sf);
}

static void amounts_have_units(void **state)
{
	char buf[QUANTITY_TEXT_MAX];

	(void)state;
	assert_string_equal(shortage_amount(RES_CPU, 1500, buf), "1500m");
	assert_string_equal(shortage_amount(RES_MEMORY, INT64_C(4) << 30, buf), "4Gi");
	assert_string_equal(shortage_amount(RES_PODS, 3, buf), "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task),
		cmocka_unit_test(a_gang_is_summed),
		cmocka_unit_test(an_excess),
		cmocka_unit_test(amounts_have_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
