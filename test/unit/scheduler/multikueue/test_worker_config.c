/* Kubeconfigs of workers: each way to reach beyond the text is refused by its member. */
#include "scheduler/multikueue/worker_config.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/kubeconfig/kubeconfig.h"

#define CA "certificate-authority-data: Y2E="
#define SERVER "server: https://w1.example:6443"
#define TOKEN "token: t"

/* Members of the cluster and of the user. */
static void make(const char *cluster, const char *user, struct strbuf *out)
{
	strbuf_printf(out,
		      "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
		      "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
		      "clusters: [{name: k, cluster: {%s}}]\n"
		      "users: [{name: u, user: {%s}}]\n",
		      cluster, user);
}

static void texts(void **state)
{
	static const struct {
		const char *cluster, *user, *reason, *error; /* NULL: it is taken */
	} rows[] = {
		{ SERVER ", " CA, TOKEN, NULL, NULL },
		{ "server: 'https://10.0.0.1', " CA, TOKEN, NULL, NULL },
		{ "server: 'https://[fd00::1]:6443', " CA, TOKEN, NULL, NULL },
		{ SERVER ", " CA, "client-certificate-data: YQ==, client-key-data: YQ==", NULL,
		  NULL },
		{ CA, TOKEN, "BadKubeConfig", "server" },
		{ SERVER ", " CA, "username: a, password: b", "BadKubeConfig",
		  "basic authentication" },
		{ SERVER ", " CA, "auth-provider: {name: x}", "BadKubeConfig", "auth-provider" },
		{ "server: 'http://w1', " CA, TOKEN, "InsecureKubeConfig", "not https" },
		{ "server: 'https://a_b', " CA, TOKEN, "InsecureKubeConfig",
		  "neither a name nor an address" },
		{ SERVER ", insecure-skip-tls-verify: true", TOKEN, "InsecureKubeConfig",
		  "insecure-skip-tls-verify" },
		{ SERVER ", certificate-authority: /ca", TOKEN, "InsecureKubeConfig",
		  "certificate-authority" },
		{ SERVER ", " CA, "tokenFile: /token", "InsecureKubeConfig", "tokenFile" },
		{ SERVER ", " CA, "client-certificate: /crt, client-key-data: YQ==",
		  "InsecureKubeConfig", "client-certificate" },
		{ SERVER ", " CA, "client-certificate-data: YQ==, client-key: /key",
		  "InsecureKubeConfig", "client-key" },
		{ SERVER ", " CA,
		  "exec: {apiVersion: client.authentication.k8s.io/v1, command: c, "
		  "interactiveMode: Never}",
		  "InsecureKubeConfig", "exec" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct err err = ERR_INIT;
		const char *reason;
		int r;

		unit_row(rows[i].cluster);
		make(rows[i].cluster, rows[i].user, &text);
		r = worker_config_parse(strbuf_str(&text), &c, &reason, &err);
		assert_int_equal(r, rows[i].reason == NULL ? 0 : -ERR_INVALID);
		assert_true((c != NULL) == (rows[i].reason == NULL));
		if (rows[i].reason != NULL) {
			assert_string_equal(reason, rows[i].reason);
			unit_row(err.text);
			assert_non_null(strstr(err.text, rows[i].error));
		}
	}
}

static void no_kubeconfig_at_all(void **state)
{
	static const char *const rows[] = { "", "x", "[]", "apiVersion: v1\nkind: Secret\n", "{" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
		struct err err = ERR_INIT;
		const char *reason;

		unit_row(rows[i]);
		assert_int_equal(worker_config_parse(str_of(rows[i]), &c, &reason, &err),
				 -ERR_INVALID);
		assert_string_equal(reason, "BadKubeConfig");
		assert_null(c);
	}
}

static void paths(void **state)
{
	static const struct {
		const char *path, *error; /* NULL: it may be read */
	} rows[] = {
		{ WORKER_CONFIG_ROOT "/east", NULL },
		{ WORKER_CONFIG_ROOT "/team/east.yaml", NULL },
		{ WORKER_CONFIG_ROOT "/..data/east", NULL }, /* as Secrets are mounted */
		{ WORKER_CONFIG_ROOT, "not below" },
		{ WORKER_CONFIG_ROOT "east", "not below" },
		{ WORKER_CONFIG_ROOT "/../east", "component \"..\"" },
		{ WORKER_CONFIG_ROOT "/..", "component \"..\"" },
		{ "/var/run/secrets/token", "not below" },
		{ "etc/multikueue/kubeconfigs/east", "not an absolute path" },
		{ "", "not an absolute path" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		unit_row(rows[i].path);
		assert_int_equal(worker_config_check_path(rows[i].path, WORKER_CONFIG_ROOT, &err),
				 rows[i].error == NULL ? 0 : -ERR_INVALID);
		assert_true(rows[i].error == NULL || strstr(err.text, rows[i].error) != NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(no_kubeconfig_at_all),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
