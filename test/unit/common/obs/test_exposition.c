#include "obs/exposition.h"

#include "lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/folder.h"
#include "obs/metric.h"

static void check(struct metric_registry *r, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	exposition_render(r, &out);
	assert_string_equal(out.p, want);
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },           { 0.1, "0.1" },
		{ -2.5, "-2.5" },     { 1e15, "1000000000000000" },
		{ 1e300, "1e+300" },  { 1.0 / 3, "0.3333333333333333" },
		{ INFINITY, "+Inf" }, { -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};
	struct metric_registry *r = metric_registry_create();
	struct metric_family *f = metric_register(r, "depth", "Depth.", METRIC_GAUGE, NULL);
	struct metric_cell *c = metric_cell(f, NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[128];

		unit_row(cases[i].text);
		metric_cell_set(c, cases[i].value);
		snprintf(want, sizeof(want), "# HELP depth Depth.\n# TYPE depth gauge\ndepth %s\n",
			 cases[i].text);
		check(r, want);
	}
	metric_registry_destroy(r);
}

static void test_escapes_and_order(void **state)
{
	static const char *const labels[] = { "ns", "name", NULL };
	struct metric_registry *r = metric_registry_create();
	struct metric_family *z = metric_register(r, "z", "a\\b\nc\"d", METRIC_COUNTER, labels);
	struct metric_family *a = metric_register(r, "a", "First.", METRIC_GAUGE, NULL);

	(void)state;
	/* "a" + "bc" is not "ab" + "c". */
	metric_cell_add(metric_cell(z, (const char *const[]){ "ab", "c" }), 1);
	metric_cell_add(metric_cell(z, (const char *const[]){ "a", "bc" }), 2);
	metric_cell_add(metric_cell(z, (const char *const[]){ "", "x\"y\\z\n" }), 3);
	metric_cell_add(metric_cell(z, (const char *const[]){ "n\xc0\x80", "\xc3\xa9" }), 4);
	metric_cell_set(metric_cell(a, NULL), 1);
	check(r, "# HELP a First.\n# TYPE a gauge\na 1\n"
		 "# HELP z a\\\\b\\nc\"d\n# TYPE z counter\n"
		 "z{ns=\"\",name=\"x\\\"y\\\\z\\n\"} 3\n"
		 "z{ns=\"a\",name=\"bc\"} 2\nz{ns=\"ab\",name=\"c\"} 1\n"
		 "z{ns=\"n\xef\xbf\xbd\",name=\"\xc3\xa9\"} 4\n");
	assert_ptr_equal(metric_register(r, "z", "again", METRIC_COUNTER, labels), z);
	metric_registry_destroy(r);
}

static void test_text(void **state)
{
	struct metric_registry *r = metric_registry_create();
	struct arena *arena = arena_create(0);
	struct http_request req = { .method = HTTP_GET, .path = STR_LIT("/metrics") };
	struct http_response ret = { 0 };

	(void)state;
	metric_cell_add(
		metric_cell(metric_register(r, "reviews_total", "Reviews.", METRIC_COUNTER, NULL),
			    NULL),
		3);
	assert_true(exposition_handle(r, NULL, &req, arena, &ret));
	assert_int_equal(ret.status, 200);
	assert_string_equal(ret.content_type, "text/plain; version=0.0.4; charset=utf-8");
	assert_non_null(strstr(ret.body.p, "# TYPE reviews_total counter\nreviews_total 3\n"));
	assert_non_null(strstr(ret.body.p, "\nprocess_resident_memory_bytes "));
	assert_non_null(strstr(ret.body.p, "\nprocess_open_fds "));

	req.path = STR_LIT("/metrics/");
	assert_false(exposition_handle(r, NULL, &req, arena, &ret));
	req.path = STR_LIT("/metrics");
	req.method = HTTP_DELETE;
	assert_true(exposition_handle(r, NULL, &req, arena, &ret));
	assert_int_equal(ret.status, 405);
	arena_destroy(arena);
	metric_registry_destroy(r);
}

static int status_with(const char *file, const char *authorization)
{
	struct metric_registry *r = metric_registry_create();
	struct arena *arena = arena_create(0);
	struct http_request req = { .method = HTTP_GET,
				    .path = STR_LIT("/metrics"),
				    .authorization = str_of(authorization) };
	struct http_response ret = { 0 };

	assert_true(exposition_handle(r, file, &req, arena, &ret));
	if (ret.status == 401) {
		assert_string_equal(ret.authenticate, "Bearer");
		assert_null(memmem(ret.body.p, ret.body.len, "process_", 8));
	}
	arena_destroy(arena);
	metric_registry_destroy(r);
	return ret.status;
}

static void test_a_token_is_asked_for(void **state)
{
	struct folder f = { .files = VEC_INIT };
	char file[300], long_token[4096 + 2] = "";

	(void)state;
	folder_make(&f);
	snprintf(file, sizeof(file), "%s/token", f.path);
	assert_true(exposition_check_token(file, NULL) < 0);
	assert_int_equal(status_with(file, "Bearer "), 401);
	folder_write(&f, "token", "\n");
	assert_true(exposition_check_token(file, NULL) < 0);
	assert_int_equal(status_with(file, "Bearer "), 401);
	folder_write(&f, "token", "s3cret\n");
	assert_int_equal(exposition_check_token(file, NULL), 0);
	assert_int_equal(status_with(file, "Bearer s3cret"), 200);
	assert_int_equal(status_with(file, NULL), 401);
	assert_int_equal(status_with(file, "Bearer s3cre"), 401);
	assert_int_equal(status_with(file, "Bearer s3cret2"), 401);
	assert_int_equal(status_with(file, "Basic s3cret"), 401);
	assert_int_equal(status_with(file, "s3cret"), 401);
	folder_write(&f, "token", "other");
	assert_int_equal(status_with(file, "Bearer s3cret"), 401);
	assert_int_equal(status_with(file, "Bearer other"), 200);
	/* Up to 4096 bytes. */
	memset(long_token, 'x', 4096);
	folder_write(&f, "token", long_token);
	assert_int_equal(exposition_check_token(file, NULL), 0);
	long_token[4096] = 'x';
	folder_write(&f, "token", long_token);
	assert_true(exposition_check_token(file, NULL) < 0);
	assert_int_equal(exposition_check_token(NULL, NULL), 0);
	folder_remove(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_escapes_and_order),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_a_token_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
