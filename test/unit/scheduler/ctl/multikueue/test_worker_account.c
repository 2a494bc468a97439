#include "scheduler/ctl/multikueue/worker_account.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "scheduler/multikueue/worker_config.h"

static void the_objects_of_the_worker(void **state UNUSED)
{
	static const struct {
		const char *kind, *path;
	} rows[WORKER_ACCOUNT_OBJECTS] = {
		{ "Namespace", "/api/v1/namespaces/true" },
		{ "ServiceAccount", "/api/v1/namespaces/true/serviceaccounts/headgate-multikueue" },
		{ "ClusterRole",
		  "/apis/rbac.authorization.k8s.io/v1/clusterroles/headgate-multikueue" },
		{ "ClusterRoleBinding",
		  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/headgate-multikueue" },
		{ "Secret", "/api/v1/namespaces/true/secrets/headgate-multikueue" },
	};
	CLEANUP(worker_account_finish) struct worker_account a = { 0 };
	CLEANUP(worker_role_destroyp)
	struct worker_role *role = worker_role_create(WORKER_ROLE_ORCHESTRATOR);

	/* A namespace may have a name that YAML takes for something else. */
	worker_account_init(&a, role, "true");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

		unit_row(rows[i].kind);
		worker_account_path(&a.v[i], &path);
		assert_string_equal(path.p, rows[i].path);
		assert_string_equal(a.v[i].kind, rows[i].kind);
		assert_string_equal(jdoc_path_str(a.v[i].json, "kind"), rows[i].kind);
		assert_string_equal(jdoc_path_str(a.v[i].json, "metadata.name"), a.v[i].name);
		if (a.v[i].namespace_ != NULL) {
			assert_string_equal(jdoc_path_str(a.v[i].json, "metadata.namespace"),
					    "true");
		}
	}
	assert_int_equal(jdoc_count(jdoc_get(a.v[2].json, "rules")), 7);
	assert_string_equal(
		jdoc_path_str(jdoc_first(jdoc_get(a.v[3].json, "subjects")), "namespace"), "true");
	assert_string_equal(jdoc_path_str(a.v[WORKER_ACCOUNT_TOKEN].json, "type"),
			    "kubernetes.io/service-account-token");
}

static const struct worker_account_access access = {
	.cluster = "worker1",
	.server = "https://10.0.0.1:6443",
	.server_name = "kubernetes",
	.ca = STR_LIT("-----BEGIN CERTIFICATE-----\n"),
	.token = STR_LIT("secret-token"),
};

/* The manager can read the text that is printed. */
static void the_manifests_for_the_manager(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT, text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *docs = NULL;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	const struct jdoc *secret, *cluster;
	const char *reason;
	struct err err = ERR_INIT;

	assert_int_equal(worker_account_manifests(&access, "headgate-system", &out, &err), 0);
	assert_int_equal(yaml_parse_all(strbuf_str(&out), &docs, &err), 0);
	assert_int_equal(jdoc_count(docs), 2);
	secret = jdoc_at(docs, 0);
	cluster = jdoc_at(docs, 1);
	assert_string_equal(jdoc_path_str(secret, "metadata.namespace"), "headgate-system");
	assert_string_equal(jdoc_path_str(cluster, "metadata.name"), "worker1");
	assert_string_equal(jdoc_path_str(cluster, "spec.clusterSource.kubeConfig.location"),
			    jdoc_path_str(secret, "metadata.name"));
	assert_string_equal(jdoc_path_str(cluster, "spec.clusterSource.kubeConfig.locationType"),
			    "Secret");
	assert_int_equal(
		base64_decode(str_of(jdoc_path_str(secret, "data.kubeconfig")), &text, &err), 0);
	assert_int_equal(worker_config_parse(strbuf_str(&text), &c, &reason, &err), 0);
	assert_string_equal(c->server, "https://10.0.0.1:6443");
	assert_string_equal(c->token, "secret-token");
	assert_string_equal(c->tls.server_name, "kubernetes");
	assert_true(str_eq(c->tls.ca_pem, access.ca));
}

static void a_server_that_the_manager_would_refuse(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct worker_account_access a = access;
	struct err err = ERR_INIT;

	a.server = "http://10.0.0.1";
	assert_int_equal(worker_account_manifests(&a, "ns", &out, &err), -ERR_INVALID);
	assert_string_equal(err.text, "the manager would refuse the kubeconfig "
				      "(InsecureKubeConfig): server: not https");
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_objects_of_the_worker),
		cmocka_unit_test(the_manifests_for_the_manager),
		cmocka_unit_test(a_server_that_the_manager_would_refuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
