#include "scheduler/pods/writes/claim_selection.h"

#include "base/attrs.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

#define PATCH "PATCH /api/v1/namespaces/ns/persistentvolumeclaims/data"
#define READ "GET /api/v1/namespaces/ns/persistentvolumeclaims/data"

static void begin(struct write_fixture *f)
{
	static char key[] = "ns/data", uid[] = "u-1";
	const struct claim cl = { .key = key, .uid = uid, .exists = true, .resource_version = 7 };

	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("ns/data"), claim_selection_new(&cl, "n1"));
}

static void test_the_patch_is_for_one_version(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	id = write_fixture_expect(&f, PATCH);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\","
			     "\"annotations\":{\"volume.kubernetes.io/selected-node\":\"n1\"}}}"));
	fake_transport_answer(f.transport, id, 200,
			      "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"8\"}}");
	write_fixture_outcome(&f, SCHED_DONE);
	assert_int_equal(f.last->request, SCHED_REQ_CLAIM);
	assert_int_equal(f.last->resource, SCHED_CLAIMS);
	assert_true(str_eq_c(f.last->key, "ns/data"));
	assert_int_equal(f.last->resource_version, 8);
	write_fixture_finish(&f);
}

/* A lost answer and a claim that changed look alike until it is read. */
static void test_conflicts_are_read_back(void **state)
{
	static const struct {
		const char *claim;
		enum sched_outcome outcome;
		int version;
	} rows[] = {
		{ "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"9\",\"annotations\":{"
		  "\"volume.kubernetes.io/selected-node\":\"n1\"}}}",
		  SCHED_DONE, 9 },
		{ "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"9\",\"annotations\":{"
		  "\"volume.kubernetes.io/selected-node\":\"n2\"}}}",
		  SCHED_STALE, 0 },
		{ "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"9\"}}", SCHED_STALE, 0 },
		{ "{\"metadata\":{\"uid\":\"u-2\",\"resourceVersion\":\"9\"}}", SCHED_GONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 409, "{}");
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
				      rows[i].claim);
		write_fixture_outcome(&f, rows[i].outcome);
		assert_int_equal(f.last->resource_version, rows[i].version);
		write_fixture_finish(&f);
	}
}

static void test_refusals_are_final(void **state)
{
	struct write_fixture f;

	(void)state;
	begin(&f);
	fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 403, "{}");
	write_fixture_outcome(&f, SCHED_REJECTED);
	write_fixture_finish(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_patch_is_for_one_version),
		cmocka_unit_test(test_conflicts_are_read_back),
		cmocka_unit_test(test_refusals_are_final),
	};

	return cmocka_run_group_tests_name("writes/claim_selection", tests, NULL, NULL);
}
