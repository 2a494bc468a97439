#include "scheduler/pods/writes/volume_reservation.h"

#include "base/attrs.h"
#include "lib/net/write_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/model/model.h"

#define PATCH "PATCH /api/v1/persistentvolumes/disk-1"
#define READ "GET /api/v1/persistentvolumes/disk-1"

static void begin(struct write_fixture *f)
{
	static char key[] = "ns/data", uid[] = "u-1", name[] = "disk-1", volume_uid[] = "v-1";
	const struct claim cl = { .key = key, .uid = uid, .exists = true, .resource_version = 7 };
	const struct volume v = { .name = name, .uid = volume_uid, .resource_version = 5 };

	write_fixture_init(f);
	write_fixture_pool(f, &pod_write_pool_ops, &f->target);
	pool_add(f->pool, STR_LIT("disk-1"), volume_reservation_new(&v, &cl));
}

static void test_the_patch_is_for_one_version(void **state)
{
	struct write_fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	id = write_fixture_expect(&f, PATCH);
	assert_true(str_eq_c(fake_transport_body(f.transport, id),
			     "{\"metadata\":{\"uid\":\"v-1\",\"resourceVersion\":\"5\","
			     "\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":\"yes\"}},"
			     "\"spec\":{\"claimRef\":{\"apiVersion\":\"v1\",\"kind\":"
			     "\"PersistentVolumeClaim\",\"namespace\":\"ns\",\"name\":\"data\","
			     "\"uid\":\"u-1\"}}}"));
	fake_transport_answer(f.transport, id, 200,
			      "{\"metadata\":{\"uid\":\"v-1\",\"resourceVersion\":\"8\"}}");
	write_fixture_outcome(&f, SCHED_DONE);
	assert_int_equal(f.last->request, SCHED_REQ_VOLUME);
	assert_int_equal(f.last->resource, SCHED_VOLUMES);
	assert_true(str_eq_c(f.last->key, "disk-1"));
	assert_int_equal(f.last->resource_version, 8);
	write_fixture_finish(&f);
}

/* A lost answer and a volume that changed look alike until it is read. */
static void test_conflicts_are_read_back(void **state)
{
	static const struct {
		const char *volume;
		enum sched_outcome outcome;
		int version;
	} rows[] = {
		{ "{\"metadata\":{\"uid\":\"v-1\",\"resourceVersion\":\"9\"},\"spec\":{"
		  "\"claimRef\":{\"uid\":\"u-1\"}}}",
		  SCHED_DONE, 9 },
		{ "{\"metadata\":{\"uid\":\"v-1\",\"resourceVersion\":\"9\"},\"spec\":{"
		  "\"claimRef\":{\"uid\":\"u-2\"}}}",
		  SCHED_STALE, 0 },
		{ "{\"metadata\":{\"uid\":\"v-1\",\"resourceVersion\":\"9\"}}", SCHED_STALE, 0 },
		{ "{\"metadata\":{\"uid\":\"v-2\",\"resourceVersion\":\"9\"}}", SCHED_GONE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct write_fixture f;

		unit_row_number(i);
		begin(&f);
		fake_transport_answer(f.transport, write_fixture_expect(&f, PATCH), 409, "{}");
		fake_transport_answer(f.transport, write_fixture_expect(&f, READ), 200,
				      rows[i].volume);
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

	return cmocka_run_group_tests_name("writes/volume_reservation", tests, NULL, NULL);
}
