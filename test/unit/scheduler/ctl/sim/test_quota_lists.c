#include "scheduler/ctl/sim/quota_lists.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "lib/workloads/admission_cycle_fixture.h"

static void nodes_by_kind_and_name(void **state)
{
	static const char *const expected[] = { "a", "z", "a", "m" };
	struct admission_cycle_fixture f;
	const struct quota_node **v;
	size_t n;

	(void)state;
	/* Cohort m is only named. */
	admission_cycle_fixture_init(&f, "cohort a\nqueue z cohort=m\nqueue a cohort=a\n"
					 "quota z f cpu nominal=1\nquota a f cpu nominal=1\n");
	v = quota_lists_nodes(f.w.q, &n);
	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(v[i]->name, expected[i]);
		assert_int_equal(v[i]->is_queue, i < 2);
	}
	free(v);
	admission_cycle_fixture_finish(&f);
}

static void workloads_by_key_and_by_rank(void **state)
{
	struct admission_cycle_fixture f;
	const struct workload **v;
	const struct cluster_queue *q;
	size_t n;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=1\n"
					 "workload c queue=q cpu=1 prio=1\n"
					 "workload a queue=q cpu=1 prio=3\n"
					 "workload b queue=q cpu=1 prio=2\n"
					 "workload d queue=q cpu=1 requeue=9s\n"
					 "workload e queue=q cpu=1 requeued-false\n");
	v = quota_lists_workloads(f.w.q, &n);
	assert_int_equal(n, 5);
	assert_string_equal(v[0]->key, "ns/a");
	assert_string_equal(v[4]->key, "ns/e");
	free(v);
	q = quota_world_node(&f.w, "q")->queue;
	v = quota_lists_waiting(f.w.q, q, true, &n);
	assert_int_equal(n, 3);
	assert_string_equal(v[0]->key, "ns/a");
	assert_string_equal(v[2]->key, "ns/c");
	free(v);
	v = quota_lists_waiting(f.w.q, q, false, &n);
	assert_int_equal(n, 1);
	assert_string_equal(v[0]->key, "ns/d");
	free(v);
	v = quota_lists_pending(f.w.q, q, &n);
	assert_int_equal(n, 4);
	assert_string_equal(v[0]->key, "ns/a");
	assert_string_equal(v[2]->key, "ns/c");
	assert_string_equal(v[3]->key, "ns/d");
	free(v);
	admission_cycle_fixture_finish(&f);
}

static void workloads_of_a_local_queue(void **state)
{
	struct admission_cycle_fixture f;
	const struct workload **v;
	size_t n;

	(void)state;
	admission_cycle_fixture_init(&f, "quota q f cpu nominal=9\n"
					 "workload a queue=q local=lq cpu=1 prio=1\n"
					 "workload b queue=q local=lq cpu=1 prio=2\n"
					 "workload c queue=q cpu=1 prio=3\n"
					 "workload d queue=q local=lq cpu=1 holds=f reserved=-60s\n"
					 "workload e queue=q local=lq cpu=1 requeued-false\n");
	v = quota_lists_local(f.w.q, "ns/lq", &n);
	assert_int_equal(n, 2);
	assert_string_equal(v[0]->key, "ns/b");
	assert_string_equal(v[1]->key, "ns/a");
	free(v);
	admission_cycle_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_by_kind_and_name),
		cmocka_unit_test(workloads_by_key_and_by_rank),
		cmocka_unit_test(workloads_of_a_local_queue),
	};

	return cmocka_run_group_tests_name("ctl/sim/quota_lists", tests, NULL, NULL);
}
