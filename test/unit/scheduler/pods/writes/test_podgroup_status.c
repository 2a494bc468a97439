#include "scheduler/pods/writes/podgroup_status.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

#define READ "GET /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g"
#define READ_CACHED READ "?resourceVersion=0"
#define PATCH "PATCH /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g"

struct fixture {
	struct write_fixture w;
	struct podgroup_status *status;
};

static struct podgroup podgroup = { .namespace_ = "ns",
				    .by_status = { [TASK_RUNNING] = 2, [TASK_SUCCEEDED] = 1 } };

static void begin(struct fixture *f)
{
	static char name[] = "g", uid[] = "g-1";

	podgroup.name = name;
	podgroup.uid = uid;
	write_fixture_init(&f->w);
	f->status = podgroup_status_create(&f->w.target);
	write_fixture_pool(&f->w, &podgroup_status_pool_ops, f->status);
}

static void end(struct fixture *f)
{
	write_fixture_finish(&f->w);
	podgroup_status_destroy(f->status);
}

static void wish(struct fixture *f, const char *phase, const char *type)
{
	struct podgroup_change w = { .phase = phase,
				     .type = type,
				     .reason = "NotEnoughResources",
				     .message = "m",
				     .transition = 7 };

	podgroup_status_request(f->status, f->w.pool, &podgroup, &w);
}

/* Others' conditions and unknown fields of the list stay: ours is merged into what was read. */
static void test_others_conditions_stay(void **state)
{
	struct fixture f;
	struct jdoc *body = NULL;
	const struct jdoc *conditions;
	uint64_t id;

	(void)state;
	begin(&f);
	wish(&f, "Inqueue", "Unschedulable");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"41\"},"
			      "\"status\":{\"conditions\":["
			      "{\"type\":\"Theirs\",\"x\":1},{\"type\":\"Unschedulable\","
			      "\"status\":\"False\"}]}}");
	id = write_fixture_expect(&f.w, PATCH);
	assert_string_equal(fake_transport_request(f.w.transport, id)->content_type,
			    "application/merge-patch+json");
	assert_int_equal(jdoc_parse(fake_transport_body(f.w.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "metadata.resourceVersion"), "41");
	assert_string_equal(jdoc_path_str(body, "status.phase"), "Inqueue");
	assert_int_equal(jdoc_int(jdoc_path(body, "status.running"), -1), 2);
	assert_int_equal(jdoc_int(jdoc_path(body, "status.succeeded"), -1), 1);
	conditions = jdoc_path(body, "status.conditions");
	assert_int_equal(jdoc_count(conditions), 2);
	assert_int_equal(jdoc_int(jdoc_get(jdoc_at(conditions, 0), "x"), 0), 1);
	assert_string_equal(jdoc_path_str(jdoc_at(conditions, 1), "status"), "True");
	assert_string_equal(jdoc_path_str(jdoc_at(conditions, 1), "transitionID"),
			    "0000000000000007");
	jdoc_destroy(body);
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	end(&f);
}

static void test_wishes_are_coalesced(void **state)
{
	struct fixture f;
	struct jdoc *body = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	wish(&f, "Inqueue", NULL);
	wish(&f, NULL, "Scheduled");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"1\"}}");
	id = write_fixture_expect(&f.w, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.w.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "status.phase"), "Inqueue");
	assert_string_equal(jdoc_path_str(jdoc_at(jdoc_path(body, "status.conditions"), 0), "type"),
			    "Scheduled");
	jdoc_destroy(body);
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	end(&f);
}

static void test_conflict_reads_again(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	wish(&f, "Running", NULL);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"1\"}}");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, PATCH), 409, "{}");
	write_fixture_no_outcome(&f.w);
	write_fixture_later(&f.w);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"2\"}}");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, PATCH), 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	end(&f);
}

static void test_a_recreated_podgroup_is_left_alone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	wish(&f, "Running", NULL);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-2\"}}");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ), 200,
			      "{\"metadata\":{\"uid\":\"g-2\"}}");
	write_fixture_outcome(&f.w, SCHED_GONE);
	end(&f);
}

/* A server's cache may be behind the one that we watch. */
static void test_a_stale_cache_is_not_used(void **state)
{
	static const struct {
		int status;
		const char *body;
	} stale[] = { { 404, "{}" }, { 200, "{\"metadata\":{\"uid\":\"g-0\"}}" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stale); i++) {
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		wish(&f, "Running", NULL);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED),
				      stale[i].status, stale[i].body);
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ), 200,
				      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"2\"}}");
		fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, PATCH), 200, "{}");
		write_fixture_outcome(&f.w, SCHED_DONE);
		end(&f);
	}
}

static void test_gone(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	wish(&f, "Running", NULL);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 404, "{}");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ), 404, "{}");
	write_fixture_outcome(&f.w, SCHED_GONE);
	end(&f);
}

/* A right is missing for a while: the write is repeated with backoff, with the latest content. */
static void test_refused(void **state)
{
	struct fixture f;
	struct jdoc *body = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	wish(&f, "Inqueue", NULL);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"1\"}}");
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, PATCH), 403, "{}");
	write_fixture_outcome(&f.w, SCHED_REJECTED);
	while (pool_step(f.w.pool)) {
	}
	fake_transport_expect_none(f.w.transport);
	write_fixture_later(&f.w);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"1\"}}");
	id = write_fixture_expect(&f.w, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.w.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "status.phase"), "Inqueue");
	jdoc_destroy(body);
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	end(&f);
}

/* Changes of a PodGroup with pods within a moment make one write. */
static void test_wishes_are_gathered(void **state)
{
	struct fixture f;
	struct jdoc *body = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	podgroup.tasks.n = 1;
	wish(&f, "Inqueue", "Unschedulable");
	while (pool_step(f.w.pool)) {
	}
	fake_transport_expect_none(f.w.transport);
	fake_transport_advance(f.w.transport, CLOCK_NS_PER_S - 1);
	wish(&f, "Running", "Scheduled");
	podgroup.tasks.n = 0;
	while (pool_step(f.w.pool)) {
	}
	fake_transport_expect_none(f.w.transport);
	fake_transport_advance(f.w.transport, 1);
	fake_transport_answer(f.w.transport, write_fixture_expect(&f.w, READ_CACHED), 200,
			      "{\"metadata\":{\"uid\":\"g-1\",\"resourceVersion\":\"1\"}}");
	id = write_fixture_expect(&f.w, PATCH);
	assert_int_equal(jdoc_parse(fake_transport_body(f.w.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "status.phase"), "Running");
	jdoc_destroy(body);
	fake_transport_answer(f.w.transport, id, 200, "{}");
	write_fixture_outcome(&f.w, SCHED_DONE);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_conditions_stay),
		cmocka_unit_test(test_wishes_are_coalesced),
		cmocka_unit_test(test_conflict_reads_again),
		cmocka_unit_test(test_a_recreated_podgroup_is_left_alone),
		cmocka_unit_test(test_a_stale_cache_is_not_used),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_wishes_are_gathered),
	};

	return cmocka_run_group_tests_name("pods/writes/podgroup_status", tests, NULL, NULL);
}
