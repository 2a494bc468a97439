#include "scheduler/ctl/ctl.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "certs/pair.h"
#include "enc/json/jdoc.h"
#include "process/file.h"
#include "scheduler/ctl/cli/verb.h"
#include "unit/scheduler/ctl/capture.h"

static char dir[] = "/tmp/headgate-certs-XXXXXX";

static const char *at(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void read_file(const char *name, struct strbuf *out)
{
	strbuf_reset(out);
	assert_int_equal(file_read_all(at(name), PAIR_MAX_BYTES, out, NULL), 0);
}

static int make(const char *dns, const char *more)
{
	char *argv[] = {
		(char[]){ "headgatectl certs" }, (char[]){ "--out" },     dir, (char[]){ "--dns" },
		(char *)(uintptr_t)dns,          (char *)(uintptr_t)more, NULL
	};

	return ctl_certs_verb.run(more != NULL ? 6 : 5, argv);
}

static void test_idempotent(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf ca = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf leaf = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf now = STRBUF_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(make("a.svc", NULL), VERB_OK);
	read_file("ca.crt", &ca);
	read_file("tls.crt", &leaf);
	assert_int_equal(stat(at("tls.key"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	assert_int_equal(make("a.svc", NULL), VERB_OK);
	read_file("tls.crt", &now);
	assert_string_equal(now.p, leaf.p);

	assert_int_equal(make("b.svc", NULL), VERB_OK); /* another name: another certificate */
	read_file("tls.crt", &now);
	assert_string_not_equal(now.p, leaf.p);
	assert_int_equal(pair_covers(strbuf_str(&now), "b.svc", NULL), 0);
	assert_int_equal(pair_is_signed_by(strbuf_str(&now), strbuf_str(&ca), NULL), 0);

	read_file("tls.crt", &leaf);
	assert_int_equal(make("b.svc", "--force"), VERB_OK);
	read_file("tls.crt", &now);
	assert_string_not_equal(now.p, leaf.p);
	read_file("ca.crt", &now);
	assert_string_equal(now.p, ca.p);
}

/* The row of a file, in a table or as JSON. */
static void expect_row(const struct strbuf *out, bool is_json, const char *name, bool made)
{
	CLEANUP(strbuf_finish) struct strbuf pem = STRBUF_INIT, row = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *json = NULL;
	CLEANUP(xmalloc_freep) char *file = xmalloc_printf("%s.crt", name);
	const struct jdoc *entry;
	char until[CLOCK_RFC3339_MAX];
	int64_t from, to;

	read_file(file, &pem);
	assert_int_equal(pair_validity(strbuf_str(&pem), &from, &to, NULL), 0);
	clock_format_time(to, until);
	if (!is_json) {
		strbuf_printf(&row, "%-8s until %s  %s\n", made ? "made" : "kept", until, at(file));
		assert_non_null(strstr(out->p, row.p));
		return;
	}
	assert_int_equal(jdoc_parse(strbuf_str(out), &json, NULL), 0);
	entry = jdoc_get(json, name);
	assert_string_equal(jdoc_str(jdoc_get(entry, "path")), at(file));
	assert_int_equal(jdoc_bool(jdoc_get(entry, "made"), !made), made);
	assert_string_equal(jdoc_str(jdoc_get(entry, "notAfter")), until);
}

static void test_report(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		CLEANUP(strbuf_finish) struct strbuf line = STRBUF_INIT, out = STRBUF_INIT;
		bool is_json = i % 2 != 0, made = i / 2 == 0;

		strbuf_printf(&line, "headgatectl certs --out %s --dns c.svc%s%s", dir,
			      made ? " --force" : "", is_json ? " -o json" : "");
		assert_int_equal(capture_run(ctl_run, line.p, &out), VERB_OK);
		expect_row(&out, is_json, "ca", false);
		expect_row(&out, is_json, "tls", made);
	}
}

static void test_broken_files(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	(void)state;
	/* A broken server certificate is replaced, a broken authority is not. */
	assert_int_equal(file_write_atomic(at("tls.key"), STR_LIT("x"), 0600, NULL), 0);
	assert_int_equal(make("a.svc", NULL), VERB_OK);
	read_file("tls.key", &text);
	assert_true(text.len > 100);
	assert_int_equal(file_write_atomic(at("ca.key"), STR_LIT("x"), 0600, NULL), 0);
	assert_int_equal(make("a.svc", NULL), VERB_FAILED);
	read_file("ca.key", &text);
	assert_string_equal(text.p, "x");
}

static int open_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL;
}

static int close_dir(void **state)
{
	static const char *const names[] = { "ca.crt", "ca.key", "tls.crt", "tls.key" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unlink(at(names[i]));
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idempotent),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, open_dir, close_dir);
}
