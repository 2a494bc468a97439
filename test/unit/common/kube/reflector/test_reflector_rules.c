#include "kube/reflector/reflector.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "unit/common/kube/reflector_fixture.h"

#define S CLOCK_NS_PER_S
#define MS CLOCK_NS_PER_MS

/* ---- rules beyond the table ---- */

static void test_backoff_grows_and_resets(void **state)
{
	struct reflector_fixture f;
	uint64_t w;
	int64_t last = 0;
	(void)state;

	w = reflector_fixture_begin_watch(&f);
	for (int i = 0; i < 10; i++) {
		int64_t at = clock_mono(&f.clock.base);

		fake_transport_fail(f.transport, w, ERR_UNAVAILABLE, false);
		while (fake_transport_pending(f.transport) == 0) {
			fake_transport_advance(f.transport, 10 * MS);
		}
		last = clock_mono(&f.clock.base) - at;
		assert_in_range(last, 600 * MS, 36100 * MS);
		w = reflector_fixture_expect(&f, WATCH("10"));
	}
	assert_true(last >= 23 * S);
	fake_transport_chunk(f.transport, w, BOOKMARK("11"));
	fake_transport_fail(f.transport, w, ERR_IO, true);
	reflector_fixture_expect_wait(&f, 600 * MS, 1000 * MS);
	reflector_fixture_end(&f);
}

static void test_retry_after(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	fake_transport_answer_later(f.transport, reflector_fixture_expect(&f, LIST), 429, 7);
	reflector_fixture_expect_wait(&f, 6999 * MS, 7001 * MS);
	/* An absurd wish is capped. */
	fake_transport_answer_later(f.transport, reflector_fixture_expect(&f, LIST), 503, 1000000);
	reflector_fixture_expect_wait(&f, 119 * S, 121 * S);
	reflector_fixture_end(&f);
}

static void test_duplicates_are_dropped(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w,
			     FRAME("ADDED", OBJ("a", "1"))); /* older than the list */
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "11")));
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "11")));
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("b", "12")));
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("b", "12")));
	fake_transport_chunk(f.transport, w, FRAME("ADDED", OBJ("b", "11"))); /* no resurrection */
	fake_transport_chunk(f.transport, w, FRAME("DELETED", OBJ("zzz", "13")));
	fake_transport_chunk(f.transport, w, BOOKMARK("5")); /* never back */
	fake_transport_end(f.transport, w);
	reflector_fixture_expect_log(&f, "U n/b 11;Do n/b;");
	reflector_fixture_expect(&f, WATCH("13"));
	reflector_fixture_end(&f);
}

static void test_relist_of_unchanged_objects_is_quiet(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w, ERROR("410"));
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("20", "", OBJ("a", "1")));
	reflector_fixture_expect_log(&f, "R;");
	reflector_fixture_end(&f);
}

static void test_versions_that_are_no_numbers(void **state)
{
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 200, PAGE("x&y", "", OBJ("a", "q")));
	w = reflector_fixture_expect(&f, WATCH("x%26y"));
	fake_transport_chunk(f.transport, w, FRAME("MODIFIED", OBJ("a", "r")));
	fake_transport_end(f.transport, w);
	reflector_fixture_expect(&f, WATCH("r"));
	reflector_fixture_expect_log(&f, "U n/a 0;S;U n/a 0;");
	reflector_fixture_end(&f);
}

static void test_selectors_and_cluster_scope(void **state)
{
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	reflector_fixture_begin_with(&f, (struct reflector_options){ .path = "/api/v1/nodes",
								     .label_selector = "a=b",
								     .field_selector = "c!=d",
								     .page_size = 2 });
	reflector_fixture_answer(
		&f, "GET /api/v1/nodes?limit=2&labelSelector=a%3Db&fieldSelector=c%21%3Dd", 200,
		PAGE("3", "", "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"2\"}}"));
	reflector_fixture_expect_log(&f, "U n1 2;S;");
	w = fake_transport_expect_prefix(f.transport, "GET /api/v1/nodes?watch=1&");
	assert_non_null(strstr(fake_transport_request(f.transport, w)->url,
			       "&labelSelector=a%3Db&fieldSelector=c%21%3Dd"));
	reflector_fixture_end(&f);
}

static void test_destroyed_in_every_state(void **state)
{
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	/* before the start has arrived */
	f = (struct reflector_fixture){ .log = STRBUF_INIT };
	clock_fake_init(&f.clock, 0);
	f.transport = fake_transport_create(&f.clock);
	f.reflector = reflector_create(
		&(struct reflector_options){ .path = "/x",
					     .transport = fake_transport_base(f.transport),
					     .clock = &f.clock.base,
					     .on_event = reflector_fixture_on_event,
					     .ctx = &f });
	reflector_start(f.reflector);
	reflector_fixture_end(&f);
	/* listing */
	reflector_fixture_begin(&f);
	reflector_fixture_end(&f);
	/* waiting */
	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 500, "{}");
	reflector_fixture_end(&f);
	/* watching: the stream is given up and says nothing more */
	w = reflector_fixture_begin_watch(&f);
	reflector_destroy(f.reflector);
	f.reflector = NULL;
	assert_false(fake_transport_is_open(f.transport, w));
	fake_transport_advance(f.transport, 1000 * S);
	reflector_fixture_expect_log(&f, "");
	reflector_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_backoff_grows_and_resets),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_duplicates_are_dropped),
		cmocka_unit_test(test_relist_of_unchanged_objects_is_quiet),
		cmocka_unit_test(test_versions_that_are_no_numbers),
		cmocka_unit_test(test_selectors_and_cluster_scope),
		cmocka_unit_test(test_destroyed_in_every_state),
	};

	return cmocka_run_group_tests_name("reflector rules", tests, NULL, NULL);
}
