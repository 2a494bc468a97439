#include "net/http.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/strbuf.h"

static void test_methods(void **state)
{
	(void)state;
	for (unsigned m = 0; m < HTTP_METHOD_COUNT_; m++) {
		assert_int_equal(http_method_of(str_of(http_method_name((enum http_method)m))), m);
	}
	assert_int_equal(http_method_of(STR_LIT("get")), HTTP_OTHER);
	assert_int_equal(http_method_of(STR_LIT("")), HTTP_OTHER);
	assert_string_equal(http_method_name((enum http_method)99), "OTHER");
}

static void test_query(void **state)
{
	static const struct {
		const char *query, *name, *value; /* value NULL: absent */
	} rows[] = {
		{ "a=1&b=2", "a", "1" },
		{ "a=1&b=2", "b", "2" },
		{ "a=1&b=2", "c", NULL },
		{ "", "a", NULL },
		{ "a", "a", "" },
		{ "a=", "a", "" },
		{ "=x", "", NULL },
		{ "a=1&a=2", "a", "1" },
		{ "ab=1&a=2", "a", "2" },
		{ "&&a=3", "a", "3" },
		{ "x=a%3Db%26c", "x", "a=b&c" },
		{ "x=a+b%2B", "x", "a b+" },
		{ "x=%zz%4", "x", "%zz%4" },
		{ "x=%", "x", "%" },
		{ "label%53elector=app%21%3Dx", "labelSelector", "app!=x" },
		{ "x=a=b", "x", "a=b" },
	};
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool found = http_query_get(str_of(rows[i].query), rows[i].name, &out);

		unit_row(rows[i].query);
		assert_int_equal(found, rows[i].value != NULL);
		assert_string_equal(out.p, found ? rows[i].value : "");
	}
	assert_false(http_query_get((struct str){ NULL, 0 }, "a", &out));
}

static void test_escape_is_the_inverse(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf escaped = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf back = STRBUF_INIT;
	char all[256];

	(void)state;
	for (unsigned i = 0; i < sizeof(all); i++) {
		all[i] = (char)i;
	}
	strbuf_add_c(&escaped, "k=");
	http_query_escape((struct str){ all, sizeof(all) }, &escaped);
	assert_true(http_query_get(strbuf_str(&escaped), "k", &back));
	assert_int_equal(back.len, sizeof(all));
	assert_memory_equal(back.p, all, sizeof(all));

	strbuf_reset(&escaped);
	http_query_escape(STR_LIT("a b/ü~"), &escaped);
	assert_string_equal(escaped.p, "a%20b%2F%C3%BC~");
}

static void test_path(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	http_path_unescape(STR_LIT("/a%2fb+c%zz%"), &out);
	assert_string_equal(out.p, "/a/b+c%zz%");
	http_path_unescape(STR_LIT("%41"), &out);
	assert_string_equal(out.p, "/a/b+c%zz%A");
}

/* Those of RFC 9110 that an API server, a proxy before it or we send. */
static void test_status_text(void **state)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{ 100, "Continue" },
		{ 101, "Switching Protocols" },
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 304, "Not Modified" },
		{ 307, "Temporary Redirect" },
		{ 308, "Permanent Redirect" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 410, "Gone" },
		{ 411, "Length Required" },
		{ 413, "Request Entity Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Entity" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
		{ 299, "Unknown" },
		{ -1, "Unknown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].text);
		assert_string_equal(http_status_text(rows[i].status), rows[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_query),
		cmocka_unit_test(test_escape_is_the_inverse),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_status_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
