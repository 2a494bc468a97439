#include "scheduler/ctl/multikueue/worker_access.h"

#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "kube/kubeconfig/kubeconfig.h"
#include "kube/transport.h"
#include "unit/scheduler/ctl/multikueue/managing_cluster.h"

#define CLUSTER(name, source)                                                                      \
	"{" MANAGING_CLUSTER_API "kind: MultiKueueCluster, metadata: {name: " name                 \
	"}, spec: {clusterSource: {" source "}}}\n---\n"
#define NAMED(secret) "kubeConfig: {location: " secret ", locationType: Secret}"
#define SECRET(name, data)                                                                         \
	"{apiVersion: v1, kind: Secret, metadata: {name: " name                                    \
	", namespace: kueue-system}, data: {" data "}}\n---\n"

static struct live_fixture manager;
static struct worker_fixture worker;
static struct transport *t;

static int begin(void **state UNUSED)
{
	managing_cluster_start(&manager);
	worker_fixture_start(&worker, true);
	managing_cluster_add_worker(&manager, "w1", &worker);
	t = managing_cluster_connect(&manager);
	return 0;
}

static int end(void **state UNUSED)
{
	transport_destroy(t);
	worker_fixture_stop(&worker);
	live_fixture_stop(&manager);
	return 0;
}

static void the_kubeconfig_of_a_worker(void **state UNUSED)
{
	CLEANUP(worker_access_finish) struct worker_access a = { 0 };
	struct transport *to_worker = NULL;
	struct err err = ERR_INIT;

	worker_access_read(t, "kueue-system", "w1", &a);
	assert_int_equal(a.state, WORKER_ACCESS_READ);
	assert_string_equal(a.source, "Secret kueue-system/w1-kubeconfig");
	assert_string_equal(a.config->server, worker.https.base);
	assert_int_equal(worker_access_connect(&a, &to_worker, &err), 0);
	transport_destroy(to_worker);
}

static void reasons_why_there_is_none(void **state UNUSED)
{
	static const struct {
		const char *yaml, *cluster;
		enum worker_access_state state;
		const char *why;
	} rows[] = {
		{ NULL, "none", WORKER_ACCESS_BAD, "MultiKueueCluster none does not exist" },
		{ CLUSTER("a", NAMED("gone")), "a", WORKER_ACCESS_BAD,
		  "Secret kueue-system/gone does not exist" },
		{ CLUSTER("b", "kubeConfig: {location: /etc/k, locationType: Path}"), "b",
		  WORKER_ACCESS_UNREADABLE, "its kubeconfig is not in a Secret" },
		{ CLUSTER("c", "clusterProfileRef: {name: p}"), "c", WORKER_ACCESS_UNREADABLE,
		  "its kubeconfig is not in a Secret" },
		{ CLUSTER("d", NAMED("d")) SECRET("d", "other: YQ=="), "d", WORKER_ACCESS_BAD,
		  "Secret kueue-system/d: data.kubeconfig: is missing" },
		{ CLUSTER("e", NAMED("e")) SECRET("e", "kubeconfig: '!'"), "e", WORKER_ACCESS_BAD,
		  "Secret kueue-system/e: " },
		/* {} */
		{ CLUSTER("f", NAMED("f")) SECRET("f", "kubeconfig: e30="), "f", WORKER_ACCESS_BAD,
		  "Secret kueue-system/f: BadKubeConfig: " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(worker_access_finish) struct worker_access a = { 0 };

		unit_row(rows[i].why);
		if (rows[i].yaml != NULL) {
			live_fixture_load(&manager, rows[i].yaml);
		}
		worker_access_read(t, "kueue-system", rows[i].cluster, &a);
		assert_int_equal(a.state, rows[i].state);
		assert_memory_equal(a.why.text, rows[i].why, strlen(rows[i].why));
		assert_null(a.config);
	}
}

static void rights_on_the_manager(void **state UNUSED)
{
	static const struct {
		const char *fault, *why;
	} rows[] = {
		{ "[{fault: status, code: 403, path: '.*/secrets/.*'}]",
		  "no right to read Secret kueue-system/w1-kubeconfig" },
		{ "[{fault: status, code: 403, path: '.*/multikueueclusters/.*'}]",
		  "no right to read MultiKueueCluster w1" },
		{ "[{fault: status, code: 500, path: '.*/secrets/.*'}]",
		  "Secret kueue-system/w1-kubeconfig: " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(worker_access_finish) struct worker_access a = { 0 };

		unit_row(rows[i].fault);
		live_fixture_fault(&manager, rows[i].fault);
		worker_access_read(t, "kueue-system", "w1", &a);
		assert_int_equal(a.state, WORKER_ACCESS_UNREADABLE);
		assert_memory_equal(a.why.text, rows[i].why, strlen(rows[i].why));
		assert_null(a.config);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_kubeconfig_of_a_worker),
		TEST(reasons_why_there_is_none),
		TEST(rights_on_the_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
