#include "kube/kubeconfig/kubeconfig_private.h"

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"

#define V1 "apiVersion: client.authentication.k8s.io/v1\n"
#define BETA "apiVersion: client.authentication.k8s.io/v1beta1\n"

static int read_exec(const char *text, struct kubeconfig_exec **ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *exec = NULL;

	assert_int_equal(yaml_parse(str_of(text), &exec, NULL), 0);
	return kubeconfig_exec_read(exec, "/d", ret, err);
}

/* As `aws eks update-kubeconfig` writes it. */
static void test_whole(void **state UNUSED)
{
	struct kubeconfig_exec *e = NULL;

	assert_int_equal(read_exec(BETA "command: aws\nargs: [eks, get-token]\n"
					"env: [{name: AWS_PROFILE, value: p}, {name: EMPTY}]\n"
					"provideClusterInfo: true\ninstallHint: install aws\n",
				   &e, NULL),
			 0);
	assert_string_equal(e->command, "aws");
	assert_string_equal(e->args.v[1], "get-token");
	assert_string_equal(e->env.v[0], "AWS_PROFILE=p");
	assert_string_equal(e->env.v[1], "EMPTY=");
	assert_string_equal(e->install_hint, "install aws");
	assert_true(e->cluster_info);
	assert_int_equal(e->interactive, KUBECONFIG_INTERACTIVE_IF_AVAILABLE);
	kubeconfig_exec_free(e);
	assert_int_equal(
		read_exec(V1 "command: bin/p\ninteractiveMode: Never\nenv: null\n", &e, NULL), 0);
	assert_string_equal(e->command, "/d/bin/p");
	assert_int_equal(e->interactive, KUBECONFIG_INTERACTIVE_NEVER);
	kubeconfig_exec_free(e);
	kubeconfig_exec_free(NULL);
}

static void test_errors(void **state UNUSED)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "{}", "apiVersion: missing" },
		{ "apiVersion: client.authentication.k8s.io/v1alpha1",
		  "apiVersion: \"client.authentication.k8s.io/v1alpha1\" is neither "
		  "client.authentication.k8s.io/v1 nor client.authentication.k8s.io/v1beta1" },
		{ BETA, "command: missing" },
		{ BETA "command: [a]", "command: not a string" },
		{ BETA "command: a\nargs: b", "args: not a list" },
		{ BETA "command: a\nenv: {A: b}", "env: not a list" },
		{ BETA "command: a\nenv: [{value: b}]", "env[0].name: not the name of a variable" },
		{ BETA "command: a\nenv: [{name: A=B}]",
		  "env[0].name: not the name of a variable" },
		{ BETA "command: a\nenv: [{name: A, value: 1}]", "env[0].value: not a string" },
		{ BETA "command: a\ninteractiveMode: Perhaps",
		  "interactiveMode: \"Perhaps\" is not Never, IfAvailable or Always" },
		{ V1 "command: a", "interactiveMode: missing: Never, IfAvailable or Always" },
		{ BETA "command: a\nprovideClusterInfo: 1",
		  "provideClusterInfo: neither true nor false" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubeconfig_exec *e = NULL;
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(read_exec(rows[i].text, &e, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
		assert_null(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests_name("kubeconfig_exec", tests, NULL, NULL);
}
