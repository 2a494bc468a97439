#include "scheduler/pods/session/order.h"

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"

static struct order_podgroup *make(struct core_fixture *sf, const char *name, bool first)
{
	struct order_podgroup *j = arena_zero(sf->s->arena, 1, sizeof(*j));
	char *key = arena_printf(sf->s->arena, "ns/%s", name);

	j->podgroup = cluster_podgroup_find(sf->f.cluster, str_of(key));
	j->first = first;
	return j;
}

static void queues_by_priority_podgroups_by_age_those_under_way_first(void **state)
{
	static const char *const expected[] = { "b3", "b1", "b2", "b0", "a1" };
	struct core_fixture sf;
	struct order_podgroup *filled;
	struct order_queue *q;
	struct order o;
	size_t n = 0;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "a", NULL, -1);
	cluster_fixture_queue(sf.f.cluster, "b", NULL, -1)->priority = 5;
	cluster_fixture_podgroup(sf.f.cluster, "a1", "a", 1)->created = 1;
	cluster_fixture_podgroup(sf.f.cluster, "b2", "b", 1)->created = 3;
	cluster_fixture_podgroup(sf.f.cluster, "b1", "b", 1)->created = 2;
	cluster_fixture_podgroup(sf.f.cluster, "b3", "b", 1)->created = 9;
	cluster_fixture_podgroup(sf.f.cluster, "b0", "b", 1)->created = 1;
	core_fixture_open(&sf);
	order_init(&o, sf.s);
	filled = make(&sf, "b0", false);
	filled->filled = true;
	order_add(&o, filled);
	order_add(&o, make(&sf, "a1", false));
	order_add(&o, make(&sf, "b2", false));
	order_add(&o, make(&sf, "b1", false));
	order_add(&o, make(&sf, "b3", true));
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		struct order_podgroup *j = order_next_podgroup(q);

		if (j != NULL) {
			assert_string_equal(j->podgroup->name, expected[n++]);
			order_put_back(&o, q);
		}
	}
	assert_int_equal(n, 5);
	order_finish(&o);
	core_fixture_finish(&sf);
}

static void tasks_by_priority_then_number(void **state)
{
	static const char *const expected[] = { "j-w-9", "j-w-1", "j-w-2", "j-w-10" };
	struct core_fixture sf;
	const struct task **tasks;
	struct podgroup *g;
	size_t n;

	(void)state;
	core_fixture_init(&sf, NULL);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	cluster_fixture_task(sf.f.cluster, "j-w-10", g, 1);
	cluster_fixture_task(sf.f.cluster, "j-w-2", g, 1);
	cluster_fixture_task(sf.f.cluster, "j-w-1", g, 1);
	cluster_fixture_task(sf.f.cluster, "j-w-9", g, 1)->priority = 10;
	core_fixture_open(&sf);
	tasks = order_tasks(sf.s, g, &n);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(tasks[i]->name, expected[i]);
	}
	core_fixture_finish(&sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_by_priority_podgroups_by_age_those_under_way_first),
		cmocka_unit_test(tasks_by_priority_then_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
