#include "kube/kubeconfig/exec_credential.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/kubeconfig/kubeconfig.h"

#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" EXEC_CREDENTIAL_V1 "\",\"status\":"

static int parse(const char *text, struct exec_credential *ret, struct err *err)
{
	return exec_credential_parse(str_of(text), EXEC_CREDENTIAL_V1, ret, err);
}

static void test_answers(void **state UNUSED)
{
	struct exec_credential c;

	assert_int_equal(parse(HEAD "{\"token\":\"t\",\"expirationTimestamp\":"
				    "\"2026-01-02T03:04:05Z\",\"other\":1}}\n",
			       &c, NULL),
			 0);
	assert_string_equal(c.token, "t");
	assert_null(c.cert);
	assert_int_equal(c.expires, INT64_C(1767323045) * CLOCK_NS_PER_S);
	exec_credential_finish(&c);
	assert_int_equal(
		parse(HEAD "{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}}", &c, NULL),
		0);
	assert_null(c.token);
	assert_string_equal(c.cert, "C");
	assert_string_equal(c.key, "K");
	assert_true(c.expires == INT64_MAX);
	exec_credential_finish(&c);
}

static void test_errors(void **state UNUSED)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "{}", "the kind is not ExecCredential" },
		{ "{\"kind\":\"ExecCredential\",\"apiVersion\":\"v9\"}",
		  "the apiVersion is \"v9\", and \"" EXEC_CREDENTIAL_V1 "\" in the kubeconfig" },
		{ HEAD "{}}", "status: neither a token nor a certificate" },
		{ HEAD "7}", "status: neither a token nor a certificate" },
		{ HEAD "{\"token\":1}}", "status.token: not a string" },
		{ HEAD "{\"token\":\"a b\"}}", "status.token: has a blank or a control character" },
		{ HEAD "{\"token\":\"a\\r\\nX: y\"}}",
		  "status.token: has a blank or a control character" },
		{ HEAD "{\"clientCertificateData\":\"C\"}}",
		  "status: clientCertificateData and clientKeyData need each other" },
		{ HEAD "{\"token\":\"t\",\"clientKeyData\":\"K\"}}",
		  "status: clientCertificateData and clientKeyData need each other" },
		{ HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}",
		  "status.expirationTimestamp: not a time: \"soon\"" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct exec_credential c;
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(parse(rows[i].text, &c, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
	}
	assert_int_equal(parse("no JSON", &(struct exec_credential){ 0 }, NULL), -ERR_INVALID);
}

static void test_size_limit(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct exec_credential c;

	strbuf_add_c(&b, HEAD "{\"token\":\"t\"}}");
	while (b.len < EXEC_CREDENTIAL_MAX_BYTES) {
		strbuf_add_ch(&b, ' ');
	}
	assert_int_equal(exec_credential_parse(strbuf_str(&b), EXEC_CREDENTIAL_V1, &c, NULL), 0);
	exec_credential_finish(&c);
	strbuf_add_ch(&b, ' ');
	assert_int_equal(exec_credential_parse(strbuf_str(&b), EXEC_CREDENTIAL_V1, &c, NULL),
			 -ERR_INVALID);
}

static void request(const char *cluster, const char *exec, struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	strbuf_printf(&text,
		      "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
		      "clusters: [{name: c, cluster: {%s}}]\n"
		      "users: [{name: u, user: {exec: {command: p, %s}}}]\n",
		      cluster, exec);
	assert_int_equal(kubeconfig_parse(strbuf_str(&text), "/d",
					  &(struct kubeconfig_options){ .runs_plugins = true }, &c,
					  NULL),
			 0);
	strbuf_reset(out);
	assert_int_equal(exec_credential_request(c, true, out, NULL), 0);
}

static void test_request(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;

	request("server: 'https://h'", "apiVersion: " EXEC_CREDENTIAL_V1BETA1, &b);
	assert_string_equal(b.p, "{\"kind\":\"ExecCredential\",\"apiVersion\":\""
				 "client.authentication.k8s.io/v1beta1\",\"spec\":{"
				 "\"interactive\":true}}");
	request("server: 'https://h', certificate-authority-data: UEVN, tls-server-name: n, "
		"insecure-skip-tls-verify: true, proxy-url: 'http://p', extensions: "
		"[{name: a, extension: 1}, {name: client.authentication.k8s.io/exec, extension: "
		"{audience: z}}]",
		"apiVersion: " EXEC_CREDENTIAL_V1 ", interactiveMode: Never, provideClusterInfo: "
		"true",
		&b);
	assert_string_equal(
		b.p, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
		     "v1\",\"spec\":{\"cluster\":{\"server\":\"https://h\",\"tls-server-name\":"
		     "\"n\",\"insecure-skip-tls-verify\":true,\"certificate-authority-data\":"
		     "\"UEVN\",\"proxy-url\":\"http://p\",\"config\":{\"audience\":\"z\"}},"
		     "\"interactive\":true}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_request),
	};

	return cmocka_run_group_tests_name("exec_credential", tests, NULL, NULL);
}
