#include "scheduler/pods/writes/eviction.h"

#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

#define DELETE "DELETE /api/v1/namespaces/ns/pods/p"

static void begin(struct write_fixture *f)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"), eviction_new(write_fixture_task()));
}

static void test_delete_has_a_uid_precondition(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	id = write_fixture_expect(&f, DELETE);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			     "\"uid\":\"u-1\"}}"));
	fake_transport_answer(f.transport, id, 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

/* A pod without a node may have got one since: the API server refuses then. */
static void test_without_a_node_it_must_be_unchanged(void **state)
{
	struct write_fixture f;
	struct task t = *write_fixture_task();
	uint64_t id;

	(void)state;
	t.node = MODEL_NONE;
	t.resource_version = 7;
	write_fixture_init(&f);
	write_fixture_pool(&f, &pod_write_pool_ops, &f.target);
	pool_add(f.pool, STR_LIT("ns/p"), eviction_new(&t));
	id = write_fixture_expect(&f, DELETE);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			     "\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}"));
	fake_transport_answer(f.transport, id, 409, "{}");
	fake_transport_answer(f.transport,
			      write_fixture_expect(&f, "GET /api/v1/namespaces/ns/pods/p"), 200,
			      "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"n\"}}");
	write_fixture_outcome(&f, SCHED_STALE);
	write_fixture_finish(&f);
}

static void test_a_victim_that_is_gone_already_is_fine(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, DELETE), 404, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delete_has_a_uid_precondition),
		cmocka_unit_test(test_without_a_node_it_must_be_unchanged),
		cmocka_unit_test(test_a_victim_that_is_gone_already_is_fine),
	};

	return cmocka_run_group_tests_name("pods/writes/eviction", tests, NULL, NULL);
}
