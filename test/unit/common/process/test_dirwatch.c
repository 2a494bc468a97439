#include "process/dirwatch.h"

#include "lib/unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "process/file.h"

/* A directory laid out as kubelet does for a mounted Secret: tls.crt -> ..data/tls.crt,
 * ..data -> ..v1. */
struct mount {
	char dir[64];
	char path[128];
};

static void make(struct mount *m)
{
	char a[128];

	snprintf(m->dir, sizeof(m->dir), "/tmp/headgate-watch-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	snprintf(a, sizeof(a), "%s/..v1", m->dir);
	assert_int_equal(file_make_dirs(a, NULL), 0);
	snprintf(a, sizeof(a), "%s/..data", m->dir);
	assert_int_equal(symlink("..v1", a), 0);
	snprintf(m->path, sizeof(m->path), "%s/tls.crt", m->dir);
	assert_int_equal(symlink("..data/tls.crt", m->path), 0);
}

static void unmake(const struct mount *m)
{
	static const char *const left[] = { "/..v1", "/..data", "/tls.crt", "" };
	char a[128];

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		snprintf(a, sizeof(a), "%s%s", m->dir, left[i]);
		remove(a);
	}
}

static bool readable(const struct dirwatch *w)
{
	struct pollfd pfd = { .fd = dirwatch_fd(w), .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void test_symlink_swap(void **state)
{
	struct dirwatch *w = NULL;
	struct mount m;
	char next[128], data[128];

	(void)state;
	make(&m);
	assert_int_equal(dirwatch_create(&w, NULL), 0);
	assert_int_equal(dirwatch_add_file(w, m.path, NULL), 0);
	assert_int_equal(dirwatch_add_file(w, m.path, NULL), 0);
	assert_false(readable(w));
	assert_false(dirwatch_drain(w));
	snprintf(next, sizeof(next), "%s/..next", m.dir);
	snprintf(data, sizeof(data), "%s/..data", m.dir);
	assert_int_equal(symlink("..v1", next), 0);
	assert_int_equal(rename(next, data), 0);
	assert_true(readable(w));
	assert_true(dirwatch_drain(w));
	assert_false(readable(w));
	assert_false(dirwatch_drain(w));
	dirwatch_destroy(w);
	unmake(&m);
}

static void test_rewrite(void **state)
{
	struct dirwatch *w = NULL;
	struct mount m;

	(void)state;
	make(&m);
	assert_int_equal(dirwatch_create(&w, NULL), 0);
	assert_int_equal(dirwatch_add_file(w, m.path, NULL), 0);
	assert_int_equal(file_write_atomic(m.path, STR_LIT("x"), 0600, NULL), 0);
	assert_true(dirwatch_drain(w));
	assert_false(dirwatch_drain(w));
	dirwatch_destroy(w);
	dirwatch_destroy(NULL);
	unmake(&m);
}

static void test_bad_directory(void **state)
{
	struct err err = ERR_INIT;
	struct dirwatch *w = NULL;

	(void)state;
	assert_int_equal(dirwatch_create(&w, &err), 0);
	assert_int_equal(dirwatch_add_file(w, "/no/such/file", &err), -ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/no/such"));
	assert_int_equal(dirwatch_add_file(w, "relative", &err), 0);
	assert_int_equal(dirwatch_add_file(w, "/root-file", &err), 0);
	dirwatch_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symlink_swap),
		cmocka_unit_test(test_rewrite),
		cmocka_unit_test(test_bad_directory),
	};

	return cmocka_run_group_tests_name("dirwatch", tests, NULL, NULL);
}
