#include "kube/reflector/reflector.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "unit/common/kube/reflector_fixture.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS

static void test_watching_silence_is_cut_and_resumed(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	/* The transport is asked to cut, whatever the timeout of the watch... */
	assert_int_equal(fake_transport_request(f.transport, w)->silence_ns, 90 * S);
	/* ... and where it does not, the reflector does a margin later. */
	fake_transport_advance(f.transport, 60 * S);
	fake_transport_chunk(f.transport, w, BOOKMARK("11"));
	fake_transport_advance(f.transport, 99 * S);
	assert_true(fake_transport_is_open(f.transport, w));
	fake_transport_advance(f.transport, 1 * S);
	assert_false(fake_transport_is_open(f.transport, w));
	w = reflector_fixture_expect(&f, WATCH("11"));
	assert_int_equal(reflector_fixture_stats(&f).cuts, 1);
	/* A frame ends the row: the next silence is the first again. */
	fake_transport_chunk(f.transport, w, BOOKMARK("12"));
	fake_transport_fail(f.transport, w, ERR_TIMEOUT, true);
	reflector_fixture_expect(&f, WATCH("12"));
	assert_int_equal(reflector_fixture_stats(&f).cuts, 2);
	assert_int_equal(reflector_fixture_stats(&f).errors, 0);
	reflector_fixture_end(&f);
}

/* A server that sends no bookmarks, or a path on which watches are lost. */
static void test_watching_mute_lists_at_a_bounded_rate(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	for (int i = 0; i < 10; i++) {
		fake_transport_advance(f.transport, 100 * S);
		assert_false(fake_transport_is_open(f.transport, w));
		w = reflector_fixture_expect(&f, WATCH("10"));
		fake_transport_advance(f.transport, 99 * S);
		fake_transport_expect_none(f.transport);
		fake_transport_advance(f.transport, 1 * S);
		reflector_fixture_answer(&f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
		w = reflector_fixture_expect(&f, WATCH("10"));
		reflector_fixture_expect_log(&f, "R;");
	}
	/* Nothing shows that anything is wrong. */
	assert_int_equal(reflector_stale_since(f.reflector, clock_mono(&f.clock.base)),
			 CLOCK_NEVER);
	reflector_fixture_end(&f);
}

static void test_listing_bulky_asks_for_less(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1")));
	/* At once, at the same token. */
	fake_transport_too_large(f.transport, reflector_fixture_expect(&f, LIST "&continue=t"));
	fake_transport_too_large(
		f.transport, reflector_fixture_expect(&f, "GET /api/v1/pods?limit=250&continue=t"));
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=125&continue=t", 200,
				 PAGE("10", "u", OBJ("b", "2")));
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=250&continue=u", 200,
				 PAGE("10", "v", OBJ("c", "3")));
	reflector_fixture_answer(&f, LIST "&continue=v", 200, PAGE("10", "", OBJ("d", "4")));
	reflector_fixture_expect_log(&f, "U n/a 1;U n/b 2;U n/c 3;U n/d 4;S;");
	assert_int_equal(clock_mono(&f.clock.base), 0);
	assert_int_equal(reflector_fixture_stats(&f).pages, 6);
	reflector_fixture_end(&f);
}

static void test_listing_bulky_down_to_one_object(void **state)
{
	struct reflector_fixture f;
	uint64_t id;
	(void)state;

	reflector_fixture_begin(&f);
	for (unsigned limit = 500; limit > 1; limit /= 2) {
		char line[64];

		snprintf(line, sizeof(line), "GET /api/v1/pods?limit=%u", limit);
		fake_transport_too_large(f.transport, reflector_fixture_expect(&f, line));
	}
	id = reflector_fixture_expect(&f, "GET /api/v1/pods?limit=1");
	assert_int_equal(fake_transport_request(f.transport, id)->max_body, (size_t)64 << 20);
	/* Larger than any object can be: no tight loop. */
	fake_transport_too_large(f.transport, id);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_expect(&f, "GET /api/v1/pods?limit=1");
	reflector_fixture_end(&f);
}

/* A token that cannot be read does not make the page the last one: keys on later pages would be
 * reported as deleted. */
static void test_listing_broken_token_starts_over(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_answer(f.transport, w, 410, "{}");
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "\\q", OBJ("b", "18")));
	reflector_fixture_expect_log(&f, "U n/b 18;");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "", OBJ("a", "1") "," OBJ("b", "18")));
	reflector_fixture_expect_log(&f, "R;");
	reflector_fixture_end(&f);
}

static void test_listing_slow_asks_for_less(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	fake_transport_fail(f.transport, reflector_fixture_expect(&f, LIST), ERR_TIMEOUT, true);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=250", 504, "{}");
	reflector_fixture_expect_wait(&f, 1200 * MS, 2000 * MS);
	reflector_fixture_expect(&f, "GET /api/v1/pods?limit=125");
	reflector_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watching_silence_is_cut_and_resumed),
		cmocka_unit_test(test_watching_mute_lists_at_a_bounded_rate),
		cmocka_unit_test(test_listing_bulky_asks_for_less),
		cmocka_unit_test(test_listing_bulky_down_to_one_object),
		cmocka_unit_test(test_listing_broken_token_starts_over),
		cmocka_unit_test(test_listing_slow_asks_for_less),
	};

	return cmocka_run_group_tests_name("reflector answers", tests, NULL, NULL);
}
