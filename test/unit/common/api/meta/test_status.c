#include "api/meta/status.h"

#include "lib/unit.h"

#include "base/attrs.h"

static void test_codes(void **state)
{
	static const struct {
		int http;
		enum err_code code;
	} rows[] = {
		{ 200, ERR_NONE },        { 201, ERR_NONE },        { 400, ERR_INVALID },
		{ 401, ERR_FORBIDDEN },   { 403, ERR_FORBIDDEN },   { 404, ERR_NOT_FOUND },
		{ 408, ERR_TIMEOUT },     { 409, ERR_CONFLICT },    { 302, ERR_INVALID },
		{ 410, ERR_GONE },        { 422, ERR_INVALID },     { 429, ERR_UNAVAILABLE },
		{ 500, ERR_UNAVAILABLE }, { 503, ERR_UNAVAILABLE }, { 504, ERR_TIMEOUT },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
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
