#include "obs/metrics.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/counter.h"
#include "lib/folder.h"

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
	assert_true(metrics_handle(r, NULL, &req, arena, &ret));
	assert_int_equal(ret.status, 200);
	assert_string_equal(ret.content_type, "text/plain; version=0.0.4; charset=utf-8");
	assert_non_null(strstr(ret.body.p, "# TYPE reviews_total counter\nreviews_total 3\n"));
	assert_non_null(strstr(ret.body.p, "\nprocess_resident_memory_bytes "));
	assert_non_null(strstr(ret.body.p, "\nprocess_open_fds "));

	req.path = STR_LIT("/metrics/");
	assert_false(metrics_handle(r, NULL, &req, arena, &ret));
	req.path = STR_LIT("/metrics");
	req.method = HTTP_DELETE;
	assert_true(metrics_handle(r, NULL, &req, arena, &ret));
	assert_int_equal(ret.status, 405);
	arena_destroy(arena);
	counter_registry_destroy(r);
}

static int status_with(const char *file, const char *authorization)
{
	struct counter_registry *r = counter_registry_create();
	struct arena *arena = arena_create(0);
	struct http_request req = { .method = HTTP_GET,
				    .path = STR_LIT("/metrics"),
				    .authorization = str_of(authorization) };
	struct http_response ret = { 0 };

	assert_true(metrics_handle(r, file, &req, arena, &ret));
	if (ret.status == 401) {
		assert_string_equal(ret.authenticate, "Bearer");
		assert_null(memmem(ret.body.p, ret.body.len, "process_", 8));
	}
	arena_destroy(arena);
	counter_registry_destroy(r);
	return ret.status;
}

static void test_a_token_is_asked_for(void **state)
{
	struct folder f = { .files = VEC_INIT };
	char file[300];

	(void)state;
	folder_make(&f);
	snprintf(file, sizeof(file), "%s/token", f.path);
	assert_true(metrics_check_token(file, NULL) < 0);
	assert_int_equal(status_with(file, "Bearer "), 401);
	folder_write(&f, "token", "\n");
	assert_true(metrics_check_token(file, NULL) < 0);
	assert_int_equal(status_with(file, "Bearer "), 401);
	folder_write(&f, "token", "s3cret\n");
	assert_int_equal(metrics_check_token(file, NULL), 0);
	assert_int_equal(status_with(file, "Bearer s3cret"), 200);
	assert_int_equal(status_with(file, NULL), 401);
	assert_int_equal(status_with(file, "Bearer s3cre"), 401);
	assert_int_equal(status_with(file, "Bearer s3cret2"), 401);
	assert_int_equal(status_with(file, "Basic s3cret"), 401);
	assert_int_equal(status_with(file, "s3cret"), 401);
	folder_write(&f, "token", "other");
	assert_int_equal(status_with(file, "Bearer s3cret"), 401);
	assert_int_equal(status_with(file, "Bearer other"), 200);
	assert_int_equal(metrics_check_token(NULL, NULL), 0);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_a_token_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
