#include "kube/kubeconfig/kubeconfig_private.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

static int read_user(const char *text, const struct kubeconfig_options *opt,
		     struct kubeconfig **ret, struct err *err)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = xmalloc_zero(1, sizeof(*c));
	CLEANUP(jdoc_destroyp) struct jdoc *user = NULL;
	struct kubeconfig_user from = { .dir = "/d", .where = "user.", .opt = opt };
	int r;

	assert_int_equal(yaml_parse(str_of(text), &user, NULL), 0);
	from.user = user;
	r = kubeconfig_user_read(c, &from, err);
	if (r == 0) {
		*ret = take_ptr(&c);
	}
	return r;
}

static void test_impersonation(void **state UNUSED)
{
	static const char *const lines[] = {
		"Impersonate-User: bob",         "Impersonate-Uid: 7",
		"Impersonate-Group: dev",        "Impersonate-Group: ops",
		"Impersonate-Extra-scopes: a b", "Impersonate-Extra-example.com%2Fr%C3%A9: x",
	};
	const struct kubeconfig_options opt = { 0 };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	assert_int_equal(read_user("token: t\nas: bob\nas-uid: '7'\nas-groups: [dev, ops]\n"
				   "as-user-extra: {scopes: [a b], example.com/r\xc3\xa9: [x]}",
				   &opt, &c, NULL),
			 0);
	assert_string_equal(c->token, "t");
	assert_int_equal(c->headers.n, ARRAY_LEN(lines) + 1);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		unit_row_number(i);
		assert_string_equal(c->headers.v[i], lines[i]);
	}
	assert_null(c->headers.v[ARRAY_LEN(lines)]);
}

/* Each flag stands for one member, as in kubectl. */
static void test_options_before_the_user(void **state UNUSED)
{
	static const char *const groups[] = { "g", NULL };
	const struct kubeconfig_options opt = { .as = "eve", .as_uid = "8", .as_groups = groups };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	assert_int_equal(read_user("as: bob\nas-uid: '7'\nas-groups: [dev]\n", &opt, &c, NULL), 0);
	assert_int_equal(c->headers.n, 4);
	assert_string_equal(c->headers.v[0], "Impersonate-User: eve");
	assert_string_equal(c->headers.v[1], "Impersonate-Uid: 8");
	assert_string_equal(c->headers.v[2], "Impersonate-Group: g");
	kubeconfig_destroyp(&c);
	assert_int_equal(read_user("as-groups: [dev]", &(struct kubeconfig_options){ .as = "eve" },
				   &c, NULL),
			 0);
	assert_int_equal(c->headers.n, 3);
	assert_string_equal(c->headers.v[1], "Impersonate-Group: dev");
}

static void test_errors(void **state UNUSED)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "as-groups: [dev]", "as: missing: a UID, groups and extra fields need the user "
				      "to act as" },
		{ "as-uid: '1'", "as: missing: a UID, groups and extra fields need the user to act "
				 "as" },
		{ "as: [bob]", "as: not a string" },
		{ "as: bob\nas-groups: dev", "as-groups: not a list" },
		{ "as: bob\nas-groups: [1]", "as-groups[0]: not a string" },
		{ "as: bob\nas-user-extra: [a]", "as-user-extra: not a mapping" },
		{ "as: bob\nas-user-extra: {k: v}", "as-user-extra.k: not a list" },
		{ "as: bob\nas-user-extra: {k: [1]}", "as-user-extra.k: not a list of strings" },
		{ "as: bob\nas-groups: ['']", "as-groups: empty" },
		{ "as: ' '", "as: empty" },
		{ "exec: [a]", "exec: not a mapping" },
		{ "as: \"bob\\nX: y\"", "as: has a control character" },
		{ "as: bob\nas-groups: [\"a\\r\"]", "as-groups: has a control character" },
		{ "exec: {command: x, apiVersion: v0}",
		  "exec.apiVersion: \"v0\" is neither client.authentication.k8s.io/v1 nor "
		  "client.authentication.k8s.io/v1beta1" },
	};
	const struct kubeconfig_options opt = { .runs_plugins = true };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubeconfig *c = NULL;
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(read_user(rows[i].text, &opt, &c, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
		assert_null(c);
	}
}

static void test_plugin(void **state UNUSED)
{
	static const char text[] = "exec:\n  command: ./bin/p\n"
				   "  apiVersion: client.authentication.k8s.io/v1beta1\n";
	const struct kubeconfig_options opt = { .runs_plugins = true },
					token = { .runs_plugins = true, .token = "t" };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *d = NULL;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *e = NULL;

	assert_int_equal(read_user(text, &opt, &c, NULL), 0);
	assert_string_equal(c->exec->command, "/d/./bin/p");
	assert_int_equal(c->warnings.n, 0);
	/* --token is instead of all credentials, those that are refused too */
	assert_int_equal(read_user(text, &token, &d, NULL), 0);
	assert_null(d->exec);
	assert_int_equal(d->warnings.n, 0);
	kubeconfig_destroyp(&d);
	assert_int_equal(read_user("auth-provider: {name: gcp}", &token, &d, NULL), 0);
	assert_string_equal(d->token, "t");
	/* a token beside a plugin wins, and says so */
	assert_int_equal(read_user("token: t\nexec: {command: p}", &opt, &e, NULL), 0);
	assert_null(e->exec);
	assert_string_equal(e->warnings.v[0], "user.exec: not run, the user has a token");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impersonation),
		cmocka_unit_test(test_options_before_the_user),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_plugin),
	};

	return cmocka_run_group_tests_name("kubeconfig_user", tests, NULL, NULL);
}
