#include "kube/reflector/reflector_report.h"

#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "net/http_loop.h"
#include "obs/exposition.h"
#include "obs/metric.h"
#include "process/log.h"
#include "unit/common/kube/reflector_fixture.h"

#define S CLOCK_NS_PER_S

static void expect_metric(struct metric_registry *r, const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	exposition_render(r, &text);
	if (strstr(text.p, line) == NULL) {
		fail_msg("no %s in:\n%s", line, text.p);
	}
}

static void test_answers_have_reasons(void **state)
{
	static const struct {
		struct http_result result;
		const char *reason;
	} rows[] = {
		{ { .error = ERR_IO, .error_text = "cut" }, "unreachable" },
		{ { .error = ERR_UNAVAILABLE, .error_text = "" }, "unreachable" },
		{ { .error = ERR_IO, .too_large = true, .error_text = "" }, "too_large" },
		{ { .error = ERR_TIMEOUT, .error_text = "" }, "timeout" },
		{ { .status = 504 }, "timeout" },
		{ { .status = 410 }, "gone" },
		{ { .status = 429 }, "server" },
		{ { .status = 503 }, "server" },
		{ { .status = 403 }, "refused" },
		{ { .status = 404 }, "refused" },
	};
	struct clock_fake clock;
	(void)state;

	clock_fake_init(&clock, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct metric_registry *registry = metric_registry_create();
		struct reflector_report r;
		char line[120];

		unit_row_number(i);
		reflector_report_init(&r, "pods", registry, &clock.base);
		reflector_report_answer(&r, &rows[i].result);
		assert_string_equal(reflector_report_reason(atomic_load(&r.reason)),
				    rows[i].reason);
		snprintf(line, sizeof(line),
			 "headgate_reflector_errors_total{resource=\"pods\",reason=\"%s\"} 1\n",
			 rows[i].reason);
		expect_metric(registry, line);
		metric_registry_destroy(registry);
	}
}

static void test_counts(void **state)
{
	struct metric_registry *registry = metric_registry_create();
	struct reflector_options opt = { .resource = "pods", .counters = registry };
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	reflector_fixture_begin_with(&f, opt);
	fake_transport_too_large(f.transport, reflector_fixture_expect(&f, LIST));
	reflector_fixture_answer(&f, "GET /api/v1/pods?limit=250", 200,
				 PAGE("10", "", OBJ("a", "1")));
	w = reflector_fixture_expect(&f, WATCH("10"));
	fake_transport_chunk(f.transport, w, ERROR("410"));
	fake_transport_run(f.transport);
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
	expect_metric(registry, "headgate_reflector_lists_total{resource=\"pods\"} 2\n");
	expect_metric(registry, "headgate_reflector_relists_total{resource=\"pods\"} 1\n");
	expect_metric(registry, "headgate_reflector_watches_total{resource=\"pods\"} 2\n");
	expect_metric(registry, "errors_total{resource=\"pods\",reason=\"gone\"} 1\n");
	expect_metric(registry, "errors_total{resource=\"pods\",reason=\"too_large\"} 1\n");
	reflector_fixture_end(&f);
	metric_registry_destroy(registry);
}

static int64_t stale_for(struct reflector_fixture *f)
{
	int64_t now = clock_mono(&f->clock.base), at = reflector_stale_since(f->reflector, now);

	return at == CLOCK_NEVER ? -1 : (now - at) / S;
}

static void test_silence_after_bookmarks_is_stale(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	(void)state;

	fake_transport_chunk(f.transport, w, BOOKMARK("11"));
	fake_transport_advance(f.transport, 99 * S);
	assert_int_equal(stale_for(&f), -1);
	fake_transport_advance(f.transport, 1 * S);
	assert_int_equal(stale_for(&f), 100);
	/* Resumed: in step with the first frame, not before. */
	w = reflector_fixture_expect(&f, WATCH("11"));
	fake_transport_advance(f.transport, 60 * S);
	assert_int_equal(stale_for(&f), 160);
	fake_transport_chunk(f.transport, w, BOOKMARK("12"));
	assert_int_equal(stale_for(&f), -1);
	reflector_fixture_end(&f);
}

static void test_failures_are_stale_when_they_last(void **state)
{
	struct reflector_fixture f;
	uint64_t w = reflector_fixture_begin_watch(&f);
	int64_t begin = clock_mono(&f.clock.base);
	(void)state;

	fake_transport_fail(f.transport, w, ERR_IO, true);
	while (clock_mono(&f.clock.base) - begin < 90 * S) {
		assert_int_equal(stale_for(&f), -1);
		fake_transport_advance(f.transport, 1 * S);
		if (fake_transport_pending(f.transport) > 0) {
			w = reflector_fixture_expect(&f, WATCH("10"));
			fake_transport_fail(f.transport, w, ERR_UNAVAILABLE, false);
		}
	}
	assert_int_equal(stale_for(&f), 90);
	while (fake_transport_pending(f.transport) == 0) {
		fake_transport_advance(f.transport, 1 * S);
	}
	w = reflector_fixture_expect(&f, WATCH("10"));
	fake_transport_chunk(f.transport, w, BOOKMARK("12"));
	assert_int_equal(stale_for(&f), -1);
	reflector_fixture_end(&f);
}

/* Before the first list the "synced" check speaks. */
static void test_nothing_heard_yet_is_not_stale(void **state)
{
	struct reflector_fixture f;
	(void)state;

	reflector_fixture_begin(&f);
	reflector_fixture_answer(&f, LIST, 403, "{}");
	fake_transport_advance(f.transport, 500 * S);
	assert_int_equal(stale_for(&f), -1);
	reflector_fixture_end(&f);
}

static struct strbuf health = STRBUF_INIT;

static void on_health(void *ctx UNUSED, const struct reflector_health *h)
{
	strbuf_printf(&health, "%s %d %s;", reflector_report_reason(h->reason), h->status, h->text);
}

static void expect_health(const char *text)
{
	assert_string_equal(strbuf_str(&health).p, text);
	strbuf_reset(&health);
}

static void test_the_consumer_learns_of_failures(void **state)
{
	struct reflector_options opt = { .on_health = on_health };
	struct reflector_fixture f;
	uint64_t w;
	(void)state;

	strbuf_add_c(&health, "");
	reflector_fixture_begin_with(&f, opt);
	for (int i = 0; i < 2; i++) { /* each time, unlike the log */
		reflector_fixture_answer(&f, LIST, 403, "{\"kind\":\"Status\",\"message\":\"no\"}");
		expect_health("refused 403 no;");
		fake_transport_advance(f.transport, 60 * S);
	}
	reflector_fixture_answer(&f, LIST, 200, PAGE("10", "", OBJ("a", "1")));
	expect_health("none 0 ;");
	w = reflector_fixture_expect(&f, WATCH("10"));
	fake_transport_chunk(f.transport, w, BOOKMARK("11"));
	expect_health("");
	fake_transport_fail(f.transport, w, ERR_IO, true);
	expect_health("unreachable 0 IO;");
	reflector_fixture_end(&f);
	strbuf_finish(&health);
}

/* Where the resource may be missing, that is no failure, however often it is asked for. */
static void test_a_resource_that_is_not_served_is_no_failure(void **state)
{
	struct reflector_options opt = { .on_health = on_health, .missing_ok = true };
	struct reflector_fixture f;
	(void)state;

	strbuf_add_c(&health, "");
	reflector_fixture_begin_with(&f, opt);
	for (int i = 0; i < 2; i++) {
		reflector_fixture_answer(&f, LIST, 404, "{}");
		expect_health("");
		fake_transport_advance(f.transport, 60 * S);
	}
	reflector_fixture_end(&f);
	strbuf_finish(&health);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_have_reasons),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_silence_after_bookmarks_is_stale),
		cmocka_unit_test(test_failures_are_stale_when_they_last),
		cmocka_unit_test(test_nothing_heard_yet_is_not_stale),
		cmocka_unit_test(test_the_consumer_learns_of_failures),
		cmocka_unit_test(test_a_resource_that_is_not_served_is_no_failure),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests_name("reflector report", tests, NULL, NULL);
}
