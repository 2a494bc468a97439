#include "kube/reflector/reflector.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "unit/common/kube/reflector_fixture.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS

/* Two objects where pages have one: larger than a page. */
static uint64_t begin_large(struct reflector_fixture *f)
{
	reflector_fixture_begin_with(f, (struct reflector_options){ .page_size = 1 });
	reflector_fixture_answer(f, "GET /api/v1/pods?limit=1", 200,
				 PAGE("10", "t", OBJ("a", "1")));
	reflector_fixture_answer(f, "GET /api/v1/pods?limit=1&continue=t", 200,
				 PAGE("10", "", OBJ("b", "2")));
	reflector_fixture_expect_log(f, "U n/a 1;U n/b 2;S;");
	return reflector_fixture_expect(f, WATCH("10"));
}

static void test_refresh_before_the_start(void **state)
{
	struct reflector_fixture f = { .log = STRBUF_INIT };
	struct reflector_options opt = { .path = "/api/v1/pods", .watch_timeout_s = 100 };
	(void)state;

	clock_fake_init(&f.clock, 0);
	f.transport = fake_transport_create(&f.clock);
	opt.transport = fake_transport_base(f.transport);
	opt.clock = &f.clock.base;
	opt.on_event = reflector_fixture_on_event;
	opt.ctx = &f;
	f.reflector = reflector_create(&opt);
	reflector_refresh(f.reflector);
	fake_transport_expect_none(f.transport);
	reflector_start(f.reflector);
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "U n/a 1;S;F;");
	reflector_fixture_end(&f);
}

/* The list under way may have been read before. */
static void test_listing_refresh_starts_over(void **state)
{
	struct reflector_fixture f;
	uint64_t old;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1")));
	old = reflector_fixture_expect(&f, LIST "&continue=t");
	reflector_refresh(f.reflector);
	assert_false(fake_transport_is_open(f.transport, old));
	reflector_fixture_answer(&f, LIST, 200, PAGE("11", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "U n/a 1;S;F;");
	reflector_fixture_end(&f);
}

static void test_waiting_refresh_lists(void **state)
{
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	/* for the next page */
	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "t", OBJ("a", "1")));
	reflector_fixture_answer(&f, LIST "&continue=t", 500, "{}");
	reflector_refresh(f.reflector);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_answer(&f, LIST, 200, PAGE("11", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "U n/a 1;S;F;");
	reflector_fixture_end(&f);
	/* for the next watch */
	w = reflector_fixture_begin_watch(&f);
	fake_transport_fail(f.transport, w, ERR_IO, true);
	reflector_refresh(f.reflector);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_answer(&f, LIST, 200, PAGE("11", "", OBJ("b", "11")));
	reflector_fixture_expect_log(&f, "U n/b 11;D n/a;R;F;");
	reflector_fixture_end(&f);
}

static void test_watching_refresh_lists(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	reflector_refresh(f.reflector);
	assert_false(fake_transport_is_open(f.transport, w));
	reflector_refresh(f.reflector); /* again: one answer for both */
	reflector_fixture_answer(&f, LIST, 200, PAGE("12", "", OBJ("a", "11")));
	reflector_fixture_expect_log(&f, "U n/a 11;R;F;");
	reflector_fixture_expect(&f, WATCH("12"));
	fake_transport_advance(f.transport, 20 * S);
	fake_transport_expect_none(f.transport);
	reflector_fixture_end(&f);
}

static void test_missing_refresh_looks_again(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin_with(&f, (struct reflector_options){ .missing_ok = true });
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_refresh(f.reflector);
	reflector_fixture_answer(&f, LIST, 404, "{}");
	reflector_fixture_expect_log(&f, "S;F;");
	reflector_fixture_expect_wait(&f, 29 * S, 40 * S);
	reflector_fixture_end(&f);
}

static void test_watching_probe_waits_for_the_stream(void **state)
{
	struct reflector_fixture f;
	uint64_t w = begin_large(&f);
	(void)state;

	reflector_refresh(f.reflector);
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=1", 200,
				 PAGE("20", "t", OBJ("a", "1")));
	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "19")));
	reflector_fixture_expect_log(&f, "U n/a 19;");
	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("b", "20")));
	reflector_fixture_expect_log(&f, "U n/b 20;F;");
	/* The stream was there before the answer. */
	reflector_refresh(f.reflector);
	fake_transport_chunk(f.transport, w, BOOKMARK("30"));
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=1", 200,
				 PAGE("30", "t", OBJ("a", "19")));
	reflector_fixture_expect_log(&f, "F;");
	assert_true(fake_transport_is_open(f.transport, w));
	fake_transport_advance(f.transport, 50 * S);
	fake_transport_expect_none(f.transport);
	assert_int_equal(reflector_fixture_stats(&f).lists, 1);
	reflector_fixture_end(&f);
}

static void test_watching_probe_gives_way_to_a_list(void **state)
{
	static const char *const answers[] = { PAGE("20", "t", OBJ("a", "1")), "{}", NULL };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct reflector_fixture f;
		uint64_t w = begin_large(&f), probe;

		unit_row(answers[i]);
		reflector_refresh(f.reflector);
		probe = reflector_fixture_expect(&f, "GET /api/v1/pods?limit=1");
		if (answers[i] == NULL) {
			fake_transport_fail(f.transport, probe, ERR_IO, true);
		} else {
			fake_transport_answer(f.transport, probe, 200, answers[i]);
		}
		if (i == 0) {
			/* Nothing changes: nothing is sent. */
			fake_transport_advance(f.transport, 499 * MS);
			fake_transport_expect_none(f.transport);
			fake_transport_advance(f.transport, 1 * MS);
		}
		assert_false(fake_transport_is_open(f.transport, w));
		reflector_fixture_answer(&f, "GET /api/v1/pods?limit=1", 200,
					 PAGE("20", "", OBJ("a", "1")));
		reflector_fixture_expect_log(&f, "D n/b;R;F;");
		reflector_fixture_end(&f);
	}
}

/* A list for another reason serves the refresh, too. */
static void test_watching_probe_and_gone(void **state)
{
	struct reflector_fixture f;
	uint64_t w = begin_large(&f), probe;
	(void)state;

	reflector_refresh(f.reflector);
	probe = reflector_fixture_expect(&f, "GET /api/v1/pods?limit=1");
	fake_transport_chunk(f.transport, w, ERROR("410"));
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=1", 200,
				 PAGE("20", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "D n/b;R;F;");
	assert_false(fake_transport_is_open(f.transport, probe));
	reflector_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refresh_before_the_start),
		cmocka_unit_test(test_listing_refresh_starts_over),
		cmocka_unit_test(test_waiting_refresh_lists),
		cmocka_unit_test(test_watching_refresh_lists),
		cmocka_unit_test(test_missing_refresh_looks_again),
		cmocka_unit_test(test_watching_probe_waits_for_the_stream),
		cmocka_unit_test(test_watching_probe_gives_way_to_a_list),
		cmocka_unit_test(test_watching_probe_and_gone),
	};

	return cmocka_run_group_tests_name("reflector refresh", tests, NULL, NULL);
}
