#include "scheduler/pods/writes/pod_status.h"

#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"

#define PATCH "PATCH /api/v1/namespaces/ns/pods/p/status"
#define READ "GET /api/v1/namespaces/ns/pods/p"
#define NOW (1700000000 * CLOCK_NS_PER_S)

static void begin_after(struct write_fixture *f, const char *nominated, uint32_t attempts)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"),
		 pod_status_new(write_fixture_task(), "Unschedulable", "0/0 nodes", nominated,
				attempts, NOW));
}

static void begin(struct write_fixture *f, const char *nominated)
{
	begin_after(f, nominated, 0);
}

/* Cluster Autoscaler's fast loop needs exact words, a fresh lastTransitionTime, no
 * nomination. */
static void test_condition_as_autoscalers_read_it(void **state)
{
	struct write_fixture f;
	struct jdoc *body = NULL;
	const struct jdoc *c;
	uint64_t id;

	(void)state;
	begin(&f, NULL);
	id = write_fixture_expect(&f, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "metadata.uid"), "u-1");
	c = jdoc_at(jdoc_path(body, "status.conditions"), 0);
	assert_string_equal(jdoc_path_str(c, "type"), "PodScheduled");
	assert_string_equal(jdoc_path_str(c, "status"), "False");
	assert_string_equal(jdoc_path_str(c, "reason"), "Unschedulable");
	assert_string_equal(jdoc_path_str(c, "message"), "0/0 nodes");
	assert_string_equal(jdoc_path_str(c, "lastTransitionTime"), "2023-11-14T22:13:20Z");
	assert_int_equal(jdoc_count(jdoc_path(body, "status.conditions")), 1);
	assert_non_null(jdoc_path(body, "status.nominatedNodeName"));
	assert_int_equal(jdoc_kind(jdoc_path(body, "status.nominatedNodeName")), JDOC_NULL);
	jdoc_destroy(body);
	fake_transport_answer(f.transport, id, 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	assert_string_equal(f.last->written, "Unschedulable");
	write_fixture_finish(&f);
}

static void test_attempts_are_kept_in_a_condition_of_ours(void **state)
{
	struct write_fixture f;
	struct jdoc *body = NULL;
	const struct jdoc *c;
	uint64_t id;

	(void)state;
	begin_after(&f, NULL, 12);
	id = write_fixture_expect(&f, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &body, NULL), 0);
	c = jdoc_at(jdoc_path(body, "status.conditions"), 1);
	assert_string_equal(jdoc_path_str(c, "type"), "headgate.io/ReservationTimedOut");
	assert_string_equal(jdoc_path_str(c, "status"), "True");
	assert_string_equal(jdoc_path_str(c, "message"), "12 reservations ended without a node");
	jdoc_destroy(body);
	fake_transport_answer(f.transport, id, 200, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_refused_status_of_a_bound_pod_is_stale(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, "node-1");
	fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 422, "{}");
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
			      "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"n\"}}");
	write_fixture_outcome(&f, SCHED_STALE);
	assert_string_equal(f.last->written, "Unschedulable");
	write_fixture_finish(&f);
}

/* The pod still waits, with another condition: what was refused was not written. */
static void test_refused_status_of_a_waiting_pod_is_refused(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f, "node-1");
	fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 422, "{}");
	fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
			      "{\"metadata\":{\"uid\":\"u-1\"},\"status\":{\"conditions\":["
			      "{\"type\":\"PodScheduled\",\"reason\":\"SchedulingGated\"}]}}");
	write_fixture_outcome(&f, SCHED_REJECTED);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_condition_as_autoscalers_read_it),
		cmocka_unit_test(test_attempts_are_kept_in_a_condition_of_ours),
		cmocka_unit_test(test_refused_status_of_a_bound_pod_is_stale),
		cmocka_unit_test(test_refused_status_of_a_waiting_pod_is_refused),
	};

	return cmocka_run_group_tests_name("pods/writes/pod_status", tests, NULL, NULL);
}
