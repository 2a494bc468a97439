#include "scheduler/multikueue/fleet/fleet_holders.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/multikueue/fleet_fixture.h"
#include "scheduler/multikueue/records/fleet_workload.h"

struct test {
	struct fleet_fixture f;
	struct fleet_cluster *east, *west;
	struct fleet_holders holders;
	struct fleet_workload *a, *b, *c;
};

static void begin(struct test *t)
{
	*t = (struct test){ .holders = VEC_INIT };
	fleet_fixture_begin(&t->f);
	t->east = fleet_fixture_cluster(&t->f, "east");
	t->west = fleet_fixture_cluster(&t->f, "west");
	t->a = fleet_workload_create(str_of("ns/a"));
	t->b = fleet_workload_create(str_of("ns/b"));
	t->c = fleet_workload_create(str_of("ns/c"));
}

static void end(struct test *t)
{
	vec_finish(&t->holders);
	fleet_workload_destroy(t->a);
	fleet_workload_destroy(t->b);
	fleet_workload_destroy(t->c);
	fleet_fixture_end(&t->f);
}

static struct fleet_replica *place(struct fleet_workload *w, const struct fleet_cluster *k,
				   const char *queue)
{
	struct fleet_replica *r = fleet_workload_replica(w, k->name);

	r->queue = queue == NULL ? NULL : xmalloc_dup(queue);
	return r;
}

static void map_queue(struct fleet_cluster *k, const char *key, const char *cluster_queue)
{
	CLEANUP(xmalloc_freep)
	char *json = xmalloc_printf("{'spec':{'clusterQueue':'%s'}}", cluster_queue);
	struct sched_msg *m = fleet_fixture_object(SCHED_LOCAL_QUEUES, key, 1, json);

	fleet_clusters_queue(k, m);
	message_free(m);
}

static void test_set(void **state UNUSED)
{
	struct test t;

	begin(&t);
	assert_false(fleet_holders_set(&t.holders, t.a, NULL));
	assert_int_equal(t.holders.n, 0);
	assert_false(fleet_holders_set(&t.holders, t.a, t.east->name));
	assert_false(fleet_holders_set(&t.holders, t.a, t.east->name));
	assert_false(fleet_holders_set(&t.holders, t.b, t.east->name));
	assert_int_equal(t.holders.n, 2);
	/* Another cluster: the one before has it no more. */
	assert_true(fleet_holders_set(&t.holders, t.a, t.west->name));
	assert_int_equal(t.holders.n, 2);
	assert_ptr_equal(t.a->holding, t.west->name);
	assert_true(fleet_holders_set(&t.holders, t.a, NULL));
	assert_int_equal(t.holders.n, 1);
	assert_ptr_equal(t.holders.v[0], t.b);
	assert_null(t.a->holding);
	assert_false(fleet_holders_set(&t.holders, t.a, NULL));
	end(&t);
}

static void test_counts_others_of_one_queue(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;

	begin(&t);
	map_queue(t.east, "ns/lq1", "cq");
	map_queue(t.east, "ns/lq2", "cq");
	map_queue(t.east, "ns/lq3", "other");
	r = place(t.a, t.east, "ns/lq1");
	(void)place(t.b, t.east, "ns/lq2");
	(void)place(t.c, t.east, "ns/lq3");
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 0);
	(void)fleet_holders_set(&t.holders, t.a, t.east->name); /* itself */
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 0);
	(void)fleet_holders_set(&t.holders, t.b, t.east->name);
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 1);
	(void)fleet_holders_set(&t.holders, t.c, t.east->name); /* another ClusterQueue */
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 1);
	map_queue(t.east, "ns/lq3", "cq");
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 2);
	(void)fleet_holders_set(&t.holders, t.b, t.west->name); /* another cluster */
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 1);
	end(&t);
}

static void test_without_queues(void **state UNUSED)
{
	struct test t;
	struct fleet_replica *r;

	begin(&t);
	/* LocalQueues may not be read: they count for themselves. */
	r = place(t.a, t.east, "ns/lq1");
	(void)place(t.b, t.east, "ns/lq1");
	(void)place(t.c, t.east, "ns/lq2");
	(void)fleet_holders_set(&t.holders, t.b, t.east->name);
	(void)fleet_holders_set(&t.holders, t.c, t.east->name);
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, r), 1);
	/* The same names on another cluster are other queues. */
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.west, place(t.a, t.west, "ns/lq1")),
			 0);
	end(&t);
}

static void test_without_replicas(void **state UNUSED)
{
	struct test t;

	begin(&t);
	(void)place(t.b, t.east, NULL);
	(void)fleet_holders_set(&t.holders, t.b, t.east->name);
	(void)fleet_holders_set(&t.holders, t.c, t.east->name); /* nothing is known of one */
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, place(t.a, t.east, NULL)), 0);
	fleet_workload_drop(t.a, "east");
	assert_int_equal(fleet_holders_count(&t.holders, t.a, t.east, place(t.a, t.east, "ns/q")),
			 0);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_counts_others_of_one_queue),
		cmocka_unit_test(test_without_queues),
		cmocka_unit_test(test_without_replicas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
