#include "kube/kubeconfig/kubeconfig_private.h"

#include "lib/unit.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"

static const char text[] = "{\"s\":\"x\",\"empty\":\"\",\"b\":true,\"n\":1,\"l\":[\"a\",\"b\"],"
			   "\"p-data\":\"UEVN\",\"p\":\"file\",\"q\":\"file\"}";
static struct jdoc *obj;

static int set_up(void **state UNUSED)
{
	return jdoc_parse(str_of(text), &obj, NULL);
}

static int tear_down(void **state UNUSED)
{
	jdoc_destroy(obj);
	return 0;
}

static void test_strings(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *copy = xmalloc_dup("before");
	const char *s = "before";
	struct err err = ERR_INIT;

	assert_int_equal(kubeconfig_read_str(obj, "s", &s, NULL), 0);
	assert_string_equal(s, "x");
	assert_int_equal(kubeconfig_read_str(obj, "empty", &s, NULL), 0);
	assert_null(s);
	assert_int_equal(kubeconfig_read_str(obj, "absent", &s, NULL), 0);
	assert_null(s);
	assert_int_equal(kubeconfig_read_str(obj, "n", &s, &err), -ERR_INVALID);
	assert_string_equal(err.text, "n: not a string");
	assert_int_equal(kubeconfig_read_dup(obj, "s", &copy, NULL), 0);
	assert_string_equal(copy, "x");
}

static void test_paths(void **state UNUSED)
{
	static const struct {
		const char *dir, *path, *want;
	} rows[] = {
		{ "/d", "f", "/d/f" }, { "/d", "/e/f", "/e/f" }, { "d", "e/f", "d/e/f" },
		{ "", "f", "f" },      { NULL, "f", "f" },       { NULL, "/f", "/f" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep) char *got = kubeconfig_read_path(rows[i].dir, rows[i].path);

		unit_row_number(i);
		assert_string_equal(got, rows[i].want);
	}
}

static void test_booleans_and_lists(void **state UNUSED)
{
	CLEANUP(kubeconfig_read_free) struct kubeconfig_strings list = VEC_INIT;
	struct err err = ERR_INIT;
	bool b = false;

	assert_int_equal(kubeconfig_read_bool(obj, "b", &b, NULL), 0);
	assert_true(b);
	assert_int_equal(kubeconfig_read_bool(obj, "absent", &b, NULL), 0);
	assert_false(b);
	assert_int_equal(kubeconfig_read_bool(obj, "s", &b, NULL), -ERR_INVALID);
	assert_int_equal(kubeconfig_read_list(obj, "l", &list, NULL), 0);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.v[1], "b");
	assert_int_equal(kubeconfig_read_list(obj, "s", &list, &err), -ERR_INVALID);
	assert_string_equal(err.text, "s: not a list");
}

static void test_pem(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *file = NULL;
	CLEANUP(xmalloc_freep) char *pem = NULL;

	assert_int_equal(kubeconfig_read_pem(obj, "p", "/d", &file, &pem, NULL), 0);
	assert_string_equal(pem, "PEM");
	assert_null(file);
	assert_int_equal(kubeconfig_read_pem(obj, "q", "/d", &file, &pem, NULL), 0);
	assert_string_equal(file, "/d/file");
}

static void test_unknown_members(void **state UNUSED)
{
	static const char *const known[] = { "s", "empty", "b", "n", "l", "p-data", "p", NULL };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));

	kubeconfig_read_unknown(c, obj, "x.", known);
	assert_int_equal(c->warnings.n, 1);
	assert_string_equal(c->warnings.v[0], "x.q: unknown, it has no effect");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_booleans_and_lists),
		cmocka_unit_test(test_pem),
		cmocka_unit_test(test_unknown_members),
	};

	return cmocka_run_group_tests_name("kubeconfig_read", tests, set_up, tear_down);
}
