#include "process/file.h"

#include "lib/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"

static char dir[64];

static const char *in_dir(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/headgate-file-XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int teardown(void **state)
{
	static const char *const left[] = { "a/b/c", "a/b", "a", "f", "empty", "" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(left); i++) {
		remove(in_dir(left[i]));
	}
	return access(dir, F_OK) == 0 ? -1 : 0;
}

static void test_write_and_read(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(file_write_atomic(in_dir("f"), STR_LIT("one\0two"), 0640, NULL), 0);
	strbuf_add_c(&out, "<");
	assert_int_equal(file_read_all(in_dir("f"), 100, &out, NULL), 0);
	assert_int_equal(out.len, 8);
	assert_memory_equal(out.p, "<one\0two", 9);
	assert_int_equal(stat(in_dir("f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(file_write_atomic(in_dir("f"), STR_LIT("new"), 0600, NULL), 0);
	strbuf_reset(&out);
	assert_int_equal(file_read_all(in_dir("f"), 100, &out, NULL), 0);
	assert_string_equal(out.p, "new");
}

static void test_limit(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;

	(void)state;
	file_write_atomic(in_dir("f"), STR_LIT("12345"), 0600, NULL);
	file_write_atomic(in_dir("empty"), STR_LIT(""), 0600, NULL);
	assert_int_equal(file_read_all(in_dir("f"), 5, &out, &err), 0);
	assert_string_equal(out.p, "12345");
	strbuf_reset(&out);
	strbuf_add_c(&out, "kept");
	assert_int_equal(file_read_all(in_dir("f"), 4, &out, &err), -ERR_INVALID);
	assert_non_null(strstr(err.text, in_dir("f")));
	assert_non_null(strstr(err.text, "more than 4 bytes"));
	assert_string_equal(out.p, "kept");
	assert_int_equal(file_read_all(in_dir("f"), 0, &out, NULL), -ERR_INVALID);
	assert_int_equal(file_read_all(in_dir("empty"), 0, &out, NULL), 0);
	assert_string_equal(out.p, "kept");
}

/* Larger than one read step. */
static void test_large(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf in = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		strbuf_printf(&in, "line %d\n", i);
	}
	assert_int_equal(file_write_atomic(in_dir("f"), strbuf_str(&in), 0600, NULL), 0);
	assert_int_equal(file_read_all(in_dir("f"), in.len, &out, NULL), 0);
	assert_true(str_eq(strbuf_str(&in), strbuf_str(&out)));
	strbuf_reset(&out);
	assert_int_equal(file_read_all(in_dir("f"), in.len - 1, &out, NULL), -ERR_INVALID);
}

static void test_standard_input(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	int saved = dup(STDIN_FILENO);
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "piped", 5), 5);
	close(fds[1]);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	assert_int_equal(file_read_all("-", 100, &out, NULL), 0);
	assert_string_equal(out.p, "piped");
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0); /* it stays open */
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static size_t count_entries(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL) {
		n++;
	}
	closedir(d);
	return n;
}

static void test_errors_name_the_path(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct err err = ERR_INIT;
	size_t before;

	(void)state;
	assert_int_equal(file_read_all(in_dir("absent"), 9, &out, &err), -ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/absent: "));
	assert_int_equal(file_read_all(dir, 9, &out, &err), -ERR_IO);
	assert_non_null(strstr(err.text, dir));
	assert_int_equal(file_write_atomic(in_dir("no/f"), STR_LIT("x"), 0600, &err),
			 -ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/no/f: "));
	/* A rename that fails leaves no temporary file behind. */
	assert_int_equal(file_make_dirs(in_dir("a"), &err), 0);
	before = count_entries();
	assert_int_equal(file_write_atomic(in_dir("a"), STR_LIT("x"), 0600, &err), -ERR_IO);
	assert_int_equal(count_entries(), before);
}

static void test_make_dirs(void **state)
{
	struct err err = ERR_INIT;
	struct stat st;

	(void)state;
	assert_int_equal(file_make_dirs(in_dir("a/b//c"), &err), 0);
	assert_int_equal(file_make_dirs(in_dir("a/b/c/"), &err), 0);
	assert_int_equal(stat(in_dir("a/b/c"), &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	file_write_atomic(in_dir("f"), STR_LIT("x"), 0600, NULL);
	assert_int_equal(file_make_dirs(in_dir("f"), &err), -ERR_IO);
	assert_int_equal(file_make_dirs(in_dir("f/x"), &err), -ERR_IO);
	assert_non_null(strstr(err.text, "/f: "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_errors_name_the_path),
		cmocka_unit_test(test_make_dirs),
	};

	return cmocka_run_group_tests_name("file", tests, setup, teardown);
}
