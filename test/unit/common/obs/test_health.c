#include "obs/health.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/attrs.h"

static bool check(void *ctx, char *detail, size_t detail_size)
{
	const char *why = ctx;

	if (why == NULL) {
		return true;
	}
	snprintf(detail, detail_size, "%s", why);
	return false;
}

static bool check_warns(void *ctx, char *detail, size_t detail_size)
{
	(void)ctx;
	snprintf(detail, detail_size, "not alone");
	return true;
}

static void test_a_warning_is_shown_and_fails_nothing(void **state)
{
	struct health *h = health_create();
	struct arena *arena = arena_create(0);
	struct http_request req = { .path = STR_LIT("/readyz"), .query = STR_LIT("verbose") };
	struct http_response ret = { 0 };

	(void)state;
	health_add_ready(h, "foreign", check_warns, NULL);
	assert_true(health_handle(h, &req, arena, &ret));
	assert_int_equal(ret.status, 200);
	assert_true(
		str_eq_c(ret.body, "[+]ping ok\n[+]foreign ok: not alone\nreadyz check passed\n"));
	req.query = STR_LIT("");
	assert_true(health_handle(h, &req, arena, &ret));
	assert_true(str_eq_c(ret.body, "ok"));
	arena_destroy(arena);
	health_destroy(h);
}

static void test_routes(void **state)
{
	static const struct {
		const char *path, *query;
		enum http_method method;
		int status; /* 0: not ours */
		const char *body;
	} rows[] = {
		{ "/healthz", "", HTTP_GET, 200, "ok" },
		{ "/livez", "", HTTP_GET, 200, "ok" },
		{ "/livez", "", HTTP_HEAD, 200, "ok" },
		{ "/livez/", "", HTTP_GET, 200, "ok" },
		{ "/livez", "verbose", HTTP_GET, 200,
		  "[+]ping ok\n[+]cycle ok\nlivez check passed\n" },
		{ "/healthz", "verbose=true", HTTP_GET, 200,
		  "[+]ping ok\n[+]cycle ok\nhealthz check passed\n" },
		{ "/livez/cycle", "", HTTP_GET, 200, "ok" },
		{ "/livez/quota", "", HTTP_GET, 404, "no such check\n" },
		{ "/readyz", "", HTTP_GET, 503,
		  "[+]ping ok\n[-]quota failed: no quota plugin\n[-]mute failed\n[+]late ok\n"
		  "readyz check failed\n" },
		{ "/readyz/quota", "", HTTP_GET, 503, "[-]quota failed: no quota plugin\n" },
		{ "/readyz/ping", "", HTTP_GET, 200, "ok" },
		{ "/readyz", "", HTTP_POST, 405, "only GET is allowed\n" },
		{ "/", "", HTTP_GET, 0, NULL },
		{ "", "", HTTP_GET, 0, NULL },
		{ "/healthzz", "", HTTP_GET, 0, NULL },
		{ "healthz", "", HTTP_GET, 0, NULL },
		{ "/x/healthz", "", HTTP_GET, 0, NULL },
	};
	static char quota[] = "no quota plugin", mute[] = "";
	struct health *h = health_create();
	struct arena *arena = arena_create(0);

	(void)state;
	health_add_live(h, "cycle", check, NULL);
	health_add_ready(h, "quota", check, quota);
	health_add_ready(h, "mute", check, mute);
	health_add_ready(h, "late", check, NULL);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_request req = { .method = rows[i].method,
					    .path = str_of(rows[i].path),
					    .query = str_of(rows[i].query) };
		struct http_response ret = { 0 };

		unit_row(rows[i].path);
		assert_int_equal(health_handle(h, &req, arena, &ret), rows[i].status != 0);
		assert_int_equal(ret.status, rows[i].status);
		assert_true(str_eq_c(ret.body, rows[i].body != NULL ? rows[i].body : ""));
	}
	arena_destroy(arena);
	health_destroy(h);
	health_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_a_warning_is_shown_and_fails_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
