#include "scheduler/pods/cycle/overdue.h"

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/ledger/ledger.h"

#define TIMEOUT CYCLE_FIXTURE_S

struct overdue_row {
	const char *what;
	uint32_t flags;
	int64_t ungated; /* ago; -1: not known */
	int64_t limit;
	bool deletes;
	const char *decisions;
};

static struct task *let_go(struct core_fixture *sf, const char *name, struct podgroup *g)
{
	struct cluster *c = sf->f.cluster;
	struct task *t = cluster_fixture_task(c, name, g, 1000);

	t->flags |= TASK_OPTED_IN | TASK_GATE_ONLY;
	t->created = (int64_t)t->id;
	ledger_charge(c, t, c->queues.v[g->queue], CHARGE_UNGATED);
	return t;
}

static void each_pod_by_its_age_and_the_limit(void **state)
{
	static const struct overdue_row rows[] = {
		{ "in time", 0, TIMEOUT - 1, 9000, false, "" },
		{ "not in time", 0, TIMEOUT, 9000, false, "Overdue p" },
		{ "since when is not known", 0, -1, 9000, false, "" },
		{ "reported before", TASK_OVERDUE, TIMEOUT, 9000, false, "" },
		{ "no more", TASK_OVERDUE, 0, 9000, false, "Overdue p" },
		{ "beyond the limit", 0, 0, 999, false, "Overdue p" },
		{ "at the limit", 0, 0, 1000, false, "" },
		{ "without a controller", 0, TIMEOUT, 9000, true, "Overdue p" },
		{ "with one", TASK_CONTROLLED, TIMEOUT, 9000, true, "Overdue p; Evict p" },
		{ "with one, and kept", TASK_CONTROLLED, TIMEOUT, 9000, false, "Overdue p" },
		{ "refused once", TASK_CONTROLLED | TASK_OVERDUE, TIMEOUT, 9000, true, "Evict p" },
		{ "left alone", TASK_CONTROLLED | TASK_OVERDUE | TASK_PARKED, TIMEOUT, 9000, true,
		  "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;

		unit_row(rows[i].what);
		core_fixture_init(&sf, NULL);
		sf.f.conf->reservation_timeout_ns = TIMEOUT;
		sf.f.conf->overdue_deletes = rows[i].deletes;
		cluster_fixture_queue(sf.f.cluster, "q", NULL, rows[i].limit);
		t = let_go(&sf, "p", cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1));
		t->flags |= rows[i].flags;
		if (rows[i].ungated >= 0) {
			t->published_at = sf.f.now - rows[i].ungated;
		}
		core_fixture_open(&sf);
		overdue_run(sf.s);
		assert_string_equal(core_fixture_decisions(&sf), rows[i].decisions);
		core_fixture_finish(&sf);
	}
}

/* Terminating pods leave the queue without that, and no more pods count than must. */
static void the_youngest_are_beyond_the_limit(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;
	struct task *leaves;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 2000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	let_go(&sf, "p0", g);
	let_go(&sf, "p1", g);
	let_go(&sf, "p2", g);
	leaves = let_go(&sf, "leaves", g);
	ledger_set_releasing(sf.f.cluster, leaves, true);
	cluster_task_set_status(sf.f.cluster, leaves, TASK_RELEASING, NULL);
	core_fixture_open(&sf);
	overdue_run(sf.s);
	assert_string_equal(core_fixture_decisions(&sf), "Overdue p2");
	core_fixture_finish(&sf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pod_by_its_age_and_the_limit),
		cmocka_unit_test(the_youngest_are_beyond_the_limit),
	};

	return cmocka_run_group_tests_name("pods/cycle/overdue", tests, NULL, NULL);
}
