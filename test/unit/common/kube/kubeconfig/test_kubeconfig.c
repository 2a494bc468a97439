#include "kube/kubeconfig/kubeconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "process/file.h"

#define CLUSTERS(body) "clusters:\n- name: c\n  cluster: {" body "}\n"
#define USERS(body) "users:\n- name: u\n  user: {" body "}\n"
#define CONTEXTS(body) "contexts:\n- name: x\n  context: {" body "}\ncurrent-context: x\n"
#define WITH_USER(body)                                                                            \
	CLUSTERS("server: 'https://h:1'") USERS(body) CONTEXTS("cluster: c, user: u")
#define WITH_CLUSTER(body) CLUSTERS(body) CONTEXTS("cluster: c")

static char dir[64]; /* a folder of the test's own */

static int parse(const char *text, struct kubeconfig **ret, struct err *err)
{
	return kubeconfig_parse(str_of(text), "/etc/kube", NULL, ret, err);
}

static int load(const char *path, const char *server, struct kubeconfig **ret, struct err *err)
{
	const struct kubeconfig_options opt = { .path = path, .server = server };

	return kubeconfig_load(&opt, ret, err);
}

static void test_certificates_as_files(void **state)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	(void)state;

	assert_int_equal(
		parse(CLUSTERS("server: 'https://h:6443/', certificate-authority: pki/ca.crt, "
			       "tls-server-name: other")
			      USERS("client-certificate: /abs/c.crt, client-key: c.key")
				      CONTEXTS("cluster: c, user: u, namespace: team"),
		      &c, NULL),
		0);
	assert_string_equal(c->server, "https://h:6443");
	assert_string_equal(c->namespace_, "team");
	assert_string_equal(c->tls.ca_file, "/etc/kube/pki/ca.crt");
	assert_string_equal(c->tls.cert_file, "/abs/c.crt");
	assert_string_equal(c->tls.key_file, "/etc/kube/c.key");
	assert_string_equal(c->tls.server_name, "other");
	assert_null(c->tls.ca_pem.p);
	assert_false(c->tls.insecure_skip_verify);
	assert_null(c->token);
	assert_null(c->token_file);
}

static void test_inline_data_wins(void **state)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	(void)state;

	assert_int_equal(
		parse(CLUSTERS("server: 'https://h', certificate-authority: ca.crt, "
			       "certificate-authority-data: Q0E=, insecure-skip-tls-verify: true")
			      USERS("client-certificate-data: Q1JU, client-key-data: S0VZ, token: "
				    "abc, tokenFile: tok") CONTEXTS("cluster: c, user: u"),
		      &c, NULL),
		0);
	assert_true(str_eq_c(c->tls.ca_pem, "CA"));
	assert_true(str_eq_c(c->tls.cert_pem, "CRT"));
	assert_true(str_eq_c(c->tls.key_pem, "KEY"));
	assert_null(c->tls.ca_file);
	assert_true(c->tls.insecure_skip_verify);
	assert_string_equal(c->namespace_, "default");
	assert_string_equal(c->token, "abc");
	assert_string_equal(c->token_file, "/etc/kube/tok");
}

/* Given credentials replace all of their kind, whether those are files or data. */
static void test_given_credentials_replace(void **state)
{
	static const char *const users[] = {
		"client-certificate: c.crt, client-key: c.key, token: t, tokenFile: f",
		"client-certificate-data: Q1JU, client-key-data: S0VZ, tokenFile: f",
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(users); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf(CLUSTERS("server: 'https://h'") USERS("%s")
						    CONTEXTS("cluster: c, user: u"),
					    users[i]);
		CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
		bool files = i == 0;

		unit_row(users[i]);
		assert_int_equal(parse(text, &c, NULL), 0);
		kubeconfig_set_credential(c, "given", NULL, NULL);
		assert_string_equal(c->token, "given");
		assert_null(c->token_file);
		assert_int_equal(c->tls.cert_file != NULL, files);
		assert_int_equal(c->tls.key_file != NULL, files);
		assert_int_equal(c->tls.cert_pem.p != NULL, !files);
		assert_int_equal(c->tls.key_pem.p != NULL, !files);
		kubeconfig_set_credential(c, NULL, "cert", "key");
		assert_null(c->token);
		assert_null(c->token_file);
		assert_null(c->tls.cert_file);
		assert_null(c->tls.key_file);
		assert_true(str_eq_c(c->tls.cert_pem, "cert"));
		assert_true(str_eq_c(c->tls.key_pem, "key"));
	}
}

static void test_context_is_chosen(void **state)
{
	static const char text[] =
		"{\"clusters\":[{\"name\":\"a\",\"cluster\":{\"server\":\"https://"
		"a\"}},{\"name\":\"b\","
		"\"cluster\":{\"server\":\"http://b:8001\"}}],\"contexts\":[{\"name\":\"one\","
		"\"context\":{\"cluster\":\"a\"}},{\"name\":\"two\",\"context\":{\"cluster\":\"b\"}"
		"}],"
		"\"current-context\":\"one\"}";
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *one = NULL, *two = NULL;
	(void)state;

	assert_int_equal(kubeconfig_parse(str_of(text), NULL, NULL, &one, NULL), 0);
	assert_string_equal(one->server, "https://a");
	assert_int_equal(kubeconfig_parse(str_of(text), NULL,
					  &(struct kubeconfig_options){ .context = "two" }, &two,
					  NULL),
			 0);
	assert_string_equal(two->server, "http://b:8001");
}

static void test_errors_name_the_path(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "not a mapping" },
		{ "- a", "not a mapping" },
		{ "clusters: []", "current-context: missing" },
		{ "current-context: 5", "current-context: not a string" },
		{ "current-context: x", "contexts: no entry named \"x\"" },
		{ CONTEXTS("user: u"), "context x: cluster: missing" },
		{ CONTEXTS("cluster: c"), "context x: clusters: no entry named \"c\"" },
		{ WITH_CLUSTER(""), "context x: clusters[c].cluster.server: missing" },
		{ WITH_CLUSTER("server: [1]"),
		  "context x: clusters[c].cluster.server: not a string" },
		{ WITH_CLUSTER("server: 'ftp://x'"),
		  "context x: clusters[c].cluster.server: not an http or https URL: \"ftp://x\"" },
		{ WITH_CLUSTER("server: 'https://'"),
		  "context x: clusters[c].cluster.server: not an http or https URL: \"https://\"" },
		{ WITH_CLUSTER("server: 'https://h', proxy-url: 'ftp://p'"),
		  "context x: clusters[c].cluster.proxy-url: not an http, https or socks5 URL: "
		  "\"ftp://p\"" },
		{ WITH_CLUSTER("server: 'https://h', proxy-url: 'http://'"),
		  "context x: clusters[c].cluster.proxy-url: not an http, https or socks5 URL: "
		  "\"http://\"" },
		{ WITH_CLUSTER("server: 'https://h', insecure-skip-tls-verify: 'true'"),
		  "context x: clusters[c].cluster.insecure-skip-tls-verify: neither true nor "
		  "false" },
		{ "clusters: [{name: c, cluster: [a]}]\n" CONTEXTS("cluster: c"),
		  "context x: clusters[c].cluster: not a mapping" },
		{ "clusters: [{name: c}, {name: c}]\n" CONTEXTS("cluster: c"),
		  "context x: clusters: two entries named \"c\"" },
		{ CLUSTERS("server: 'https://h'") CONTEXTS("cluster: c, user: u"),
		  "context x: users: no entry named \"u\"" },
		{ WITH_USER("exec: {command: aws}"),
		  "context x: users[u].user.exec: credential plugins are run by headgatectl alone; "
		  "use a token, a tokenFile or a certificate" },
		{ WITH_USER("auth-provider: {name: gcp}"),
		  "context x: users[u].user.auth-provider: \"gcp\": Kubernetes 1.26 removed auth "
		  "providers; use a credential plugin (exec), a token or a certificate" },
		{ WITH_USER("username: a, password: b"),
		  "context x: users[u].user.username: basic authentication is not supported "
		  "(Kubernetes dropped it in 1.19)" },
		{ WITH_USER("token: 5"), "context x: users[u].user.token: not a string" },
	};
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubeconfig *c = NULL;
		struct err err = ERR_INIT;

		unit_row(rows[i].text);
		assert_int_equal(parse(rows[i].text, &c, &err), -ERR_INVALID);
		assert_string_equal(err.text, rows[i].error);
		assert_null(c);
	}
}

/* Every value is a text; a number is refused by the name of its key, not passed over. */
static void test_values_that_are_no_texts(void **state)
{
	static const char *const of_cluster[] = { "certificate-authority",
						  "certificate-authority-data", "tls-server-name" };
	static const char *const of_user[] = {
		"token",      "tokenFile",      "client-certificate", "client-certificate-data",
		"client-key", "client-key-data"
	};
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(of_cluster) + ARRAY_LEN(of_user); i++) {
		bool user = i >= ARRAY_LEN(of_cluster);
		const char *key = user ? of_user[i - ARRAY_LEN(of_cluster)] : of_cluster[i];
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf(user ? WITH_USER("%s: 1")
						 : WITH_CLUSTER("server: 'https://h', %s: 1"),
					    key);
		struct err err = ERR_INIT;

		print_message("%s\n", key);
		assert_int_equal(parse(text, &c, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, key));
		assert_null(c);
	}
}

static void test_broken_base64(void **state)
{
	struct kubeconfig *c = NULL;
	struct err err = ERR_INIT;
	static const char prefix[] = "context x: users[u].user.client-key-data: ";
	(void)state;

	assert_int_equal(parse(WITH_USER("client-key-data: '*'"), &c, &err), -ERR_INVALID);
	assert_int_equal(strncmp(err.text, prefix, sizeof(prefix) - 1), 0);
}

static void test_size_limit(void **state)
{
	static const char head[] = WITH_CLUSTER("server: 'https://h'") "#";
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct kubeconfig *c = NULL;
	(void)state;

	strbuf_add_c(&b, head);
	while (b.len < KUBECONFIG_MAX_BYTES) {
		strbuf_add_ch(&b, 'x');
	}
	assert_int_equal(kubeconfig_parse(strbuf_str(&b), NULL, NULL, &c, NULL), 0);
	kubeconfig_destroyp(&c);
	strbuf_add_ch(&b, 'x');
	assert_int_equal(kubeconfig_parse(strbuf_str(&b), NULL, NULL, &c, NULL), -ERR_INVALID);
}

static char *write_file(const char *name, const char *text)
{
	char *path = xmalloc_printf("%s/%s", dir, name);

	assert_int_equal(file_write_atomic(path, str_of(text), 0600, NULL), 0);
	return path;
}

static void test_load_a_file(void **state)
{
	CLEANUP(xmalloc_freep)
	char *path = write_file("config", CLUSTERS("server: 'https://h', certificate-authority: ca")
						  CONTEXTS("cluster: c"));
	CLEANUP(xmalloc_freep) char *broken = write_file("broken", "current-context: z");
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	CLEANUP(xmalloc_freep) char *ca = xmalloc_printf("%s/ca", dir);
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("kubeconfig %s: contexts: no entry named \"z\"", broken);
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(load(path, "", &c, NULL), 0);
	assert_string_equal(c->server, "https://h");
	assert_string_equal(c->tls.ca_file, ca);
	kubeconfig_destroyp(&c);
	assert_int_equal(load(path, "https://master:1/", &c, NULL), 0);
	assert_string_equal(c->server, "https://master:1");
	kubeconfig_destroyp(&c);
	assert_int_equal(load(broken, NULL, &c, &err), -ERR_INVALID);
	assert_string_equal(err.text, text);
	assert_true(load("/nonexistent", "https://m", &c, &err) < 0);
	assert_non_null(strstr(err.text, "/nonexistent"));
	assert_int_equal(load(path, "master", &c, &err), -ERR_INVALID);
	assert_null(c);
}

static void test_default_places(void **state)
{
	CLEANUP(xmalloc_freep) char *home = xmalloc_printf("%s/.kube", dir);
	CLEANUP(xmalloc_freep) char *in_env = NULL, *in_home = NULL, *list = NULL;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	(void)state;

	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBECONFIG");
	setenv("HOME", dir, 1);
	/* nothing anywhere, unless an address is given */
	assert_int_equal(load(NULL, NULL, &c, NULL), -ERR_NOT_FOUND);
	assert_int_equal(load("", "http://localhost:8001", &c, NULL), 0);
	assert_string_equal(c->server, "http://localhost:8001");
	kubeconfig_destroyp(&c);

	assert_int_equal(file_make_dirs(home, NULL), 0);
	in_home = write_file(".kube/config", WITH_CLUSTER("server: 'https://home'"));
	assert_int_equal(load(NULL, NULL, &c, NULL), 0);
	assert_string_equal(c->server, "https://home");
	kubeconfig_destroyp(&c);

	in_env = write_file("env", WITH_CLUSTER("server: 'https://env'"));
	list = xmalloc_printf("/nonexistent::%s", in_env);
	setenv("KUBECONFIG", list, 1);
	assert_int_equal(load(NULL, NULL, &c, NULL), 0);
	assert_string_equal(c->server, "https://env");
	kubeconfig_destroyp(&c);
	setenv("KUBECONFIG", "/nonexistent", 1);
	assert_int_equal(load(NULL, NULL, &c, NULL), -ERR_NOT_FOUND);
	unsetenv("KUBECONFIG");
}

static void test_service_account(void **state)
{
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL, *v6 = NULL;
	CLEANUP(xmalloc_freep) char *token = NULL, *ns = NULL, *ca = NULL;
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(kubeconfig_of_account("/nonexistent", "h", "1", &c, &err), -ERR_NOT_FOUND);
	assert_string_equal(err.text, "in-cluster configuration: cannot read /nonexistent/token");
	token = write_file("token", "secret\n");
	ns = write_file("namespace", "team\n");
	ca = xmalloc_printf("%s/ca.crt", dir);
	assert_int_equal(kubeconfig_of_account(dir, "10.0.0.1", "443", &c, NULL), 0);
	assert_string_equal(c->server, "https://10.0.0.1:443");
	assert_string_equal(c->namespace_, "team");
	assert_string_equal(c->token_file, token);
	assert_string_equal(c->tls.ca_file, ca);
	assert_int_equal(kubeconfig_of_account(dir, "fd00::1", "443", &v6, NULL), 0);
	assert_string_equal(v6->server, "https://[fd00::1]:443");

	unsetenv("KUBERNETES_SERVICE_HOST");
	kubeconfig_destroyp(&c);
	assert_int_equal(kubeconfig_in_cluster(&c, NULL), -ERR_NOT_FOUND);
}

static void test_files_count_as_one(void **state)
{
	CLEANUP(xmalloc_freep)
	char *one = write_file("one", "contexts:\n- name: x\n  context: {cluster: c, user: u}\n"
				      "users:\n- name: u\n  user: {token: first}\n");
	CLEANUP(xmalloc_freep)
	char *two = write_file("two", CLUSTERS("server: 'https://h', certificate-authority: ca")
					      USERS("token: second") CONTEXTS("cluster: other"));
	CLEANUP(xmalloc_freep) char *list = xmalloc_printf("%s:/nonexistent:%s", one, two);
	CLEANUP(xmalloc_freep) char *ca = xmalloc_printf("%s/ca", dir);
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("kubeconfig %s: contexts: no entry named \"y\"", list);
	struct err err = ERR_INIT;
	(void)state;

	setenv("KUBECONFIG", list, 1);
	assert_int_equal(load(NULL, NULL, &c, NULL), 0);
	assert_string_equal(c->server, "https://h");
	assert_string_equal(c->tls.ca_file, ca);
	assert_string_equal(c->token, "first");
	kubeconfig_destroyp(&c);
	assert_int_equal(kubeconfig_load(&(struct kubeconfig_options){ .context = "y" }, &c, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, text);
	unsetenv("KUBECONFIG");
}

/* A file of the list that is there and cannot be read ends it, wherever it stands. */
static void test_a_broken_file_of_the_list(void **state)
{
	CLEANUP(xmalloc_freep)
	char *good = write_file("one", CLUSTERS("server: 'https://h'") CONTEXTS("cluster: c"));
	CLEANUP(xmalloc_freep) char *broken = write_file("two", "clusters: [\n");
	(void)state;

	for (int first = 0; first < 2; first++) {
		CLEANUP(xmalloc_freep)
		char *list = xmalloc_printf("%s:%s", first ? broken : good, first ? good : broken);
		CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
		struct err err = ERR_INIT;

		setenv("KUBECONFIG", list, 1);
		assert_int_equal(load(NULL, NULL, &c, &err), -ERR_INVALID);
		assert_non_null(strstr(err.text, broken));
		assert_null(c);
	}
	unsetenv("KUBECONFIG");
}

/* As flags of headgatectl replace it. */
static void test_options_replace(void **state)
{
	static const char text[] =
		CLUSTERS("server: 'https://h'") USERS("client-certificate: c, client-key: k")
			CONTEXTS("cluster: c, user: u, namespace: team");
	const struct kubeconfig_options token = { .token = "t",
						  .server = "https://s/",
						  .insecure_skip_verify = true };
	const struct kubeconfig_options bare = { .cluster = "c", .user = "u" };
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL, *d = NULL;
	struct err err = ERR_INIT;
	(void)state;

	assert_int_equal(kubeconfig_parse(str_of(text), NULL, &token, &c, NULL), 0);
	assert_string_equal(c->token, "t");
	assert_null(c->tls.cert_file); /* the server would go by the certificate */
	assert_string_equal(c->server, "https://s");
	assert_true(c->tls.insecure_skip_verify);
	assert_string_equal(c->namespace_, "team");
	kubeconfig_destroyp(&c);
	/* without a context */
	assert_int_equal(
		kubeconfig_parse(STR_LIT(CLUSTERS("server: 'https://h'") USERS("token: t")), NULL,
				 &bare, &c, NULL),
		0);
	assert_string_equal(c->token, "t");
	assert_string_equal(c->namespace_, "default");
	assert_int_equal(kubeconfig_parse(str_of(text), NULL,
					  &(struct kubeconfig_options){ .user = "z" }, &d, &err),
			 -ERR_INVALID);
	assert_string_equal(err.text, "context x: users: no entry named \"z\"");
}

static void test_proxy(void **state)
{
	static const char *const urls[] = { "http://p:1", "https://u:p@p", "socks5://p:1080" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf(CLUSTERS("server: 'https://h', proxy-url: '%s'")
						    CONTEXTS("cluster: c"),
					    urls[i]);

		unit_row(urls[i]);
		assert_int_equal(parse(text, &c, NULL), 0);
		assert_string_equal(c->proxy_url, urls[i]);
	}
}

static void test_members_without_effect(void **state)
{
	static const char *const warnings[] = {
		"colors: unknown, it has no effect",
		"context.tenant: unknown, it has no effect",
		"clusters[c].cluster.proxy: unknown, it has no effect",
		"users[u].user.impersonate: unknown, it has no effect",
	};
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	(void)state;

	assert_int_equal(
		parse("apiVersion: v1\nkind: Config\npreferences: {}\ncolors: true\n" CLUSTERS(
			      "server: 'https://h', proxy: p, disable-compression: true, "
			      "extensions: [{name: minikube}]") USERS("impersonate: bob")
			      CONTEXTS("cluster: c, user: u, tenant: t, extensions: []"),
		      &c, NULL),
		0);
	assert_int_equal(c->warnings.n, ARRAY_LEN(warnings));
	for (size_t i = 0; i < ARRAY_LEN(warnings); i++) {
		unit_row_number(i);
		assert_string_equal(c->warnings.v[i], warnings[i]);
	}
}

/* As in a container of a pod; this test runs in none, so the files of the account are missing. */
static void test_in_cluster(void **state)
{
	static const struct {
		const char *host, *port;
		const char *error;
	} rows[] = {
		{ "", "443", "KUBERNETES_SERVICE_HOST and _PORT are not set" },
		{ "10.0.0.1", "", "KUBERNETES_SERVICE_HOST and _PORT are not set" },
		{ "10.0.0.1", "443",
		  "cannot read /var/run/secrets/kubernetes.io/serviceaccount/token" },
	};
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;

	(void)state;
	unsetenv("KUBECONFIG");
	setenv("HOME", "/nonexistent", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *want = xmalloc_printf("in-cluster configuration: %s", rows[i].error);
		struct err err = ERR_INIT;

		unit_row(rows[i].host);
		setenv("KUBERNETES_SERVICE_HOST", rows[i].host, 1);
		setenv("KUBERNETES_SERVICE_PORT", rows[i].port, 1);
		assert_int_equal(kubeconfig_in_cluster(&c, &err), -ERR_NOT_FOUND);
		assert_string_equal(err.text, want);
	}
	/* Without a file or an address, loading is by the pod's own account. */
	assert_int_equal(load(NULL, NULL, &c, NULL), -ERR_NOT_FOUND);
	unsetenv("KUBERNETES_SERVICE_HOST");
	unsetenv("KUBERNETES_SERVICE_PORT");
}

static struct kubeconfig *of_members(const char *cluster, const char *user)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("clusters: [{name: c, cluster: {%s}}]\n"
				    "users: [{name: u, user: {%s}}]\n"
				    "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
				    "current-context: x\n",
				    cluster, user);
	const struct kubeconfig_options opt = { .runs_plugins = true };
	struct kubeconfig *c = NULL;

	assert_int_equal(kubeconfig_parse(str_of(text), dir, &opt, &c, NULL), 0);
	return c;
}

static void test_equal(void **state)
{
#define SERVER "server: 'https://a'"
	static const struct {
		const char *name, *cluster, *user;
		bool equal;
	} rows[] = {
		{ "the same", SERVER, "token: t", true },
		{ "unknown members", SERVER ", color: red", "token: t", true },
		{ "server", "server: 'https://b'", "token: t", false },
		{ "authority", SERVER ", certificate-authority-data: YQ==", "token: t", false },
		{ "server name", SERVER ", tls-server-name: n", "token: t", false },
		{ "insecure", SERVER ", insecure-skip-tls-verify: true", "token: t", false },
		{ "proxy", SERVER ", proxy-url: 'http://p'", "token: t", false },
		{ "token", SERVER, "token: other", false },
		{ "no token", SERVER, "", false },
		{ "token file", SERVER, "token: t, tokenFile: f", false },
		{ "certificate", SERVER,
		  "token: t, client-certificate-data: YQ==, client-key-data: YQ==", false },
		{ "impersonation", SERVER, "token: t, as: someone", false },
		{ "plugin", SERVER,
		  "exec: {apiVersion: client.authentication.k8s.io/v1, command: c, "
		  "interactiveMode: Never}",
		  false },
	};
	struct kubeconfig *a = of_members(SERVER, "token: t");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct kubeconfig *b = of_members(rows[i].cluster, rows[i].user);

		unit_row(rows[i].name);
		assert_int_equal(kubeconfig_equal(a, b), rows[i].equal);
		assert_int_equal(kubeconfig_equal(b, a), rows[i].equal);
		kubeconfig_destroy(b);
	}
	kubeconfig_destroy(a);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/test_kubeconfig.XXXXXX");
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "config", "broken",    ".kube/config", ".kube", "env",
					     "token",  "namespace", "one",          "two" };
	(void)state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_certificates_as_files),
		cmocka_unit_test(test_inline_data_wins),
		cmocka_unit_test(test_given_credentials_replace),
		cmocka_unit_test(test_context_is_chosen),
		cmocka_unit_test(test_errors_name_the_path),
		cmocka_unit_test(test_values_that_are_no_texts),
		cmocka_unit_test(test_broken_base64),
		cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_load_a_file),
		cmocka_unit_test(test_default_places),
		cmocka_unit_test(test_service_account),
		cmocka_unit_test(test_files_count_as_one),
		cmocka_unit_test(test_a_broken_file_of_the_list),
		cmocka_unit_test(test_options_replace),
		cmocka_unit_test(test_proxy),
		cmocka_unit_test(test_members_without_effect),
		cmocka_unit_test(test_in_cluster),
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests_name("kubeconfig", tests, set_up, tear_down);
}
