#include "kube/reflector/reflector.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "unit/common/kube/reflector_fixture.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS

/* ---- one test per row of the table ---- */

static void test_idle_start(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_expect(&f, LIST);
	assert_int_equal(reflector_fixture_stats(&f).lists, 1);
	assert_false(reflector_fixture_stats(&f).synced);
	reflector_fixture_end(&f);
}

static void test_listing_page(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200,
				 PAGE("10", "t/1=", OBJ("a", "1") "," OBJ("b", "2")));
	reflector_fixture_expect_log(&f, "U n/a 1;U n/b 2;");
	reflector_fixture_answer(&f, LIST "&continue=t%2F1%3D", 200, PAGE("10", "", OBJ("c", "3")));
	reflector_fixture_expect_log(&f, "U n/c 3;S;");
	reflector_fixture_expect(&f, WATCH("10"));
	assert_int_equal(reflector_fixture_stats(&f).lists, 1);
	reflector_fixture_end(&f);
}

static void test_listing_listed(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin_watch(&f);
	assert_true(reflector_fixture_stats(&f).synced);
	assert_int_equal(reflector_fixture_stats(&f).watches, 1);
	assert_int_equal(reflector_fixture_stats(&f).events, 2);
	assert_int_equal(reflector_fixture_stats(&f).objects, 1);
	reflector_fixture_end(&f);
}

static void test_listing_gone_restarts(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1") "," OBJ("b", "2")));
	reflector_fixture_answer(&f, LIST "&continue=t", 410, "{}");
	fake_transport_expect_none(f.transport);
	fake_transport_run(f.transport); /* at once, from the first page */
	reflector_fixture_expect_log(&f, "U n/a 1;U n/b 2;");
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "", OBJ("b", "2")));
	/* The object was in the first page of the list that failed, so its deletion is reported. */
	reflector_fixture_expect_log(&f, "D n/a;S;");
	reflector_fixture_expect(&f, WATCH("20"));
	assert_int_equal(reflector_fixture_stats(&f).relists_gone, 1);
	reflector_fixture_end(&f);
}

static void test_listing_gone_repeatedly_backs_off(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 410, "{}");
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 410, "{}");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_expect(&f, LIST);
	reflector_fixture_end(&f);
}

static void test_listing_absent(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin_with(&f, (struct reflector_options){ .missing_ok = true });
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_fixture_expect_log(&f, "S;");
	assert_true(reflector_fixture_stats(&f).synced);
	reflector_fixture_expect_wait(&f, 29 * S, 40 * S);
	/* Still absent: no callback. */
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_expect_wait(&f, 29 * S, 40 * S);
	reflector_fixture_answer(&f, LIST, 200, PAGE("5", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "U n/a 1;R;");
	reflector_fixture_end(&f);
}

static unsigned missing;

static void count_missing(void *ctx UNUSED)
{
	missing++;
}

/* Each time, for a consumer that knows where else to look. */
static void test_listing_absent_is_reported(void **state)
{
	struct reflector_fixture f;
	(void)state;

	missing = 0;
	reflector_fixture_begin_with(
		&f, (struct reflector_options){ .missing_ok = true, .on_missing = count_missing });
	reflector_fixture_answer(&f, LIST, 404, "{}");
	assert_int_equal(missing, 1);
	reflector_fixture_expect_wait(&f, 29 * S, 40 * S);
	reflector_fixture_answer(&f, LIST, 404, "{}");
	assert_int_equal(missing, 2);
	reflector_fixture_expect_wait(&f, 29 * S, 40 * S);
	reflector_fixture_answer(&f, LIST, 200, PAGE("5", "", OBJ("a", "1")));
	assert_int_equal(missing, 2);
	reflector_fixture_end(&f);
}

static void test_listing_absent_where_not_allowed(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_expect(&f, LIST);
	reflector_fixture_end(&f);
}

static void test_listing_failed_asks_the_same_page(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1")));
	reflector_fixture_answer(&f, LIST "&continue=t", 500, "{}");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	fake_transport_fail(f.transport, reflector_fixture_expect(&f, LIST "&continue=t"), ERR_IO,
			    true);
	reflector_fixture_expect_wait(&f, 1200 * MS, 2000 * MS);
	/* A body that is no list is a failure, too. */
	reflector_fixture_answer(&f, LIST "&continue=t", 200, "{\"items\":[");
	reflector_fixture_expect_wait(&f, 2500 * MS, 4000 * MS);
	reflector_fixture_answer(&f, LIST "&continue=t", 200, PAGE("10", "", ""));
	reflector_fixture_expect_log(&f, "U n/a 1;S;");
	assert_int_equal(reflector_fixture_stats(&f).errors, 3);
	reflector_fixture_end(&f);
}

static void test_listing_refused_starts_over(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1")));
	reflector_fixture_answer(&f, LIST "&continue=t", 400, "{}");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_expect(&f, LIST);
	reflector_fixture_end(&f);
}

static void test_listing_closed(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_expect(&f, LIST);
	fake_transport_destroy(f.transport);
	reflector_fixture_expect_log(&f, "");
	reflector_destroy(f.reflector);
	strbuf_finish(&f.log);
}

static void test_watching_events(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w,
			     FRAME("ADDED", OBJ("b", "11")) FRAME("MODIFIED", OBJ("a", "12")));
	reflector_fixture_expect_log(&f, "U n/b 11;U n/a 12;");
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("a", "13")));
	assert_int_equal(reflector_fixture_stats(&f).objects, 1);
	reflector_fixture_expect_log(&f, "Do n/a;");
	reflector_fixture_end(&f);
}

static void test_watching_ended_resumes_at_once(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "12")));
	fake_transport_end(f.transport, w);
	w = reflector_fixture_expect(&f, WATCH("12"));
	/* A bookmark moves the position without an event. */
	fake_transport_chunk(f.transport, w, BOOKMARK("30"));
	reflector_fixture_expect_log(&f, "U n/a 12;");
	fake_transport_end(f.transport, w);
	reflector_fixture_expect(&f, WATCH("30"));
	assert_int_equal(reflector_fixture_stats(&f).watches, 3);
	assert_int_equal(reflector_fixture_stats(&f).errors, 0);
	reflector_fixture_end(&f);
}

/* The real server ends streams cleanly in the middle of bursts. */
static void test_watching_ended_in_bursts(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	for (int rv = 11; rv < 60; rv++) {
		char frame[200], line[200];

		snprintf(frame, sizeof(frame), FRAME("MODIFIED", OBJ("a", "%d")), rv);
		snprintf(line, sizeof(line), WATCH("%d"), rv);
		fake_transport_chunk(f.transport, w, frame);
		fake_transport_end(f.transport, w);
		w = reflector_fixture_expect(&f, line);
	}
	assert_int_equal(clock_mono(&f.clock.base), 0);
	reflector_fixture_end(&f);
}

static void test_watching_ended_without_anything(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	for (int i = 0; i < 3; i++) {
		fake_transport_end(f.transport, w);
		w = reflector_fixture_expect(&f, WATCH("10"));
	}
	/* A stream that ends without any event counts as a failure. */
	fake_transport_end(f.transport, w);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	w = reflector_fixture_expect(&f, WATCH("10"));
	/* A stream that was merely idle is fine. */
	fake_transport_advance(f.transport, 2 * S);
	fake_transport_end(f.transport, w);
	reflector_fixture_expect(&f, WATCH("10"));
	reflector_fixture_end(&f);
}

static void test_watching_gone_as_event(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w,
			     FRAME("ADDED", OBJ("b", "11")) ERROR("410")
				     FRAME("ADDED", OBJ("ignored", "12")));
	assert_false(fake_transport_is_open(f.transport, w));
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "", OBJ("b", "11") "," OBJ("c", "15")));
	/* b has not changed, a is gone */
	reflector_fixture_expect_log(&f, "U n/b 11;U n/c 15;D n/a;R;");
	reflector_fixture_expect(&f, WATCH("20"));
	assert_int_equal(reflector_fixture_stats(&f).relists_gone, 1);
	reflector_fixture_end(&f);
}

static void test_watching_gone_as_status(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_answer(f.transport, w, 410, "{}");
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "", OBJ("a", "18")));
	reflector_fixture_expect_log(&f, "U n/a 18;R;");
	reflector_fixture_end(&f);
}

static void test_watching_version_ahead_of_server(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_answer(f.transport, w, 504,
			      "{\"message\":\"Timeout: Too large resource version: 10\"}");
	fake_transport_run(f.transport);
	/* Restored from a backup: versions go back, and are accepted. */
	reflector_fixture_answer(&f, LIST, 200, PAGE("5", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "R;");
	w = reflector_fixture_expect(&f, WATCH("5"));
	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "6")));
	reflector_fixture_expect_log(&f, "U n/a 6;");
	reflector_fixture_end(&f);
}

static void test_watching_absent(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin_with(&f, (struct reflector_options){ .missing_ok = true });
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
	reflector_fixture_answer(&f, WATCH("10"), 404, "{}");
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_fixture_expect_log(&f, "U n/a 1;S;D n/a;R;");
	reflector_fixture_end(&f);
}

static void test_watching_failed_resumes_after_backoff(void **state)
{
	static const int statuses[] = { 500, 503, 429 };
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "12")));
	fake_transport_fail(f.transport, w, ERR_IO, true);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		reflector_fixture_answer(&f, WATCH("12"), statuses[i], "{}");
		fake_transport_advance(f.transport, 10 * S);
	}
	w = reflector_fixture_expect(&f, WATCH("12"));
	fake_transport_chunk(f.transport, w, ERROR("500"));
	fake_transport_advance(f.transport, 20 * S);
	reflector_fixture_expect(&f, WATCH("12"));
	assert_int_equal(reflector_fixture_stats(&f).lists, 1);
	reflector_fixture_end(&f);
}

static void test_watching_cut_within_a_frame(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "12")) "{\"type\":\"ADD");
	fake_transport_end(f.transport, w);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_expect(&f, WATCH("12"));
	reflector_fixture_expect_log(&f, "U n/a 12;");
	reflector_fixture_end(&f);
}

static void test_watching_refused_relists(void **state)
{
	static const char *const frames[] = { "garbage\n", ERROR("403"), ERROR("0"),
					      "{\"type\":\"NEW\",\"object\":{}}\n" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
		struct reflector_fixture f;
		uint64_t w = reflector_fixture_begin_watch(&f);

		unit_row(frames[i]);
		fake_transport_chunk(f.transport, w, frames[i]);
		assert_false(fake_transport_is_open(f.transport, w));
		reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
		reflector_fixture_expect(&f, LIST);
		reflector_fixture_end(&f);
	}
}

static void test_watching_closed(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin_watch(&f);
	fake_transport_destroy(f.transport);
	reflector_destroy(f.reflector);
	strbuf_finish(&f.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_start),
		cmocka_unit_test(test_listing_page),
		cmocka_unit_test(test_listing_listed),
		cmocka_unit_test(test_listing_gone_restarts),
		cmocka_unit_test(test_listing_gone_repeatedly_backs_off),
		cmocka_unit_test(test_listing_absent),
		cmocka_unit_test(test_listing_absent_is_reported),
		cmocka_unit_test(test_listing_absent_where_not_allowed),
		cmocka_unit_test(test_listing_failed_asks_the_same_page),
		cmocka_unit_test(test_listing_refused_starts_over),
		cmocka_unit_test(test_listing_closed),
		cmocka_unit_test(test_watching_events),
		cmocka_unit_test(test_watching_ended_resumes_at_once),
		cmocka_unit_test(test_watching_ended_in_bursts),
		cmocka_unit_test(test_watching_ended_without_anything),
		cmocka_unit_test(test_watching_gone_as_event),
		cmocka_unit_test(test_watching_gone_as_status),
		cmocka_unit_test(test_watching_version_ahead_of_server),
		cmocka_unit_test(test_watching_absent),
		cmocka_unit_test(test_watching_failed_resumes_after_backoff),
		cmocka_unit_test(test_watching_cut_within_a_frame),
		cmocka_unit_test(test_watching_refused_relists),
		cmocka_unit_test(test_watching_closed),
	};

	return cmocka_run_group_tests_name("reflector", tests, NULL, NULL);
}
