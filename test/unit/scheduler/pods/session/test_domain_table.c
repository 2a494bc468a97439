#include "scheduler/pods/session/domain_table.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "collections/bitset.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/pods/term_fixture.h"
#include "lib/unit.h"

/* Nodes 0 and 1 in zone a, 2 in zone b, 3 without zone, 4 without an object. */
static struct cluster *make(void)
{
	static const char *const labels[] = { "zone=a", "zone=a", "zone=b", "", "zone=c" };
	static const char *const names[] = { "n0", "n1", "n2", "n3", "n4" };
	struct cluster *c = cluster_create();

	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		struct node *n = cluster_fixture_node(c, names[i], 1000);

		term_fixture_node_labels(c, n, labels[i]);
	}
	c->nodes.v[4]->exists = false;
	return c;
}

static struct domain_table start(struct arena *a, const struct cluster *c)
{
	return (struct domain_table){ .key = domain_table_key(a, c,
							      c->nodes.v[0]->labels.v[0].key) };
}

static void test_domains_of_a_key(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct cluster *c = make();
	struct domain_table t = start(a, c);
	struct domain_count count;

	(void)state;
	assert_int_equal(t.key->n, 2);
	assert_int_equal(t.key->of[0], 0);
	assert_int_equal(t.key->of[1], 0);
	assert_int_equal(t.key->of[2], 1);
	assert_int_equal(t.key->of[3], DOMAIN_NONE);
	assert_int_equal(t.key->of[4], DOMAIN_NONE);
	assert_int_equal(t.key->nodes[0], 2);
	assert_true(domain_table_get(&t, c->nodes.v[0], &count));
	assert_int_equal(count.here, 0);
	assert_false(domain_table_get(&t, c->nodes.v[3], &count));
	cluster_destroy(c);
}

/* Other nodes are concerned when a domain, or the whole, gets its first pod or loses its last. */
static void test_counts(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct cluster *c = make();
	struct domain_table t = start(a, c);
	struct domain_count count;

	(void)state;
	assert_false(domain_table_add(&t, a, 3, DOMAIN_HERE, 1));
	assert_false(domain_table_add(&t, a, 0, DOMAIN_OUT, 1));
	assert_null(t.counts);
	assert_true(domain_table_add(&t, a, 0, DOMAIN_HERE, 1));
	assert_false(domain_table_add(&t, a, 1, DOMAIN_RELEASING, 1));
	/* Zone b has one node, which the caller looks at anyway. */
	assert_false(domain_table_add(&t, a, 2, DOMAIN_HERE, 1));
	assert_true(domain_table_add(&t, a, 2, DOMAIN_PIPELINED, 1));
	assert_true(domain_table_get(&t, c->nodes.v[1], &count));
	assert_int_equal(count.here, 2);
	assert_int_equal(count.releasing, 1);
	assert_int_equal(count.pipelined, 0);
	assert_int_equal(domain_count_spread(&count, false), 1);
	assert_int_equal(t.total.here, 3);
	assert_int_equal(t.total.pipelined, 1);
	assert_false(domain_table_add(&t, a, 0, DOMAIN_HERE, -1));
	assert_true(domain_table_add(&t, a, 1, DOMAIN_RELEASING, -1));
	assert_int_equal(t.total.here, 1);
	cluster_destroy(c);
}

/* Sums of weights may be below 0, and come back. */
static void test_weights(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct cluster *c = make();
	struct domain_table t = start(a, c);
	struct domain_count count;

	(void)state;
	domain_table_add(&t, a, 0, DOMAIN_HERE, -100);
	domain_table_add(&t, a, 1, DOMAIN_HERE, 30);
	assert_true(domain_table_get(&t, c->nodes.v[0], &count));
	assert_int_equal((int32_t)count.here, -70);
	domain_table_add(&t, a, 0, DOMAIN_HERE, 100);
	assert_true(domain_table_get(&t, c->nodes.v[0], &count));
	assert_int_equal((int32_t)count.here, 30);
	cluster_destroy(c);
}

static void test_spread(void **state)
{
	CLEANUP(arena_destroyp) struct arena *a = arena_create(0);
	struct cluster *c = make();
	struct domain_table t = start(a, c);
	uint64_t eligible[1] = { 0 };

	(void)state;
	bitset_set(eligible, 1);
	bitset_set(eligible, 2);
	domain_table_limit(&t, a, c, eligible);
	assert_int_equal(t.domains, 2);
	assert_int_equal(t.least, 0);
	/* Not eligible: nothing is counted. */
	assert_false(domain_table_add(&t, a, 0, DOMAIN_HERE, 1));
	assert_int_equal(t.total.here, 0);
	assert_true(domain_table_add(&t, a, 1, DOMAIN_HERE, 1));
	assert_int_equal(t.least, 0);
	/* The emptiest domain will get its first one, and gets it. */
	assert_true(domain_table_add(&t, a, 2, DOMAIN_PIPELINED, 1));
	assert_int_equal(t.least, 0);
	assert_int_equal(t.least_later, 1);
	assert_true(domain_table_add(&t, a, 2, DOMAIN_HERE, 1));
	assert_int_equal(t.least, 1);
	assert_int_equal(t.least_later, 1);
	assert_false(domain_table_add(&t, a, 2, DOMAIN_RELEASING, 1));
	assert_true(domain_table_add(&t, a, 1, DOMAIN_HERE, -1));
	assert_int_equal(t.least, 0);
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_domains_of_a_key),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests_name("pods/session/domain_table", tests, NULL, NULL);
}
