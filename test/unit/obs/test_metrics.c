#include "obs/metrics.h"

#include "lib/unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/counter.h"

static void test_text(void **state)
{
	struct counter_registry *r = counter_registry_create();
	struct arena *arena = arena_create(0);
	struct http_request req = { .method = HTTP_GET, .path = STR_LIT("/metrics") };
	struct http_response ret = { 0 };

	(void)state;
	counter_add(counter_cell(
			    counter_register(r, "reviews_total", "Reviews.", COUNTER_COUNTER, NULL),
			    NULL),
		    3);
	assert_true(metrics_handle(r, &req, arena, &ret));
	assert_int_equal(ret.status, 200);
	assert_string_equal(ret.content_type, "text/plain; version=0.0.4; charset=utf-8");
	assert_non_null(strstr(ret.body.p, "# TYPE reviews_total counter\nreviews_total 3\n"));
	assert_non_null(strstr(ret.body.p, "\nprocess_resident_memory_bytes "));
	assert_non_null(strstr(ret.body.p, "\nprocess_open_fds "));

	req.path = STR_LIT("/metrics/");
	assert_false(metrics_handle(r, &req, arena, &ret));
	req.path = STR_LIT("/metrics");
	req.method = HTTP_DELETE;
	assert_true(metrics_handle(r, &req, arena, &ret));
	assert_int_equal(ret.status, 405);
	arena_destroy(arena);
	counter_registry_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
