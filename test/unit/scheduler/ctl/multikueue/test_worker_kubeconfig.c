/* headgatectl multikueue kubeconfig at a worker of its own. */
#include "scheduler/ctl/multikueue/worker_kubeconfig.h"

#include "lib/unit.h"

#include <string.h>

#include "apiserver/apiserver.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/base64.h"
#include "enc/json/jdoc.h"
#include "enc/yaml.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "lib/folder.h"
#include "scheduler/ctl/cli/verb.h"
#include "scheduler/multikueue/worker_config.h"
#include "unit/scheduler/ctl/capture.h"
#include "unit/scheduler/ctl/multikueue/worker_fixture.h"

#define RBAC "rbac.authorization.k8s.io"
#define ACCOUNT "headgate-multikueue"

static struct worker_fixture worker;
static struct folder folder;
static struct strbuf out = STRBUF_INIT;

static int begin(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf config = STRBUF_INIT;

	worker_fixture_start(&worker, false);
	worker_fixture_kubeconfig(&worker, NULL, &config);
	folder_make(&folder);
	folder_write(&folder, "kubeconfig", config.p);
	return 0;
}

static int end(void **state UNUSED)
{
	worker_fixture_stop(&worker);
	folder_remove(&folder);
	strbuf_finish(&out);
	return 0;
}

static int run(const char *words)
{
	CLEANUP(xmalloc_freep)
	char *line = xmalloc_printf("multikueue kubeconfig --kubeconfig=%s/kubeconfig %s",
				    folder.path, words);

	return capture_ctl(line, &out);
}

static void the_account_is_made_and_the_kubeconfig_printed(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *docs = NULL;
	CLEANUP(kubeconfig_destroyp) struct kubeconfig *c = NULL;
	const char *reason;
	struct err err = ERR_INIT;

	assert_int_equal(run("--name worker1"), VERB_OK);
	assert_int_equal(yaml_parse_all(strbuf_str(&out), &docs, &err), 0);
	assert_int_equal(base64_decode(str_of(jdoc_path_str(jdoc_at(docs, 0), "data.kubeconfig")),
				       &text, &err),
			 0);
	assert_int_equal(worker_config_parse(strbuf_str(&text), &c, &reason, &err), 0);
	assert_string_equal(c->token, WORKER_FIXTURE_TOKEN);
	assert_string_equal(c->server, worker.https.base);
	assert_true(str_eq(c->tls.ca_pem, strbuf_str(&worker.https.ca.cert)));
	assert_true(worker_fixture_has(&worker, "", "serviceaccounts", "headgate-system", ACCOUNT,
				       ACCOUNT));
	assert_true(worker_fixture_has(&worker, RBAC, "clusterroles", NULL, ACCOUNT,
				       "workloads/status"));
	assert_false(
		worker_fixture_has(&worker, RBAC, "clusterroles", NULL, ACCOUNT, "\"create\""));
	assert_true(worker_fixture_has(&worker, RBAC, "clusterrolebindings", NULL, ACCOUNT,
				       "headgate-system"));
}

static void the_rights_of_a_manager_replace_those_of_an_orchestrator(void **state UNUSED)
{
	assert_int_equal(run("--name worker1 --for=manager --address https://w1.example.com"),
			 VERB_OK);
	assert_true(worker_fixture_has(&worker, RBAC, "clusterroles", NULL, ACCOUNT, "\"create\""));
	assert_int_equal(run("--name worker1"), VERB_OK);
	assert_false(
		worker_fixture_has(&worker, RBAC, "clusterroles", NULL, ACCOUNT, "\"create\""));
}

static void a_dry_run_changes_nothing(void **state UNUSED)
{
	assert_int_equal(run("--name worker1 --account-namespace elsewhere --dry-run"), VERB_OK);
	assert_non_null(strstr(out.p, "kind: ClusterRole\n"));
	assert_false(worker_fixture_has(&worker, "", "namespaces", NULL, "elsewhere", "elsewhere"));
}

/* Nothing is taken from the chart, or from another tool, by force. */
static void an_object_that_is_made_differently_is_named(void **state UNUSED)
{
	worker_fixture_load(&worker,
			    "{apiVersion: " RBAC "/v1, kind: ClusterRole, metadata: {name: " ACCOUNT
			    "}, rules: []}");
	assert_int_equal(run("--name worker1"), VERB_FAILED);
	assert_non_null(strstr(out.p, "ClusterRole " ACCOUNT ": Apply failed with"));
	assert_non_null(strstr(out.p, ".rules"));
}

static void mistakes_and_failures(void **state UNUSED)
{
	static const struct {
		const char *words, *says;
	} rows[] = {
		{ "-n kueue-system", "--name is missing" },
		{ "--name A_b", "--name: A_b: no name of an object" },
		{ "--name w --account-namespace a.b", "--account-namespace: a.b: no name of a" },
		{ "--name w -n a.b", "--namespace: a.b: no name of a namespace" },
		{ "--name w --address http://10.0.0.1", "InsecureKubeConfig" },
		{ "--name w --account-namespace other --request-timeout=3s",
		  "Secret " ACCOUNT " has no token yet" },
		{ "--name w --account-namespace other --server https://127.0.0.1:1",
		  "headgatectl: Namespace" },
	};

	worker_fixture_behave(&worker, (struct worker_behaviour){ .no_tokens = true });
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row(rows[i].words);
		assert_int_equal(run(rows[i].words), VERB_FAILED);
		assert_non_null(strstr(out.p, rows[i].says));
		assert_null(strstr(out.p, "apiVersion"));
	}
}

static void a_missing_right_is_named(void **state UNUSED)
{
	worker_fixture_set_faults(&worker, "[{fault: status, code: 403, path: '/apis/" RBAC
					   "/v1/clusterroles/.*'}]");
	assert_int_equal(run("--name worker1"), VERB_FAILED);
	assert_non_null(strstr(out.p, "headgatectl: ClusterRole " ACCOUNT
				      ": the rights to create and to patch it are needed: "));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_account_is_made_and_the_kubeconfig_printed),
		TEST(the_rights_of_a_manager_replace_those_of_an_orchestrator),
		TEST(a_dry_run_changes_nothing),
		TEST(an_object_that_is_made_differently_is_named),
		TEST(mistakes_and_failures),
		TEST(a_missing_right_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
