#include "kube/lease.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "unit/common/kube/lease_fixture.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS

static void test_create(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	(void)state;

	lease_fixture_begin(&f);
	assert_false(lease_fixture_may_send(&f));
	assert_int_equal(lease_writes_from(f.lease), CLOCK_NEVER);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 404, "{}");
	id = lease_fixture_expect(&f, "POST " LEASE_LIST);
	assert_true(str_eq_c(
		fake_transport_body(f.transport, id),
		"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
		"\"name\":\"main\",\"namespace\":\"sys\"},\"spec\":{\"holderIdentity\":\"me\","
		"\"leaseDurationSeconds\":15,\"renewTime\":\"2026-01-02T03:04:05.000000Z\","
		"\"acquireTime\":\"2026-01-02T03:04:05.000000Z\",\"leaseTransitions\":0}}"));
	assert_false(lease_is_held(f.lease));
	lease_fixture_accept_write(&f, id, "me", 0);
	lease_fixture_expect_log(&f, "+");
	/* It had no holder before: writes may begin. */
	assert_true(lease_is_held(f.lease) && lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_create_race_is_lost(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin(&f);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 404, "{}");
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "POST " LEASE_LIST), 409, "{}");
	fake_transport_expect_none(f.transport);
	lease_fixture_advance(&f, 3 * S);
	lease_fixture_get(&f, "other", "a");
	lease_fixture_expect_log(&f, "");
	lease_fixture_end(&f);
}

static void test_renew_keeps_what_it_does_not_know(void **state)
{
	struct lease_fixture f;
	struct jdoc *doc;
	uint64_t id;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_get(&f, "", "a");
	lease_fixture_put(&f, "me", 5);
	lease_fixture_advance(&f, 2 * S);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &doc, NULL), 0);
	assert_string_equal(jdoc_path_str(doc, "spec.strategy"), "x");
	assert_string_equal(jdoc_path_str(doc, "metadata.labels.keep"), "1");
	assert_string_equal(jdoc_path_str(doc, "metadata.resourceVersion"), "2");
	assert_string_equal(jdoc_path_str(doc, "spec.renewTime"), "2026-01-02T03:04:07.000000Z");
	assert_string_equal(jdoc_path_str(doc, "spec.acquireTime"), "2026-01-02T03:04:05.000000Z");
	jdoc_destroy(doc);
	lease_fixture_accept_write(&f, id, "me", 5);
	lease_fixture_end(&f);
}

static void test_renews_for_ever(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	for (int i = 0; i < 50; i++) {
		lease_fixture_renew(&f);
		assert_true(lease_fixture_may_send(&f));
	}
	lease_fixture_expect_log(&f, "");
	lease_fixture_end(&f);
}

/* The permission counts from when the renewal was sent, not from when it was answered. */
static void test_may_send_ends_before_the_lease_does(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	lease_fixture_advance(&f, 1 * S);
	lease_fixture_accept_write(&f, id, "me", 0);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_fail(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM),
			    ERR_UNAVAILABLE, false);
	/* sent at 2 s, renew deadline 10 s: the last moment is just before 12 s */
	clock_fake_advance(&f.clock, 7 * S - 1);
	assert_true(lease_fixture_may_send(&f));
	clock_fake_advance(&f.clock, 1);
	/* Even when the thread that would notice the loss is late. */
	assert_false(lease_fixture_may_send(&f));
	assert_true(lease_is_held(f.lease));
	fake_transport_run(f.transport);
	assert_false(lease_is_held(f.lease));
	lease_fixture_expect_log(&f, "-");
	lease_fixture_end(&f);
}

static void test_lost_after_renew_deadline_and_regained(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	for (int64_t t = 2; t < 10; t += 2) {
		lease_fixture_advance(&f, 2 * S);
		fake_transport_answer(f.transport, fake_transport_expect_prefix(f.transport, ""),
				      500, "{}");
	}
	lease_fixture_expect_log(&f, "");
	lease_fixture_advance(&f, 2 * S);
	lease_fixture_expect_log(&f, "-");
	/* The record has always named us: no other leader can have written, no need to wait. */
	lease_fixture_answer_lease(&f, fake_transport_expect_prefix(f.transport, "GET "), "me",
				   "a");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "+");
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_follower_waits(void **state)
{
	struct lease_fixture f;
	char renewed[8];
	(void)state;

	lease_fixture_begin(&f);
	for (int i = 0; i < 30; i++) {
		snprintf(renewed, sizeof(renewed), "%d", i);
		lease_fixture_get(&f, "other", renewed);
		fake_transport_expect_none(f.transport);
		lease_fixture_advance(&f, 1200 * MS);
	}
	lease_fixture_expect_log(&f, "");
	lease_fixture_end(&f);
}

static void test_steal_after_expiry(void **state)
{
	struct lease_fixture f;
	int64_t gained;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_accept_write(&f, lease_fixture_wait_for_steal(&f), "me", 5);
	lease_fixture_expect_log(&f, "+");
	gained = clock_mono(&f.clock.base);
	/* Requests of the former holder have ended with its lease: renew deadline and request
	 * deadline are within its duration. It was first seen at 0, and is taken when it ends. */
	assert_int_equal(gained, 15 * S);
	assert_int_equal(lease_writes_from(f.lease), gained);
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

/* The longest way from a renewal to the next leader, when the holder dies right after it. */
static void test_candidate_sees_a_renewal_soon(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_get(&f, "other", "a");
	lease_fixture_advance(&f, 1200 * MS);
	lease_fixture_get(&f, "other", "same");
	lease_fixture_accept_write(&f, lease_fixture_wait_for_steal(&f), "me", 5);
	assert_true(clock_mono(&f.clock.base) <= 1200 * MS + 15 * S);
	lease_fixture_end(&f);
}

/* Values that a client may have written and that the server refuses do not stop the election. */
static void test_absurd_transitions(void **state)
{
	static const struct {
		const char *text;
		int next;
	} absurd[] = {
		{ "9007199254740992", 0 },
		{ "-1", 0 },
		{ "1e300", 1 },
		{ "\"x\"", 1 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(absurd); i++) {
		struct lease_fixture f;
		char body[256];

		unit_row_number(i);
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"name\":\"main\",\"resourceVersion\":\"1\"},\"spec\":{"
			 "\"holderIdentity\":\"\",\"leaseTransitions\":%s}}",
			 absurd[i].text);
		lease_fixture_begin(&f);
		fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 200,
				      body);
		lease_fixture_put(&f, "me", absurd[i].next);
		lease_fixture_expect_log(&f, "+");
		lease_fixture_end(&f);
	}
}

/* Our own duration counts in place of such a value: the holder is not robbed at once, and not
 * waited for without end. */
static void test_absurd_durations(void **state)
{
	static const char *const absurd[] = { "0", "-1", "9223372037", "1e300", "\"x\"", "null" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(absurd); i++) {
		struct lease_fixture f;
		char body[256];
		uint64_t id;

		unit_row(absurd[i]);
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"name\":\"main\",\"resourceVersion\":\"1\"},\"spec\":{"
			 "\"holderIdentity\":\"other\",\"leaseDurationSeconds\":%s}}",
			 absurd[i]);
		lease_fixture_begin(&f);
		for (;;) {
			if (fake_transport_pending(f.transport) == 0) {
				lease_fixture_advance(&f, 100 * MS);
				assert_true(clock_mono(&f.clock.base) <= 18 * S);
				continue;
			}
			id = fake_transport_expect_prefix(f.transport, "");
			if (fake_transport_request(f.transport, id)->method == HTTP_PUT) {
				break;
			}
			fake_transport_answer(f.transport, id, 200, body);
		}
		assert_true(clock_mono(&f.clock.base) >= 15 * S);
		fake_transport_answer(f.transport, id, 500, "{}");
		lease_fixture_end(&f);
	}
}

/* An own name that was found is waited for once, whatever happens to the lease meanwhile. */
static void test_wait_for_an_own_name_survives_a_loss(void **state)
{
	struct lease_fixture f;
	int64_t gained;
	uint64_t id;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_get(&f, "me", "a");
	lease_fixture_put(&f, "me", 4);
	gained = clock_mono(&f.clock.base);
	lease_fixture_advance(&f, 2 * S);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	lease_fixture_advance(&f, 8 * S);
	lease_fixture_expect_log(&f, "+-");
	fake_transport_fail(f.transport, id, ERR_TIMEOUT, true);
	lease_fixture_advance(&f, 3 * S);
	lease_fixture_get(&f, "me", "b");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "+");
	assert_int_equal(lease_writes_from(f.lease), gained + 15 * S);
	lease_fixture_end(&f);
}

/* The record's own times are of another clock and decide nothing. */
static void test_clock_skew(void **state)
{
	static const char *const renewed[] = { "1970-01-01T00:00:00.000000Z",
					       "2099-01-01T00:00:00.000000Z" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(renewed); i++) {
		struct lease_fixture f;

		unit_row_number(i);
		lease_fixture_begin(&f);
		lease_fixture_get(&f, "other", renewed[i]);
		lease_fixture_advance(&f, 14 * S);
		while (fake_transport_pending(f.transport) > 0) {
			lease_fixture_get(&f, "other", renewed[i]);
		}
		lease_fixture_advance(&f, 3 * S);
		lease_fixture_get(&f, "other", renewed[i]);
		lease_fixture_expect(&f, "PUT " LEASE_ITEM);
		lease_fixture_end(&f);
	}
}

static void test_steal_race_is_lost(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin(&f);
	fake_transport_answer(f.transport, lease_fixture_wait_for_steal(&f), 409, "{}");
	fake_transport_expect_none(f.transport);
	lease_fixture_advance(&f, 3 * S);
	lease_fixture_get(&f, "third", "z");
	fake_transport_expect_none(f.transport);
	lease_fixture_expect_log(&f, "");
	lease_fixture_end(&f);
}

/* We took an expired lease and the answer was lost: the next GET shows that it is ours. */
static void test_steal_with_unknown_outcome(void **state)
{
	struct lease_fixture f;
	int64_t now;
	(void)state;

	lease_fixture_begin(&f);
	fake_transport_fail(f.transport, lease_fixture_wait_for_steal(&f), ERR_TIMEOUT, true);
	lease_fixture_expect_log(&f, "");
	lease_fixture_advance(&f, 3 * S);
	lease_fixture_get(&f, "me", "mine");
	lease_fixture_put(&f, "me", 4);
	now = clock_mono(&f.clock.base);
	lease_fixture_expect_log(&f, "+");
	assert_int_equal(lease_writes_from(f.lease), now);
	lease_fixture_end(&f);
}

/* The same when it had been ours before. */
static void test_steal_back_with_unknown_outcome(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_get(&f, "other", "same");
	fake_transport_fail(f.transport, lease_fixture_wait_for_steal(&f), ERR_TIMEOUT, true);
	lease_fixture_advance(&f, 3 * S);
	lease_fixture_get(&f, "me", "mine");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "-+");
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_released_lease_is_taken_at_once(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_get(&f, "", "a");
	lease_fixture_put(&f, "me", 5);
	lease_fixture_expect_log(&f, "+");
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

/* An earlier process of the same name may have writes under way. */
static void test_own_name_after_restart(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin(&f);
	lease_fixture_get(&f, "me", "a");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "+");
	assert_false(lease_fixture_may_send(&f));
	assert_int_equal(lease_writes_from(f.lease), 15 * S);
	lease_fixture_end(&f);
}

static void test_renew_conflict_by_an_edit(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	/* A conflict because of an edited label: read and write again at once. */
	lease_fixture_get(&f, "me", "a");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "");
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_renew_conflict_by_a_thief(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_get(&f, "thief", "a");
	lease_fixture_expect_log(&f, "-");
	assert_false(lease_fixture_may_send(&f) || lease_is_held(f.lease));
	/* The thief's lease has to expire, and its writes end with it. */
	lease_fixture_accept_write(&f, lease_fixture_wait_for_steal(&f), "me", 5);
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_conflicts_do_not_spin(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	lease_fixture_get(&f, "me", "a");
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 409, "{}");
	fake_transport_expect_none(f.transport);
	lease_fixture_advance(&f, 2 * S);
	lease_fixture_expect(&f, "GET " LEASE_ITEM);
	lease_fixture_end(&f);
}

static void test_deleted_lease_is_made_again(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), 404, "{}");
	fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 404, "{}");
	lease_fixture_accept_write(&f, lease_fixture_expect(&f, "POST " LEASE_LIST), "me", 0);
	lease_fixture_expect_log(&f, "");
	assert_true(lease_fixture_may_send(&f));
	lease_fixture_end(&f);
}

static void test_renewal_of_unknown_outcome(void **state)
{
	struct lease_fixture f;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	fake_transport_fail(f.transport, lease_fixture_expect(&f, "PUT " LEASE_ITEM), ERR_TIMEOUT,
			    true);
	lease_fixture_advance(&f, 2 * S);
	/* The version may have moved: look first. */
	lease_fixture_get(&f, "me", "b");
	lease_fixture_put(&f, "me", 4);
	lease_fixture_expect_log(&f, "");
	lease_fixture_end(&f);
}

/* An answer that is read long after (the process was stopped) does not allow to write. */
static void test_late_answer_is_worth_nothing(void **state)
{
	struct lease_fixture f;
	uint64_t id;
	(void)state;

	lease_fixture_begin_held(&f);
	lease_fixture_advance(&f, 2 * S);
	id = lease_fixture_expect(&f, "PUT " LEASE_ITEM);
	clock_fake_advance(&f.clock, 60 * S);
	lease_fixture_accept_write(&f, id, "me", 0);
	assert_false(lease_fixture_may_send(&f));
	fake_transport_run(f.transport);
	lease_fixture_expect_log(&f, "-");
	lease_fixture_end(&f);
}

static void test_unusable_answers(void **state)
{
	static const char *const bodies[] = {
		"garbage", "{\"metadata\":{},\"spec\":{}}",
		"{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":3}"
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct lease_fixture f;

		unit_row_number(i);
		lease_fixture_begin(&f);
		fake_transport_answer(f.transport, lease_fixture_expect(&f, "GET " LEASE_ITEM), 200,
				      bodies[i]);
		fake_transport_expect_none(f.transport);
		lease_fixture_advance(&f, 3 * S);
		lease_fixture_expect(&f, "GET " LEASE_ITEM);
		lease_fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_create_race_is_lost),
		cmocka_unit_test(test_renew_keeps_what_it_does_not_know),
		cmocka_unit_test(test_renews_for_ever),
		cmocka_unit_test(test_may_send_ends_before_the_lease_does),
		cmocka_unit_test(test_lost_after_renew_deadline_and_regained),
		cmocka_unit_test(test_follower_waits),
		cmocka_unit_test(test_steal_after_expiry),
		cmocka_unit_test(test_candidate_sees_a_renewal_soon),
		cmocka_unit_test(test_absurd_transitions),
		cmocka_unit_test(test_absurd_durations),
		cmocka_unit_test(test_wait_for_an_own_name_survives_a_loss),
		cmocka_unit_test(test_clock_skew),
		cmocka_unit_test(test_steal_race_is_lost),
		cmocka_unit_test(test_steal_with_unknown_outcome),
		cmocka_unit_test(test_steal_back_with_unknown_outcome),
		cmocka_unit_test(test_released_lease_is_taken_at_once),
		cmocka_unit_test(test_own_name_after_restart),
		cmocka_unit_test(test_renew_conflict_by_an_edit),
		cmocka_unit_test(test_renew_conflict_by_a_thief),
		cmocka_unit_test(test_conflicts_do_not_spin),
		cmocka_unit_test(test_deleted_lease_is_made_again),
		cmocka_unit_test(test_renewal_of_unknown_outcome),
		cmocka_unit_test(test_late_answer_is_worth_nothing),
		cmocka_unit_test(test_unusable_answers),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
