#include "kube/rest.h"

#include <pthread.h>
#include <stdio.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/net/fake_transport.h"

static void test_path(void **state)
{
	static const struct {
		const char *group, *version, *ns, *resource, *name, *sub, *path;
	} rows[] = {
		{ "", "v1", NULL, "pods", NULL, NULL, "/api/v1/pods" },
		{ NULL, "v1", NULL, "nodes", "n1", NULL, "/api/v1/nodes/n1" },
		{ "", "v1", "ns", "pods", "p", "status", "/api/v1/namespaces/ns/pods/p/status" },
		{ "apps", "v1", "ns", "deployments", NULL, NULL,
		  "/apis/apps/v1/namespaces/ns/deployments" },
		{ "rbac.authorization.k8s.io", "v1", NULL, "clusterroles", "system:node", NULL,
		  "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:node" },
		{ "", "v1", "a/../b", "pods", "x?y#z w", NULL,
		  "/api/v1/namespaces/a%2F..%2Fb/pods/x%3Fy%23z%20w" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

		unit_row(rows[i].group);
		rest_path(&b, rows[i].group, rows[i].version, rows[i].ns, rows[i].resource,
			  rows[i].name, rows[i].sub);
		assert_string_equal(b.p, rows[i].path);
	}
}

static void test_queries(void **state)
{
	const struct rest_what all = { .path = "/x" };
	const struct rest_what some = { "/x?a=b", "k in (v)", "f=g" };
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	(void)state;

	rest_list_query(&b, &all, 500, (struct str){ NULL, 0 });
	assert_string_equal(b.p, "/x?limit=500");
	strbuf_reset(&b);
	rest_list_query(&b, &some, 1, STR_LIT("c+/="));
	assert_string_equal(b.p, "/x?a=b&limit=1&continue=c%2B%2F%3D&labelSelector=k%20in%20%28v%29"
				 "&fieldSelector=f%3Dg");
	strbuf_reset(&b);
	rest_watch_query(&b, &all, STR_LIT("7"), 300);
	assert_string_equal(
		b.p, "/x?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
}

static void test_delete_options(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	(void)state;

	rest_delete_options("u-1", NULL, &b);
	assert_string_equal(b.p,
			    "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			    "\"uid\":\"u-1\"}}");
	strbuf_reset(&b);
	rest_delete_options("u-1", "7", &b);
	assert_string_equal(b.p,
			    "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{"
			    "\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}");
}

static void test_result(void **state)
{
	static const struct {
		int status, error;
		const char *body;
		int code;
		const char *text;
	} rows[] = {
		{ 200, 0, "", 0, "" },
		{ 201, 0, "", 0, "" },
		{ 404, 0, "{\"message\":\"pods \\\"x\\\" not found\"}", ERR_NOT_FOUND,
		  "pods \"x\" not found" },
		{ 409, 0, "not JSON", ERR_CONFLICT, "HTTP status 409 Conflict" },
		{ 410, 0, "{}", ERR_GONE, "HTTP status 410 Gone" },
		{ 401, 0, "", ERR_FORBIDDEN, "HTTP status 401 Unauthorized" },
		{ 403, 0, "", ERR_FORBIDDEN, "HTTP status 403 Forbidden" },
		{ 400, 0, "", ERR_INVALID, "HTTP status 400 Bad Request" },
		{ 422, 0, "{\"message\":\"bad\"}", ERR_INVALID, "bad" },
		{ 408, 0, "{\"message\":\"t\"}", ERR_TIMEOUT, "t" },
		{ 504, 0, "{\"message\":\"t\"}", ERR_TIMEOUT, "t" },
		{ 429, 0, "{\"message\":\"t\"}", ERR_UNAVAILABLE, "t" },
		{ 500, 0, "{\"message\":\"t\"}", ERR_UNAVAILABLE, "t" },
		{ 302, 0, "{\"message\":\"t\"}", ERR_INVALID, "t" },
		{ 0, ERR_TIMEOUT, "", ERR_TIMEOUT, "why" },
		{ 200, ERR_IO, "", ERR_IO, "why" },
		{ 0, 0, "", ERR_IO, "why" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct http_result result = { .status = rows[i].status,
						    .error = rows[i].error,
						    .body = str_of(rows[i].body),
						    .error_text = "why" };
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(rest_result(&result, &err), -rows[i].code);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(rest_result(&result, NULL), -rows[i].code);
	}
}

static void test_whether_the_same_again_may_work(void **state)
{
	static const struct {
		const char *name;
		int status;
		bool refused, transient, unanswered;
	} rows[] = {
		{ "no answer", 0, false, true, true },
		{ "OK", 200, false, false, false },
		{ "Bad Request", 400, true, false, false },
		{ "Unauthorized", 401, false, true, false },
		{ "Forbidden", 403, true, false, false },
		{ "Not Found", 404, false, false, false },
		{ "Request Timeout", 408, false, true, true },
		{ "Conflict", 409, false, false, false },
		{ "Unprocessable Entity", 422, true, false, false },
		{ "Too Many Requests", 429, false, true, false },
		{ "the last of 4xx", 499, true, false, false },
		{ "Internal Server Error", 500, false, true, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_result result = { .status = rows[i].status,
					      .may_have_been_sent = true,
					      .error_text = "why" };
		int code = rest_result(&result, NULL);

		unit_row(rows[i].name);
		assert_int_equal(rest_is_refused(code, &result), rows[i].refused);
		assert_int_equal(rest_is_transient(rows[i].status), rows[i].transient);
		assert_int_equal(rest_is_unanswered(&result), rows[i].unanswered);
		result.may_have_been_sent = false;
		assert_false(rest_is_unanswered(&result));
	}
}

static void test_version(void **state)
{
	static const struct {
		const char *body;
		int64_t version;
	} rows[] = {
		{ "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"17\"},"
		  "\"spec\":{\"metadata\":{\"resourceVersion\":\"9\"}}}\n",
		  17 },
		{ "{\"metadata\":{\"resourceVersion\":\"x\"}}", 0 },
		{ "{\"metadata\":{\"resourceVersion\":17}}", 0 },
		{ "{\"metadata\":{\"name\":\"p\"}}", 0 },
		{ "{\"spec\":{\"resourceVersion\":\"9\"}}", 0 },
		{ "{\"metadata\":{\"resourceVersion\":\"1", 0 },
		{ "[]", 0 },
		{ "", 0 },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_result result = { .status = 200, .body = str_of(rows[i].body) };

		unit_row(rows[i].body);
		assert_int_equal(rest_version(&result), rows[i].version);
	}
}

static void test_version_ahead(void **state)
{
	struct http_result r = { .status = 504, .body = STR_LIT("x Too large resource version y") };
	(void)state;

	assert_true(rest_is_version_ahead(&r));
	r.status = 500;
	assert_false(rest_is_version_ahead(&r));
	r.status = 504;
	r.body = (struct str){ NULL, 0 };
	assert_false(rest_is_version_ahead(&r));
}

static void test_why_a_write_was_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		bool uid, manager, test;
	} rows[] = {
		{ "Precondition failed: UID in precondition: a", -ERR_CONFLICT, .uid = true },
		{ "the UID in the precondition (a) does not match the UID in record (b). The "
		  "object might have been deleted and then recreated",
		  -ERR_CONFLICT, .uid = true },
		{ "metadata.uid: Invalid value: field is immutable", -ERR_INVALID, .uid = true },
		{ "Apply failed with 2 conflicts: conflicts with", -ERR_CONFLICT, .manager = true },
		{ "the object has been modified", -ERR_CONFLICT, .uid = false },
		{ "Apply failed with", -ERR_INVALID, .manager = false },
		{ "metadata.uid", -ERR_NOT_FOUND, .uid = false },
		{ "the server rejected our request due to an error in our request", -ERR_INVALID,
		  .test = true },
		{ "the server rejected our request for an unknown reason", -ERR_FORBIDDEN,
		  .test = false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		(void)err_set(&err, ERR_CONFLICT, "%s", rows[i].text);
		assert_int_equal(rest_is_other_uid(rows[i].code, &err), rows[i].uid);
		assert_int_equal(rest_is_other_manager(rows[i].code, &err), rows[i].manager);
		assert_int_equal(rest_is_failed_test(rows[i].code, &err), rows[i].test);
	}
}

/* A caller that blocks, on a thread of its own; the test answers. */
struct caller {
	struct fake_transport *transport;
	pthread_t thread;
	bool list;
	int result;
	struct err err;
	struct jdoc *doc;
	struct strbuf names;
};

static void note_name(void *ctx, const struct jdoc *item)
{
	strbuf_printf(ctx, "%s;", jdoc_str_or(jdoc_path(item, "metadata.name"), "?"));
}

static void *run(void *arg)
{
	struct caller *c = arg;
	struct transport *t = fake_transport_base(c->transport);

	if (c->list) {
		c->result = rest_list(t, "/l", 7, note_name, &c->names, &c->err);
	} else {
		c->result = rest_call(t, HTTP_PUT, "/c", "application/json", STR_LIT("{}"), 7,
				      &c->doc, &c->err);
	}
	return NULL;
}

static void begin(struct caller *c, bool list)
{
	*c = (struct caller){ .list = list, .err = ERR_INIT, .names = STRBUF_INIT };
	c->transport = fake_transport_create(NULL);
	pthread_create(&c->thread, NULL, run, c);
}

static void answer(struct caller *c, const char *line, int status, const char *body)
{
	uint64_t id;

	fake_transport_wait(c->transport, 1);
	id = fake_transport_expect(c->transport, line);
	assert_int_equal(fake_transport_request(c->transport, id)->timeout_ns, 7);
	fake_transport_answer(c->transport, id, status, body);
}

static void end(struct caller *c)
{
	jdoc_destroy(c->doc);
	strbuf_finish(&c->names);
	fake_transport_destroy(c->transport);
}

static void test_call(void **state)
{
	struct caller c;
	(void)state;

	begin(&c, false);
	answer(&c, "PUT /c", 200, "{\"a\":\"b\"}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, 0);
	assert_string_equal(jdoc_path_str(c.doc, "a"), "b");
	end(&c);

	begin(&c, false);
	answer(&c, "PUT /c", 404, "{\"message\":\"no\"}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, -ERR_NOT_FOUND);
	assert_string_equal(c.err.text, "no");
	end(&c);

	begin(&c, false);
	answer(&c, "PUT /c", 200, "garbage");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, -ERR_INVALID);
	end(&c);
}

/* An item deeper than a tree may be does not hide the others. */
static void test_list_of_odd_items(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf page = STRBUF_INIT;
	struct caller c;
	(void)state;

	strbuf_add_c(&page, "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"a\"},\"x\":");
	for (unsigned i = 0; i < JDOC_MAX_DEPTH; i++) {
		strbuf_add_ch(&page, '[');
	}
	for (unsigned i = 0; i < JDOC_MAX_DEPTH; i++) {
		strbuf_add_ch(&page, ']');
	}
	strbuf_add_c(&page, "},{\"metadata\":{\"name\":\"b\",\"y\":\"\\u0000\"}}]}");
	begin(&c, true);
	answer(&c, "GET /l?limit=500", 200, page.p);
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, -ERR_INVALID);
	assert_non_null(strstr(c.err.text, "/l: a: invalid JSON"));
	assert_string_equal(c.names.p, "b;");
	end(&c);

	begin(&c, true);
	answer(&c, "GET /l?limit=500", 200, "{\"metadata\":{},\"items\":[{]}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, -ERR_INVALID);
	end(&c);
}

static void test_list(void **state)
{
	struct caller c;
	(void)state;

	begin(&c, true);
	answer(&c, "GET /l?limit=500", 200,
	       "{\"metadata\":{\"continue\":\"x\"},\"items\":[{\"metadata\":{\"name\":\"a\"}},{"
	       "\"metadata\":{\"name\":\"b\"}}]}");
	answer(&c, "GET /l?limit=500&continue=x", 200,
	       "{\"metadata\":{\"continue\":\"\"},\"items\":[{\"metadata\":{\"name\":\"c\"}}]}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, 0);
	assert_string_equal(c.names.p, "a;b;c;");
	end(&c);

	/* Pages that are too large are asked for again, smaller; small ones let the size grow. */
	begin(&c, true);
	answer(&c, "GET /l?limit=500", 200,
	       "{\"metadata\":{\"continue\":\"x\"},\"items\":[{\"metadata\":{\"name\":\"a\"}}]}");
	for (unsigned limit = 500; limit > 1; limit /= 2) {
		char line[64];

		snprintf(line, sizeof(line), "GET /l?limit=%u&continue=x", limit);
		fake_transport_wait(c.transport, 1);
		fake_transport_too_large(c.transport, fake_transport_expect(c.transport, line));
	}
	answer(&c, "GET /l?limit=1&continue=x", 200,
	       "{\"metadata\":{\"continue\":\"y\"},\"items\":[{\"metadata\":{\"name\":\"b\"}}]}");
	answer(&c, "GET /l?limit=2&continue=y", 200,
	       "{\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"c\"}}]}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, 0);
	assert_string_equal(c.names.p, "a;b;c;");
	end(&c);

	begin(&c, true);
	answer(&c, "GET /l?limit=500", 403, "{\"message\":\"no\"}");
	pthread_join(c.thread, NULL);
	assert_int_equal(c.result, -ERR_FORBIDDEN);
	assert_string_equal(c.err.text, "/l: no");
	end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_queries),
		cmocka_unit_test(test_delete_options),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_whether_the_same_again_may_work),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_version_ahead),
		cmocka_unit_test(test_why_a_write_was_refused),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_of_odd_items),
	};

	return cmocka_run_group_tests_name("rest", tests, NULL, NULL);
}
