#include "scheduler/pods/writes/binding.h"

#include "base/err.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"

#define BIND "POST /api/v1/namespaces/ns/pods/p/binding"
#define READ "GET /api/v1/namespaces/ns/pods/p"

static void begin(struct write_fixture *f)
{
	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/p"), binding_new(write_fixture_task(), "node-1", NULL));
}

static void test_binding_object(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	id = write_fixture_expect(&f, BIND);
	assert_true(str_eq_c(
		fake_transport_body(f.transport, id),
		"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
		"\"namespace\":\"ns\",\"name\":\"p\","
		"\"uid\":\"u-1\",\"annotations\":{\"headgate.io/bound-by\":"
		"\"headgate-scheduler\"}},\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\","
		"\"name\":\"node-1\"}}"));
	fake_transport_answer(f.transport, id, 201, "{}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

static void test_binding_brings_the_group(void **state)
{
	struct write_fixture f;
	struct jdoc *d = NULL;

	(void)state;
	write_fixture_init(&f);
	write_fixture_pool(&f, &pod_write_pool_ops, &f.target);
	pool_add(f.pool, STR_LIT("ns/p"), binding_new(write_fixture_task(), "node-1", "group-1"));
	assert_int_equal(
		jdoc_parse(fake_transport_body(f.transport, write_fixture_expect(&f, BIND)), &d,
			   NULL),
		0);
	assert_string_equal(jdoc_str(jdoc_get(jdoc_path(d, "metadata.annotations"),
					      "scheduling.k8s.io/group-name")),
			    "group-1");
	assert_string_equal(jdoc_path_str(d, "target.name"), "node-1");
	jdoc_destroy(d);
	write_fixture_finish(&f);
}

/* The four causes of a 409: gated, bound, being deleted, another UID. */
static void test_conflicts_are_distinguished(void **state)
{
	static const struct {
		const char *pod;
		enum sched_outcome outcome;
	} rows[] = {
		{ "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"schedulingGates\":[{\"name\":\"x\"}]"
		  "}}",
		  SCHED_STALE },
		{ "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"node-1\"}}",
		  SCHED_DONE },
		{ "{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"node-2\"}}",
		  SCHED_STALE },
		{ "{\"metadata\":{\"uid\":\"u-1\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
		  "\"spec\":{}}",
		  SCHED_STALE },
		{ "{\"metadata\":{\"uid\":\"u-2\"},\"spec\":{}}", SCHED_GONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, BIND), 409, "{}");
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
				      rows[i].pod);
		write_fixture_outcome(&f, rows[i].outcome);
		write_fixture_finish(&f);
	}
}

static void test_lost_answer_is_not_bound_twice(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f);
	fake_transport_fail(f.transport, write_fixture_expect(&f, BIND), ERR_IO, true);
	fake_transport_answer(
		f.transport, write_fixture_expect(&f, READ), 200,
		"{\"metadata\":{\"uid\":\"u-1\"},\"spec\":{\"nodeName\":\"node-1\"}}");
	write_fixture_outcome(&f, SCHED_DONE);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_binding_object),
		cmocka_unit_test(test_binding_brings_the_group),
		cmocka_unit_test(test_conflicts_are_distinguished),
		cmocka_unit_test(test_lost_answer_is_not_bound_twice),
	};

	return cmocka_run_group_tests_name("pods/writes/binding", tests, NULL, NULL);
}
