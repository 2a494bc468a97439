#include "kube/lease.h"

#include "lib/unit.h"

#include "base/err.h"
#include "enc/json/jdoc.h"
#include "unit/common/kube/lease_fixture.h"

#define S CLOCK_NS_PER_S

static void test_release(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	struct jdoc *doc;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_release(f.lease, lease_fixture_on_released, &f);
	assert_false(lease_fixture_may_send(&f));
	fake_transport_run(f.transport);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &doc, NULL), 0);
	assert_int_equal(jdoc_int(jdoc_path(doc, "spec.leaseDurationSeconds"), 0), 1);
	jdoc_destroy(doc);
	lease_fixture_expect_log(&f, "");
	lease_fixture_accept_write(&f, id, "", 0);
	lease_fixture_expect_log(&f, "r");
	assert_false(lease_is_held(f.lease));
	/* It is not sought again; a second release has nothing to do. */
	lease_fixture_advance(&f, 100 * S);
	fake_transport_expect_none(f.transport);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
}

static void test_release_during_a_renewal(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	fake_transport_expect_none(f.transport);
	lease_fixture_accept_write(&f, id, "me", 0);
	lease_fixture_put(&f, "", 0);
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
}

static void test_release_during_an_acquisition(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	(void)state;

	lease_fixture_begin(&f);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 404, "{}");
	id = lease_fixture_expect(&f, "POST " LEASE_LIST);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	lease_fixture_accept_write(&f, id, "me", 0);
	lease_fixture_put(&f, "", 0);
	/* A lease that was released meanwhile is not reported as held. */
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
}

static void test_release_that_is_impossible(void **state)
{
	struct lease_fixture f;
	(void)state;

	/* not held */
	lease_fixture_begin(&f);
	lease_fixture_get(&f, "other", "a");
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
	/* no answer */
	lease_fixture_begin_held(&f);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	fake_transport_fail(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), ERR_TIMEOUT,
			    true);
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
	/* conflicts: one more look, then no more */
	lease_fixture_begin_held(&f);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_get(&f, "me", "b");
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
	/* stolen meanwhile */
	lease_fixture_begin_held(&f);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_run(f.transport);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_get(&f, "thief", "b");
	lease_fixture_expect_log(&f, "r");
	lease_fixture_end(&f);
}

static void test_transport_goes_away(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	lease_release(f.lease, lease_fixture_on_released, &f);
	fake_transport_destroy(f.transport);
	lease_fixture_expect_log(&f, "r");
	assert_false(lease_fixture_may_send(&f) || lease_is_held(f.lease));
	lease_destroy(f.lease);
	lease_destroy(NULL);
	strbuf_finish(&f.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_release_during_a_renewal),
		cmocka_unit_test(test_release_during_an_acquisition),
		cmocka_unit_test(test_release_that_is_impossible),
		cmocka_unit_test(test_transport_goes_away),
	};

	return cmocka_run_group_tests_name("lease release", tests, NULL, NULL);
}
