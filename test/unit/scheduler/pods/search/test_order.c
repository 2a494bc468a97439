#include "scheduler/pods/search/order.h"

#include <stdio.h>

#include "base/rng.h"
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

#define QUEUES 14
#define TASKS 6 /* of each queue's PodGroup */

static const char by_shares[] = "actions: allocate\n"
				"tiers:\n"
				"- plugins:\n"
				"  - name: capacity\n"
				"    enableHierarchy: true\n";

struct random_tree {
	struct core_fixture sf;
	struct rng rng;
	const struct queue *queues[QUEUES];
	struct order_podgroup *podgroups[QUEUES];
	bool waits[QUEUES];
	size_t placed[QUEUES];
};

static void make_tree(struct random_tree *r)
{
	char name[16], parent[16];

	core_fixture_init(&r->sf, by_shares);
	cluster_fixture_node(r->sf.f.cluster, "n", 1000000);
	for (unsigned i = 0; i < QUEUES; i++) {
		struct queue *q;

		snprintf(name, sizeof(name), "q%02u", i);
		snprintf(parent, sizeof(parent), "q%02u",
			 i == 0 ? 0 : (unsigned)rng_below(&r->rng, i));
		q = cluster_fixture_queue(r->sf.f.cluster, name,
					  i == 0 || rng_below(&r->rng, 3) == 0 ? NULL : parent, -1);
		q->deserved.v[RES_CPU] = (int64_t)rng_below(&r->rng, 4) * 1000;
		q->priority = rng_below(&r->rng, 5) == 0;
		q->created = (int64_t)rng_below(&r->rng, 3);
		r->queues[i] = q;
	}
	for (unsigned i = 0; i < QUEUES; i++) {
		struct podgroup *g;

		snprintf(name, sizeof(name), "g%02u", i);
		g = cluster_fixture_podgroup(r->sf.f.cluster, name, r->queues[i]->name, 1);
		for (unsigned k = 0; k < TASKS; k++) {
			snprintf(name, sizeof(name), "t%02u-%u", i, k);
			cluster_fixture_task(r->sf.f.cluster, name, g,
					     500 * (int64_t)rng_below(&r->rng, 4));
		}
	}
	core_fixture_open(&r->sf);
	for (unsigned i = 0; i < QUEUES; i++) {
		snprintf(name, sizeof(name), "g%02u", i);
		r->podgroups[i] = make(&r->sf, name, false);
	}
}

static size_t number_of(const struct random_tree *r, const struct queue *q)
{
	for (size_t i = 0; i < QUEUES; i++) {
		if (r->queues[i] == q) {
			return i;
		}
	}
	return SIZE_MAX;
}

static const struct queue *find_first(const struct random_tree *r)
{
	const struct queue *first = NULL;

	for (size_t i = 0; i < QUEUES; i++) {
		if (r->waits[i] &&
		    (first == NULL || hooks_queue_order(r->sf.s, r->queues[i], first) < 0)) {
			first = r->queues[i];
		}
	}
	return first;
}

static void place_one(struct random_tree *r, size_t i)
{
	const struct podgroup *g = r->podgroups[i]->podgroup;

	if (r->placed[i] < TASKS) {
		statement_allocate(r->sf.s, session_task(r->sf.s, g->tasks.v[r->placed[i]++]),
				   session_cluster(r->sf.s)->nodes.v[0]);
	}
}

static void serve_all(struct random_tree *r)
{
	struct order_queue *q;
	struct order o;

	order_init(&o, r->sf.s);
	for (size_t i = 0; i < QUEUES; i++) {
		r->waits[i] = rng_below(&r->rng, 4) != 0;
		if (r->waits[i]) {
			order_add(&o, r->podgroups[i]);
		}
	}
	order_start(&o);
	while ((q = order_next_queue(&o)) != NULL) {
		size_t i = number_of(r, q->queue);

		assert_ptr_equal(q->queue, find_first(r));
		r->waits[i] = r->placed[i] < TASKS;
		place_one(r, i);
		if (r->waits[i]) {
			order_put_back(&o, q);
		}
		if (rng_below(&r->rng, 4) == 0) {
			place_one(r, rng_below(&r->rng, QUEUES));
			order_refresh(&o);
		}
	}
	assert_null(find_first(r));
	order_finish(&o);
}

static void the_first_queue_is_that_of_the_moment(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 300; seed++) {
		struct random_tree r = { .placed = { 0 } };

		rng_init(&r.rng, seed);
		make_tree(&r);
		serve_all(&r);
		core_fixture_finish(&r.sf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_by_priority_podgroups_by_age_those_under_way_first),
		cmocka_unit_test(tasks_by_priority_then_number),
		cmocka_unit_test(the_first_queue_is_that_of_the_moment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
