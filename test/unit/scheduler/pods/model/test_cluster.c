#include "scheduler/pods/model/cluster.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/xmalloc.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_starts_with_a_root_only(void **state)
{
	struct cluster *c = cluster_create();

	(void)state;
	assert_int_equal(c->queues.n, 1);
	assert_string_equal(c->queues.v[c->root_queue]->name, "root");
	assert_null(c->queues.v[c->root_queue]->broken);
	assert_int_equal(c->default_queue, MODEL_NONE);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
	cluster_destroy(NULL);
}

static void test_account_never_below_zero(void **state)
{
	struct cluster *c = cluster_create();
	struct res a = { .v = { 5, 5 } }, b = { .v = { 7, 3 } };

	(void)state;
	cluster_account_sub(c, &a, &b);
	assert_int_equal(a.v[0], 0);
	assert_int_equal(a.v[1], 2);
	assert_int_equal(c->drift, 1);
	assert_non_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_chain_gen_sums_the_chain(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *a = cluster_fixture_queue(c, "a", NULL, -1);
	struct queue *b = cluster_fixture_queue(c, "b", "a", -1);
	uint64_t before = cluster_chain_gen(c, b);

	(void)state;
	a->room_gen += 2;
	c->queues.v[c->root_queue]->room_gen += 3;
	assert_int_equal(cluster_chain_gen(c, b), before + 5);
	cluster_destroy(c);
}

/* Random operations; every account is recomputed after each. */

#define NAMES 12

static void name_of(char buf[16], char kind, uint64_t n)
{
	snprintf(buf, 16, "%c%u", kind, (unsigned)n);
}

static struct task *some_task(struct cluster *c, struct rng *r)
{
	char key[32];

	snprintf(key, sizeof(key), "ns/t%u", (unsigned)rng_below(r, NAMES));
	return cluster_task_find(c, str_of(key));
}

static void change_task(struct cluster *c, struct rng *r)
{
	static const enum task_status status[] = { TASK_PENDING,   TASK_BINDING,   TASK_BOUND,
						   TASK_RUNNING,   TASK_RELEASING, TASK_UNKNOWN,
						   TASK_SUCCEEDED, TASK_FAILED };
	struct task *t = some_task(c, r);
	char name[16];

	if (t == NULL) {
		char key[32];

		name_of(name, 't', rng_below(r, NAMES));
		snprintf(key, sizeof(key), "ns/%s", name);
		if (cluster_task_find(c, str_of(key)) == NULL) {
			(void)cluster_fixture_task(c, name, NULL, (int64_t)rng_below(r, 4) * 100);
		}
		return;
	}
	switch (rng_below(r, 4)) {
	case 0:
		cluster_task_remove(c, t);
		return;
	case 1:
		name_of(name, 'n', rng_below(r, NAMES));
		cluster_task_set_status(c, t, status[rng_below(r, ARRAY_LEN(status))],
					cluster_node_get(c, str_of(name)));
		/* The node may not have been wanted. */
		if (cluster_node_find(c, str_of(name)) != NULL) {
			cluster_node_prune(c, cluster_node_find(c, str_of(name)));
		}
		return;
	case 2:
		cluster_task_set_class(c, t,
				       cluster_fixture_class(c, (int64_t)rng_below(r, 4) * 100));
		return;
	default:
		name_of(name, 'j', rng_below(r, NAMES));
		cluster_task_set_podgroup(
			c, t,
			rng_below(r, 4) == 0
				? NULL
				: cluster_podgroup_get(c, STR_LIT("ns"), str_of(name)));
	}
}

static void change_queue(struct cluster *c, struct rng *r)
{
	char name[16], parent[16];
	struct queue *q;

	name_of(name, 'q', rng_below(r, NAMES));
	name_of(parent, 'q', rng_below(r, NAMES));
	q = queue_get(c, str_of(name));
	q->exists = rng_below(r, 3) > 0;
	free(q->parent_name);
	q->parent_name = rng_below(r, 2) == 0 ? NULL : xmalloc_dup(parent);
	assert_false(queue_topology_changed(c)); /* nothing is charged */
	queue_prune(c, q);
}

static void change_podgroup(struct cluster *c, struct rng *r)
{
	char name[16], queue[16];
	struct podgroup *g;

	name_of(name, 'j', rng_below(r, NAMES));
	name_of(queue, 'q', rng_below(r, NAMES));
	g = cluster_podgroup_get(c, STR_LIT("ns"), str_of(name));
	g->exists = rng_below(r, 3) > 0;
	cluster_podgroup_set_queue(c, g, g->exists ? str_of(queue) : str_of(NULL));
	cluster_podgroup_prune(c, g);
}

static void change_node(struct cluster *c, struct rng *r)
{
	char name[16];
	struct node *n;
	struct res old = { .more = NULL };

	name_of(name, 'n', rng_below(r, NAMES));
	if (rng_below(r, 2) == 0) {
		(void)cluster_fixture_node(c, name, (int64_t)rng_below(r, 5) * 1000);
		return;
	}
	n = cluster_node_find(c, str_of(name));
	if (n == NULL || !n->exists) {
		return;
	}
	old = n->allocatable;
	n->exists = false;
	cluster_node_changed(c, n, &old, true);
	cluster_node_prune(c, n);
}

static void test_random_operations_keep_the_accounts(void **state)
{
	static void (*const ops[])(struct cluster *, struct rng *) = {
		change_task, change_task, change_task, change_queue, change_podgroup, change_node,
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct cluster *c = cluster_create();
		struct rng r;

		rng_init(&r, seed);
		for (int i = 0; i < 400; i++) {
			const char *wrong;

			ops[rng_below(&r, ARRAY_LEN(ops))](c, &r);
			wrong = cluster_verify(c);
			if (wrong != NULL) {
				fail_msg("seed %u step %d: %s", (unsigned)seed, i, wrong);
			}
		}
		cluster_destroy(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_with_a_root_only),
		cmocka_unit_test(test_account_never_below_zero),
		cmocka_unit_test(test_chain_gen_sums_the_chain),
		cmocka_unit_test(test_random_operations_keep_the_accounts),
	};

	return cmocka_run_group_tests_name("pods/model/cluster", tests, NULL, NULL);
}
