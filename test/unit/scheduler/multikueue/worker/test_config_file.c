#include "scheduler/multikueue/worker/config_file.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lib/folder.h"

/* The folder, and beside it one that is not to be read. */
struct files {
	struct folder root, other;
};

static int begin(void **state)
{
	struct files *f = xmalloc_zero(1, sizeof(*f));

	folder_make(&f->root);
	folder_make(&f->other);
	folder_write(&f->root, "real", "text");
	folder_write(&f->other, "secret", "hidden");
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct files *f = *state;

	folder_remove(&f->root);
	folder_remove(&f->other);
	free(f);
	return 0;
}

static int read_name(const struct files *f, const char *name, struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%s", f->root.path, name);
	return config_file_read(path.p, f->root.path, out, err);
}

static void make_link(const struct files *f, const char *to, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%s", f->root.path, name);
	assert_int_equal(symlink(to, path.p), 0);
}

static void drop(const struct files *f, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s/%s", f->root.path, name);
	assert_int_equal(remove(path.p), 0);
}

static void test_reads(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct files *f = *state;
	struct err err = ERR_INIT;

	assert_int_equal(read_name(f, "real", &out, &err), 0);
	assert_string_equal(out.p, "text");
	strbuf_reset(&out);
	/* As the kubelet mounts a Secret. */
	make_link(f, "real", "east");
	assert_int_equal(read_name(f, "east", &out, &err), 0);
	assert_string_equal(out.p, "text");
	drop(f, "east");
}

static void expect_refused(const struct files *f, const char *name, int r, const char *why)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;

	unit_row(name);
	assert_int_equal(read_name(f, name, &out, &err), r);
	unit_row(err.text);
	assert_non_null(strstr(err.text, why));
	assert_int_equal(out.len, 0);
}

static void test_refuses(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct files *f = *state;

	strbuf_printf(&path, "%s/secret", f->other.path);
	make_link(f, path.p, "out");
	expect_refused(f, "out", -ERR_INVALID, "not below");
	drop(f, "out");
	make_link(f, "out", "out");
	expect_refused(f, "out", -ERR_IO, "symbolic links");
	drop(f, "out");
	expect_refused(f, "absent", -ERR_IO, "No such file");
	expect_refused(f, "../x", -ERR_INVALID, "component");
	strbuf_reset(&path);
	strbuf_printf(&path, "%s/pipe", f->root.path);
	assert_int_equal(mkfifo(path.p, 0600), 0);
	expect_refused(f, "pipe", -ERR_INVALID, "not a regular file");
	drop(f, "pipe");
	expect_refused(f, "real/", -ERR_IO, "Not a directory");
}

static void test_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct files *f = *state;
	struct err err = ERR_INIT;
	char *text = xmalloc_zero(1, KUBECONFIG_MAX_BYTES + 2);

	memset(text, 'x', KUBECONFIG_MAX_BYTES);
	folder_write(&f->root, "long", text);
	assert_int_equal(read_name(f, "long", &out, &err), 0);
	assert_int_equal(out.len, KUBECONFIG_MAX_BYTES);
	text[KUBECONFIG_MAX_BYTES] = 'x';
	folder_write(&f->root, "long", text);
	assert_int_equal(read_name(f, "long", &out, &err), -ERR_INVALID);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads, begin, end),
		cmocka_unit_test_setup_teardown(test_refuses, begin, end),
		cmocka_unit_test_setup_teardown(test_limit, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
