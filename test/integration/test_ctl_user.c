/* Credential plugins, tokens, impersonation and proxies of a kubeconfig, and the flags that replace
 * them, as the server sees them. */
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/quote.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "lib/net/recorder.h"
#include "play/kube_fixture.h"
#include "process/file.h"
#include "scheduler/ctl/ctl.h"
#include "unit/scheduler/ctl/capture.h"

/* --- the command -------------------------------------------------------------------------------*/

static struct kube_fixture f;

static int run(const char *line)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;

	return capture_run(ctl_run, line, &out);
}

static int run_with(const char *path, const char *words)
{
	CLEANUP(xmalloc_freep)
	char *line = xmalloc_printf("headgatectl list pods --for job/x --kubeconfig %s%s%s", path,
				    words[0] == '\0' ? "" : " ", words);

	return run(line);
}

/* A kubeconfig of the fixture's server (cluster NULL) or of another one. */
static char *write_config(const char *cluster, const char *user)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	if (cluster == NULL) {
		strbuf_printf(&text,
			      "clusters: [{name: c, cluster: {server: '%s', "
			      "certificate-authority-data: ",
			      f.config->server);
		base64_encode(strbuf_str(&f.ca.cert), &text);
		strbuf_add_c(&text, "}}]\n");
	} else {
		strbuf_printf(&text, "clusters: [{name: c, cluster: {%s}}]\n", cluster);
	}
	strbuf_printf(&text,
		      "users: [{name: u, user: {%s}}, {name: other, user: {token: other}}]\n"
		      "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
		      "current-context: x\n",
		      user);
	return kube_fixture_write(&f, "token", text.p);
}

/* Writes the plugin: run number N prints ANSWER of N, which is a token's name and what else its
 * status has. */
static char *write_plugin(const char *first, const char *later)
{
	CLEANUP(xmalloc_freep)
	char *text =
		xmalloc_printf("#!/bin/sh\necho run >>%s/errors\n"
			       "case $(wc -l <%s/errors) in 1) s='%s' ;; *) s='%s' ;; esac\n"
			       "printf '%%s\\n' '{\"kind\":\"ExecCredential\",\"apiVersion\":"
			       "\"client.authentication.k8s.io/v1beta1\",\"status\":{'\"$s\"'}}'\n",
			       f.dir, f.dir, first, later);
	char *path = kube_fixture_write(&f, "access", text);

	assert_int_equal(chmod(path, 0700), 0);
	free(kube_fixture_write(&f, "errors", ""));
	return path;
}

static size_t plugin_runs(void)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf("%s/errors", f.dir);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	assert_int_equal(file_read_all(path, 4096, &text, NULL), 0);
	return text.len / strlen("run\n");
}

static char *plugin_config(void)
{
	return write_config(NULL, "exec: {apiVersion: client.authentication.k8s.io/v1beta1, "
				  "command: ./access}");
}

/* --- plugins -----------------------------------------------------------------------------------*/

static void test_plugin_gives_the_token(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *plugin = write_plugin("\"token\":\"good\"", "");
	CLEANUP(xmalloc_freep) char *path = plugin_config();

	assert_int_equal(run_with(path, ""), 0);
	assert_int_equal(plugin_runs(), 1);
	/* the flag is instead of the plugin */
	assert_int_equal(run_with(path, "--token good"), 0);
	assert_int_equal(run_with(path, "--token bad"), 1);
	assert_int_equal(plugin_runs(), 1);
	assert_int_equal(run_with(path, "--user other"), 1);
	assert_int_equal(plugin_runs(), 1);
}

static void test_rejected_token_is_renewed(void **state UNUSED)
{
	CLEANUP(xmalloc_freep)
	char *plugin = write_plugin("\"token\":\"bad\"", "\"token\":\"good\"");
	CLEANUP(xmalloc_freep) char *path = plugin_config();

	assert_int_equal(run_with(path, ""), 0);
	assert_int_equal(plugin_runs(), 2);
}

static void test_rejected_twice(void **state UNUSED)
{
	CLEANUP(xmalloc_freep)
	char *plugin = write_plugin("\"token\":\"bad\"", "\"token\":\"worse\"");
	CLEANUP(xmalloc_freep) char *path = plugin_config();

	assert_int_equal(run_with(path, ""), 1);
	assert_int_equal(plugin_runs(), 2);
}

static void test_expired_token_is_renewed(void **state UNUSED)
{
	CLEANUP(xmalloc_freep)
	char *plugin =
		write_plugin("\"token\":\"bad\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"",
			     "\"token\":\"good\"");
	CLEANUP(xmalloc_freep) char *path = plugin_config();

	assert_int_equal(run_with(path, ""), 0);
	assert_int_equal(plugin_runs(), 2); /* before the first request */
}

/* --- impersonation -----------------------------------------------------------------------------*/

static void test_impersonation(void **state UNUSED)
{
	struct recorder rec;
	CLEANUP(xmalloc_freep) char *cluster = NULL;
	CLEANUP(xmalloc_freep) char *path = NULL;

	recorder_start(&rec, RECORDER_EMPTY_LIST, NULL);
	cluster = xmalloc_printf("server: 'http://127.0.0.1:%d'", rec.port);
	path = write_config(cluster, "token: x, as: bob, as-groups: [dev, ops], as-uid: '7', "
				     "as-user-extra: {scopes: [view]}");
	assert_int_equal(run_with(path, ""), 0);
	recorder_expect(&rec, "Authorization: Bearer x\r\n", true);
	recorder_expect(&rec, "Impersonate-User: bob\r\n", true);
	recorder_expect(&rec, "Impersonate-Group: dev\r\nImpersonate-Group: ops\r\n", true);
	recorder_expect(&rec, "Impersonate-Uid: 7\r\n", true);
	recorder_expect(&rec, "Impersonate-Extra-scopes: view\r\n", true);
	recorder_forget(&rec);
	assert_int_equal(run_with(path, "--user other --as eve --as-group a --as-group b "
					"--as-uid 9"),
			 0);
	recorder_expect(&rec, "Authorization: Bearer other\r\n", true);
	recorder_expect(&rec, "Impersonate-User: eve\r\n", true);
	recorder_expect(&rec, "Impersonate-Group: a\r\nImpersonate-Group: b\r\n", true);
	recorder_expect(&rec, "Impersonate-Uid: 9\r\n", true);
	recorder_expect(&rec, "bob", false);
	recorder_forget(&rec);
	assert_int_equal(run_with(path, "--user other --as-group a"), 1); /* of which user? */
	recorder_expect(&rec, "GET", false);
	recorder_stop(&rec);
}

/* --- proxies -----------------------------------------------------------------------------------*/

static void test_proxy_of_the_kubeconfig(void **state UNUSED)
{
	struct recorder rec;
	CLEANUP(xmalloc_freep) char *plain = NULL;
	CLEANUP(xmalloc_freep) char *tunnel = NULL;
	CLEANUP(xmalloc_freep) char *path = NULL;

	recorder_start(&rec, RECORDER_EMPTY_LIST, NULL);
	setenv("NO_PROXY", "*", 1); /* is about the environment's proxy */
	plain = xmalloc_printf("server: 'http://cluster.invalid', proxy-url: "
			       "'http://127.0.0.1:%d'",
			       rec.port);
	path = write_config(plain, "token: x");
	assert_int_equal(run_with(path, ""), 0);
	recorder_expect(&rec, "GET http://cluster.invalid/api/v1/namespaces/default/pods", true);
	rec.answer = RECORDER_NO_TUNNEL;
	recorder_forget(&rec);
	tunnel = xmalloc_printf("server: 'https://127.0.0.1:1', proxy-url: 'http://127.0.0.1:%d'",
				rec.port);
	free(write_config(tunnel, "token: x, as: bob"));
	assert_int_equal(run_with(path, ""), 1);
	/* the proxy does not see the headers for the server */
	recorder_expect(&rec, "CONNECT 127.0.0.1:1 HTTP/1.1\r\n", true);
	recorder_expect(&rec, "Bearer", false);
	recorder_expect(&rec, "Impersonate", false);
	unsetenv("NO_PROXY");
	recorder_stop(&rec);
}

static void test_proxy_of_the_environment(void **state UNUSED)
{
	struct recorder rec;
	CLEANUP(xmalloc_freep) char *url = NULL;
	CLEANUP(xmalloc_freep)
	char *path = write_config("server: 'https://cluster.invalid'", "token: x");

	recorder_start(&rec, RECORDER_NO_TUNNEL, NULL);
	url = xmalloc_printf("http://127.0.0.1:%d", rec.port);
	setenv("HTTPS_PROXY", url, 1);
	assert_int_equal(run_with(path, ""), 1);
	recorder_expect(&rec, "CONNECT cluster.invalid:443 HTTP/1.1\r\n", true);
	recorder_forget(&rec);
	setenv("NO_PROXY", "other,cluster.invalid", 1);
	assert_int_equal(run_with(path, ""), 1);
	recorder_expect(&rec, "CONNECT", false);
	unsetenv("NO_PROXY");
	unsetenv("HTTPS_PROXY");
	recorder_stop(&rec);
}

/* The proxy resolves the server's name, and sees nothing of what is sent through it but bytes. */
static void test_socks5_proxy(void **state UNUSED)
{
	struct recorder rec;
	CLEANUP(xmalloc_freep) char *cluster = NULL;
	CLEANUP(xmalloc_freep) char *path = NULL;

	recorder_start(&rec, RECORDER_EMPTY_LIST, &(struct recorder_options){ .socks5 = true });
	cluster = xmalloc_printf("server: 'http://cluster.invalid:81', proxy-url: "
				 "'socks5://127.0.0.1:%d'",
				 rec.port);
	path = write_config(cluster, "token: x");
	assert_int_equal(run_with(path, ""), 0);
	recorder_expect(&rec, "SOCKS5 cluster.invalid:81\r\nGET /api/v1/namespaces/default/pods",
			true);
	recorder_stop(&rec);
}

/* The proxy's certificate is checked against the authority of the cluster. */
static void test_https_proxy(void **state UNUSED)
{
	struct recorder rec;
	const struct recorder_options opt = { .cert = &f.leaf };
	CLEANUP(strbuf_finish) struct strbuf cluster = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *path = NULL;

	recorder_start(&rec, RECORDER_EMPTY_LIST, &opt);
	strbuf_printf(&cluster,
		      "server: 'http://cluster.invalid', proxy-url: 'https://localhost:%d'",
		      rec.port);
	path = write_config(cluster.p, "token: x");
	assert_int_equal(run_with(path, ""), 1); /* of an authority that nothing trusts */
	recorder_expect(&rec, "GET", false);
	strbuf_add_c(&cluster, ", certificate-authority-data: ");
	base64_encode(strbuf_str(&f.ca.cert), &cluster);
	free(write_config(cluster.p, "token: x"));
	assert_int_equal(run_with(path, ""), 0);
	recorder_expect(&rec, "GET http://cluster.invalid/api/v1/namespaces/default/pods", true);
	recorder_stop(&rec);
}

/* --- certificates of clients -------------------------------------------------------------------*/

static void add_json_text(const char *name, const struct strbuf *pem, struct strbuf *out)
{
	strbuf_printf(out, ",\"%s\":", name);
	quote_json(out, strbuf_str(pem));
}

/* The plugin's certificate comes from another authority than the server's, so that no other one can
 * stand in for it. */
static void test_plugin_gives_a_certificate(void **state UNUSED)
{
	struct recorder rec;
	struct pair authority, client;
	const struct recorder_options opt = { .cert = &f.leaf, .client_ca = &authority };
	CLEANUP(strbuf_finish) struct strbuf answer = STRBUF_INIT, cluster = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *plugin = NULL;
	CLEANUP(xmalloc_freep) char *path = NULL;

	recorder_make_client("jane", &authority, &client);
	recorder_start(&rec, RECORDER_EMPTY_LIST, &opt);
	strbuf_add_c(&answer, "\"expirationTimestamp\":\"2199-01-01T00:00:00Z\"");
	add_json_text("clientCertificateData", &client.cert, &answer);
	add_json_text("clientKeyData", &client.key, &answer);
	plugin = write_plugin(answer.p, "");
	strbuf_printf(&cluster,
		      "server: 'https://localhost:%d', certificate-authority-data: ", rec.port);
	base64_encode(strbuf_str(&f.ca.cert), &cluster);
	path = write_config(cluster.p, "exec: {apiVersion: client.authentication.k8s.io/v1beta1, "
				       "command: ./access}");
	assert_int_equal(run_with(path, ""), 0);
	recorder_expect(&rec, "CLIENT jane\r\nGET /api/v1/namespaces/default/pods", true);
	recorder_forget(&rec);
	assert_int_equal(run_with(path, "--token good"), 1); /* no plugin, no certificate */
	recorder_expect(&rec, "GET", false);
	recorder_stop(&rec);
	pair_finish(&authority);
	pair_finish(&client);
}

/* --- other flags -------------------------------------------------------------------------------*/

static void test_certificate_is_not_checked(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *cluster = xmalloc_printf("server: '%s'", f.config->server);
	CLEANUP(xmalloc_freep) char *path = write_config(cluster, "token: good");

	assert_int_equal(run_with(path, ""), 1);
	assert_int_equal(run_with(path, "--insecure-skip-tls-verify"), 0);
}

static void test_request_timeout(void **state UNUSED)
{
	CLEANUP(xmalloc_freep) char *path = write_config(NULL, "token: good");

	kube_fixture_faults(&f, "- {fault: delay, delayMs: 200000, path: /api}");
	assert_int_equal(run_with(path, "--request-timeout 10ms"), 1);
	kube_fixture_faults(&f, "[]");
	assert_int_equal(run_with(path, "--request-timeout 0"), 0);
}

static int set_up(void **state UNUSED)
{
	unsetenv("KUBECONFIG");
	kube_fixture_start(&f, "good", false);
	return 0;
}

static int tear_down(void **state UNUSED)
{
	kube_fixture_stop(&f);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plugin_gives_the_token),
		cmocka_unit_test(test_rejected_token_is_renewed),
		cmocka_unit_test(test_rejected_twice),
		cmocka_unit_test(test_expired_token_is_renewed),
		cmocka_unit_test(test_impersonation),
		cmocka_unit_test(test_proxy_of_the_kubeconfig),
		cmocka_unit_test(test_proxy_of_the_environment),
		cmocka_unit_test(test_socks5_proxy),
		cmocka_unit_test(test_https_proxy),
		cmocka_unit_test(test_plugin_gives_a_certificate),
		cmocka_unit_test(test_certificate_is_not_checked),
		cmocka_unit_test(test_request_timeout),
	};

	return cmocka_run_group_tests_name("ctl_user", tests, set_up, tear_down);
}
