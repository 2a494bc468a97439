#include "api/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "enc/json_out.h"

static void test_write_and_parse(void **state)
{
	struct api_status_cause cause = { "FieldValueInvalid", "must be positive", "spec.weight" };
	struct api_status_details details = {
		.name = "p", .kind = "pods", .causes = { &cause, 1 }, .retry_after_s = 3
	};
	struct api_status s = { .status = "Failure",
				.message = "pods \"p\" not found",
				.reason = "NotFound",
				.code = 404,
				.details = &details };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	struct strbuf out CLEANUP(strbuf_finish) = STRBUF_INIT;
	struct api_status back;
	struct json_out o;
	(void)state;

	json_out_init(&o, &out);
	status_write(&s, &o);
	json_out_end(&o);
	assert_string_equal(out.p,
			    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			    "\"message\":\"pods \\\"p\\\" not found\",\"reason\":\"NotFound\","
			    "\"details\":{\"name\":\"p\",\"kind\":\"pods\",\"causes\":[{\"reason\":"
			    "\"FieldValueInvalid\",\"message\":\"must be positive\",\"field\":"
			    "\"spec.weight\"}],\"retryAfterSeconds\":3},\"code\":404}");
	assert_int_equal(status_parse(strbuf_str(&out), arena, &back, NULL), 0);
	assert_string_equal(back.message, s.message);
	assert_int_equal(back.details->retry_after_s, 3);
	assert_string_equal(back.details->causes.v[0].field, "spec.weight");
}

static void test_not_a_status(void **state)
{
	static const char *const rows[] = { "", "<html>", "{}",
					    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}",
					    "{\"kind\":\"Status\"}" };
	struct arena *arena CLEANUP(arena_destroyp) = arena_create(0);
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct api_status s;

		assert_int_equal(status_parse(str_of(rows[i]), arena, &s, NULL), -ERR_INVALID);
	}
}

static void test_codes(void **state)
{
	static const struct {
		int http;
		const char *reason;
		enum err_code code;
	} rows[] = {
		{ 200, NULL, ERR_NONE },
		{ 201, NULL, ERR_NONE },
		{ 400, "BadRequest", ERR_INVALID },
		{ 401, NULL, ERR_FORBIDDEN },
		{ 403, NULL, ERR_FORBIDDEN },
		{ 404, NULL, ERR_NOT_FOUND },
		{ 409, "Conflict", ERR_CONFLICT },
		{ 410, "Gone", ERR_GONE },
		{ 410, "Expired", ERR_GONE },
		{ 422, "Invalid", ERR_INVALID },
		{ 429, NULL, ERR_UNAVAILABLE },
		{ 500, NULL, ERR_UNAVAILABLE },
		{ 503, NULL, ERR_UNAVAILABLE },
		{ 504, NULL, ERR_TIMEOUT },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(status_to_err(rows[i].http, rows[i].reason), rows[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_parse),
		cmocka_unit_test(test_not_a_status),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
