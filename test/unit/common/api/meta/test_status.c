#include "api/meta/status.h"

#include "lib/unit.h"

#include "base/attrs.h"

static void test_codes(void **state)
{
	static const struct {
		const char *name;
		int http;
		enum err_code code;
	} rows[] = {
		{ "OK", 200, ERR_NONE },
		{ "Created", 201, ERR_NONE },
		{ "Bad Request", 400, ERR_INVALID },
		{ "Unauthorized", 401, ERR_FORBIDDEN },
		{ "Forbidden", 403, ERR_FORBIDDEN },
		{ "Not Found", 404, ERR_NOT_FOUND },
		{ "Request Timeout", 408, ERR_TIMEOUT },
		{ "Conflict", 409, ERR_CONFLICT },
		{ "Found", 302, ERR_INVALID },
		{ "Gone", 410, ERR_GONE },
		{ "Unprocessable Entity", 422, ERR_INVALID },
		{ "Too Many Requests", 429, ERR_UNAVAILABLE },
		{ "Internal Server Error", 500, ERR_UNAVAILABLE },
		{ "Service Unavailable", 503, ERR_UNAVAILABLE },
		{ "Gateway Timeout", 504, ERR_TIMEOUT },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].name);
		assert_int_equal(status_to_err(rows[i].http), rows[i].code);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests_name("pods/cycle/status", tests, NULL, NULL);
}
