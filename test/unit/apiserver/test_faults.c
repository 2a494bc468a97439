/* Scripts of faults: what is refused, and when and how they strike. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "apiserver/faults.h"
#include "base/attrs.h"
#include "base/err.h"
#include "unit/apiserver/apiserver_fixture.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static void test_bad_scripts(void **state)
{
	static const char *const scripts[] = {
		"{}",
		"- {fault: nothing}",
		"- {}",
		"- {fault: status, code: 99}",
		"- {fault: status, code: 600}",
		"- {fault: status, every: 0}",
		"- {fault: status, path: '('}",
		"- {fault: status, unknown: 1}",
		"- [",
	};
	struct faults *f = NULL;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		unit_row_number(i);
		assert_int_equal(faults_parse(str_of(scripts[i]), &f, &err), -ERR_INVALID);
		assert_null(f);
	}
	assert_int_equal(faults_parse(STR_LIT(""), &f, &err), 0);
	assert_null(faults_strike(f, HTTP_GET, false, STR_LIT("/x")));
	faults_destroy(f);
}

static void test_when(void **state)
{
	struct faults *f = NULL;
	char struck[11] = { 0 };

	(void)state;
	assert_int_equal(faults_parse(STR_LIT("- {fault: status, method: GET, path: /a, from: 3, "
					      "every: 2, count: 3}"),
				      &f, NULL),
			 0);
	for (int i = 0; i < 10; i++) {
		assert_null(faults_strike(f, HTTP_GET, false, STR_LIT("/b")));
		assert_null(faults_strike(f, HTTP_PUT, false, STR_LIT("/a")));
		assert_null(faults_strike(f, HTTP_GET, true, STR_LIT("/a")));
		struck[i] = faults_strike(f, HTTP_GET, false, STR_LIT("/a/b")) != NULL ? 'x' : '.';
	}
	assert_string_equal(struck, "..x.x.x...");
	assert_int_equal(faults_struck(f, "status"), 3);
	faults_destroy(f);
}

static int setup(void **state)
{
	static struct apiserver_fixture f;

	apiserver_fixture_start(&f, NULL, NULL);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	apiserver_fixture_stop(*state);
	return 0;
}

static void script(struct apiserver_fixture *f, const char *text)
{
	assert_int_equal(apiserver_set_faults(f->server, str_of(text), NULL), 0);
}

static void create(struct apiserver_fixture *f, const char *body)
{
	assert_int_equal(apiserver_fixture_do(f, HTTP_POST, MAPS, APISERVER_FIXTURE_YAML, body),
			 201);
}

/* Opens a watch of what is there (two objects) under a fault and reads it to its end or silence. */
static int read_watch(struct apiserver_fixture *f, const char *fault, struct strbuf *out)
{
	int r = 1;

	script(f, fault);
	assert_int_equal(
		apiserver_fixture_do(f, HTTP_GET, "/api/v1/configmaps?watch=1", NULL, NULL), 200);
	while (r > 0) {
		r = apiserver_watch_next(f->resp.watch, f->now, out);
	}
	apiserver_watch_close(f->resp.watch);
	f->resp.watch = NULL;
	return r;
}

static void test_watch_faults(void **state)
{
	static const struct {
		const char *fault;
		int end;       /* -1: the stream ends, 0: it stays open */
		size_t frames; /* whole ones */
		const char *text;
	} rows[] = {
		{ "[]", 0, 2, "ADDED" },
		{ "- {fault: watch-duplicate, frame: 1}", 0, 3, "ADDED" },
		{ "- {fault: watch-truncate, frame: 1}", -1, 1, "ADDED" },
		{ "- {fault: watch-close, frame: 1}", -1, 1, "ADDED" },
		{ "- {fault: watch-gone, frame: 1}", -1, 2, "\"code\":410" },
	};
	struct apiserver_fixture *f = *state;

	create(f, "metadata: {name: a}");
	create(f, "metadata: {name: b}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
		size_t lines = 0;

		unit_row(rows[i].fault);
		assert_int_equal(read_watch(f, rows[i].fault, &out), rows[i].end);
		for (size_t k = 0; k < out.len; k++) {
			lines += out.p[k] == '\n';
		}
		assert_int_equal(lines, rows[i].frames);
		assert_non_null(strstr(out.p, rows[i].text));
	}
}

static void test_late_watch(void **state)
{
	struct apiserver_fixture *f = *state;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct apiserver_watch *w;

	script(f, "- {fault: watch-late, delayMs: 1000}");
	assert_int_equal(
		apiserver_fixture_do(f, HTTP_GET, "/api/v1/configmaps?watch=1", NULL, NULL), 200);
	w = take_ptr(&f->resp.watch);
	create(f, "metadata: {name: a}");
	assert_int_equal(apiserver_watch_next(w, f->now, &out), 0);
	assert_int_equal(apiserver_watch_wake_at(w), f->now + 1000000000);
	f->now += 1000000000;
	assert_int_equal(apiserver_watch_next(w, f->now, &out), 1);
	apiserver_watch_close(w);
}

static void test_stale_and_compacted(void **state)
{
	struct apiserver_fixture *f = *state;
	char url[160];

	create(f, "metadata: {name: a}");
	script(f, "- {fault: stale, versions: 1, method: GET}\n"
		  "- {fault: compact, path: /api/v1/pods}");
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, MAPS "/a", NULL, NULL), 404);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, MAPS "/a", NULL, NULL), 200);
	snprintf(url, sizeof(url), MAPS "?resourceVersion=%lld&resourceVersionMatch=Exact",
		 (long long)apiserver_version(f->server) - 1);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, url, NULL, NULL), 200);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, "/api/v1/pods", NULL, NULL), 200);
	assert_int_equal(apiserver_fixture_do(f, HTTP_GET, url, NULL, NULL), 410);
	assert_int_equal(apiserver_fault_count(f->server, "stale"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		cmocka_unit_test(test_bad_scripts),
		cmocka_unit_test(test_when),
		T(test_watch_faults),
		T(test_late_watch),
		T(test_stale_and_compacted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
