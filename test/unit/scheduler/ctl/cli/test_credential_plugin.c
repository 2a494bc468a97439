#include "scheduler/ctl/cli/credential_plugin.h"

#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/kubeconfig/exec_credential.h"
#include "kube/kubeconfig/kubeconfig.h"

#define LONG_NS (300 * CLOCK_NS_PER_S)
#define ANSWER(token)                                                                              \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" EXEC_CREDENTIAL_V1                        \
	"\",\"status\":{\"token\":\"" token "\"}}"

/* Runs `sh -c script` as the plugin; more is YAML of its exec. */
static int run(const char *command, const char *script, const char *more, int64_t limit_ns,
	       struct exec_credential *ret, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	strbuf_printf(&text,
		      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
		      "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"
		      "users: [{name: u, user: {exec: {apiVersion: " EXEC_CREDENTIAL_V1
		      ", command: %s, %s, args: [-c, '%s']}}}]\n",
		      command, more, script);
	assert_int_equal(kubeconfig_parse(strbuf_str(&text), NULL,
					  &(struct kubeconfig_options){ .runs_plugins = true }, &c,
					  err),
			 0);
	return credential_plugin_run(c, limit_ns, ret, err);
}

#define NEVER "interactiveMode: Never"

static void test_answer(void **state UNUSED)
{
	struct exec_credential c;

	assert_int_equal(run("sh", "echo ''" ANSWER("t") "''", NEVER, LONG_NS, &c, NULL), 0);
	assert_string_equal(c.token, "t");
	exec_credential_finish(&c);
	/* a process of its own that keeps the output open is not waited for */
	assert_int_equal(run("/bin/sh", "sleep 20 2>/dev/null & echo ''" ANSWER("u") "''", NEVER,
			     LONG_NS, &c, NULL),
			 0);
	assert_string_equal(c.token, "u");
	exec_credential_finish(&c);
}

/* Ours, with the kubeconfig's variables in place of ours, and the request. */
static void test_environment(void **state UNUSED)
{
	static const char script[] =
		"test \"$KEPT $CHANGED\" = \"ours theirs\" || exit 3; test -n \"$HOME\" || exit 4; "
		"read -r line && exit 5; "
		/* each once, also where a shell would not see the second one */
		"n=$(tr ''\\0'' ''\\n'' </proc/$$/environ | grep -c -e ^CHANGED= -e "
		"^KUBERNETES_EXEC); "
		"test $n = 2 || exit 7; "
		"case $KUBERNETES_EXEC_INFO in *interactive*false*) ;; *) exit 6 ;; esac; "
		"echo ''" ANSWER("t") "''";
	struct exec_credential c;
	struct err err = ERR_INIT;

	setenv("HOME", "/", 1);
	setenv("KEPT", "ours", 1);
	setenv("CHANGED", "ours", 1);
	setenv("KUBERNETES_EXEC_INFO", "old", 1);
	if (run("sh", script, NEVER ", env: [{name: CHANGED, value: theirs}]", LONG_NS, &c, &err) <
	    0) {
		fail_msg("%s", err.text);
	}
	exec_credential_finish(&c);
}

static void test_failures(void **state UNUSED)
{
	static const struct {
		const char *command, *script, *more;
		int64_t limit_ns;
		int code;
		const char *error;
	} rows[] = {
		{ "sh", "exit 3", NEVER, LONG_NS, ERR_FORBIDDEN,
		  "credential plugin sh: exit code 3" },
		{ "sh", "kill -TERM $$", NEVER, LONG_NS, ERR_FORBIDDEN,
		  "credential plugin sh: ended by signal 15" },
		{ "sh", "true", NEVER, LONG_NS, ERR_INVALID, NULL },
		{ "sh", "echo {}", NEVER, LONG_NS, ERR_INVALID,
		  "credential plugin sh: its answer: the kind is not ExecCredential" },
		{ "sh", "cat /dev/zero", NEVER, LONG_NS, ERR_INVALID,
		  "credential plugin sh: prints more than 1048576 bytes" },
		{ "sh", "exec sleep 1000", NEVER, 1, ERR_TIMEOUT,
		  "credential plugin sh: does not end; it was stopped" },
		{ "sh", "exec >&-; exec sleep 1000", NEVER, CLOCK_NS_PER_MS, ERR_TIMEOUT,
		  "credential plugin sh: does not end; it was stopped" },
		{ "no-such-plugin", "", NEVER ", installHint: a hint of the test", LONG_NS,
		  ERR_NOT_FOUND,
		  "credential plugin no-such-plugin: no such program; it has to be installed" },
		{ "sh", "true", "interactiveMode: Always", LONG_NS, ERR_INVALID,
		  "credential plugin sh: interactiveMode is Always, and standard input is not a "
		  "terminal" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct exec_credential c;
		struct err err = ERR_INIT;

		unit_row(rows[i].script);
		assert_int_equal(run(rows[i].command, rows[i].script, rows[i].more,
				     rows[i].limit_ns, &c, &err),
				 -rows[i].code);
		if (rows[i].error != NULL) {
			assert_string_equal(err.text, rows[i].error);
		}
	}
}

/* Standard input of the tests may be a terminal. */
static int set_up(void **state UNUSED)
{
	return freopen("/dev/null", "r", stdin) == NULL ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("credential_plugin", tests, set_up, NULL);
}
