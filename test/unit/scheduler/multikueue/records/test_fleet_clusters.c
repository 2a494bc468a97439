#include "scheduler/multikueue/records/fleet_clusters.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "lib/multikueue/fleet_fixture.h"

#define EAST_SECRET "{'spec':{'clusterSource':{'kubeConfig':{'location':'east'}}}}"

static void add_cluster(struct fleet_fixture *f, const char *name, const char *json)
{
	fleet_fixture_handle(f, fleet_fixture_object(SCHED_MULTIKUEUE_CLUSTERS, name, 1, json));
}

static struct fleet_cluster *find(struct fleet_fixture *f, const char *name)
{
	return fleet_clusters_find(f->clusters, str_of(name));
}

static void expect_condition(struct fleet_fixture *f, const char *name, const char *status,
			     const char *reason, const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
	const char *got_reason, *got_status;

	strbuf_add_c(&got, "");
	got_status = link_condition(find(f, name)->link, &got_reason, &got);
	assert_string_equal(got.p, message);
	assert_string_equal(got_reason, reason);
	assert_string_equal(got_status, status);
}

#define LOAD "load client config failed: "

static void test_clusters_without_a_kubeconfig(void **state UNUSED)
{
	static const struct {
		const char *name, *cluster, *secret, *reason, *message;
	} rows[] = {
		{ "no Secret", EAST_SECRET, NULL, "BadKubeConfig",
		  LOAD "Secret kueue-system/east does not exist" },
		{ "Secret without the key", EAST_SECRET, "{'data':{'other':'eA=='}}",
		  "BadKubeConfig", LOAD "Secret kueue-system/east has no data[kubeconfig]" },
		{ "Secret without data", EAST_SECRET, "{}", "BadKubeConfig",
		  LOAD "Secret kueue-system/east has no data[kubeconfig]" },
		{ "not base64", EAST_SECRET, "{'data':{'kubeconfig':'*'}}", "BadKubeConfig",
		  LOAD "Secret kueue-system/east: data[kubeconfig] is not base64" },
		{ "cluster profile",
		  "{'spec':{'clusterSource':{'clusterProfileRef':{'name':'p'}}}}", NULL,
		  "MultiKueueClusterProfileFeatureDisabled",
		  LOAD "spec.clusterSource.clusterProfileRef: ClusterProfiles are not supported: "
		       "p" },
		{ "no source", "{}", NULL, "BadKubeConfig",
		  LOAD "spec.clusterSource.kubeConfig.location: required" },
		{ "a path that is not one",
		  "{'spec':{'clusterSource':{'kubeConfig':{'location':'x','locationType':"
		  "'Path'}}}}",
		  NULL, "BadKubeConfig",
		  LOAD "spec.clusterSource.kubeConfig.location: x: not an absolute path" },
		{ "a place of another type",
		  "{'spec':{'clusterSource':{'kubeConfig':{'location':'x','locationType':"
		  "'Cloud'}}}}",
		  NULL, "BadKubeConfig",
		  LOAD "spec.clusterSource.kubeConfig.locationType: neither Secret nor Path" },
		{ "no location",
		  "{'spec':{'clusterSource':{'kubeConfig':{'locationType':'Secret'}}}}", NULL,
		  "BadKubeConfig", LOAD "spec.clusterSource.kubeConfig.location: required" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_fixture f;

		unit_row(rows[i].name);
		fleet_fixture_begin(&f);
		add_cluster(&f, "east", rows[i].cluster);
		if (rows[i].secret != NULL) {
			fleet_fixture_handle(&f, fleet_fixture_object(SCHED_SECRETS,
								      "kueue-system/east", 1,
								      rows[i].secret));
		}
		fleet_fixture_connect(&f);
		expect_condition(&f, "east", "False", rows[i].reason, rows[i].message);
		assert_int_equal(f.connects, 0);
		fleet_fixture_end(&f);
	}
}

static void test_refused_kubeconfigs(void **state UNUSED)
{
	static const struct {
		const char *name, *text, *reason, *message;
	} rows[] = {
		{ "not https",
		  "{current-context: c, contexts: [{name: c, context: {cluster: c}}], "
		  "clusters: [{name: c, cluster: {server: 'http://worker.example'}}]}",
		  "InsecureKubeConfig", LOAD "server: not https" },
		{ "reads a file",
		  "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], "
		  "clusters: [{name: c, cluster: {server: 'https://worker.example'}}], "
		  "users: [{name: u, user: {tokenFile: /t}}]}",
		  "InsecureKubeConfig", LOAD "tokenFile names a file" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_fixture f;

		unit_row(rows[i].name);
		fleet_fixture_begin(&f);
		add_cluster(&f, "east", EAST_SECRET);
		fleet_fixture_secret(&f, "east", rows[i].text);
		fleet_fixture_connect(&f);
		expect_condition(&f, "east", "False", rows[i].reason, rows[i].message);
		assert_int_equal(f.connects, 0);
		fleet_fixture_end(&f);
	}
}

static void expect_load_error(struct fleet_fixture *f, const char *part)
{
	CLEANUP(strbuf_finish) struct strbuf got = STRBUF_INIT;
	const char *reason;

	assert_string_equal(link_condition(find(f, "east")->link, &reason, &got), "False");
	assert_string_equal(reason, "BadKubeConfig");
	assert_non_null(strstr(got.p, LOAD "spec.clusterSource.kubeConfig.location: "));
	assert_non_null(strstr(got.p, part));
}

static void wait_for_files(struct fleet_fixture *f)
{
	clock_fake_advance(&f->clock, FLEET_CLUSTERS_REREAD_NS);
	fleet_fixture_settle(f);
}

/* A file is read again after a while: when it comes, when it is replaced, when it goes. */
static void test_files(void **state UNUSED)
{
	struct fleet_fixture f;
	CLEANUP(strbuf_finish) struct strbuf cluster = STRBUF_INIT;
	int64_t at;

	fleet_fixture_begin(&f);
	strbuf_printf(&cluster,
		      "{'spec':{'clusterSource':{'kubeConfig':{'location':'%s/east','locationType':"
		      "'Path'}}}}",
		      f.root.path);
	add_cluster(&f, "east", cluster.p);
	fleet_fixture_connect(&f);
	expect_load_error(&f, "/east: No such file or directory");
	at = fleet_clusters_step(f.clusters);
	assert_true(at > clock_mono(&f.clock.base));
	assert_true(at <= clock_mono(&f.clock.base) + FLEET_CLUSTERS_REREAD_NS);

	folder_write(&f.root, "east", FLEET_FIXTURE_CONFIG);
	wait_for_files(&f);
	expect_condition(&f, "east", "True", "Active", "Connected");
	assert_int_equal(f.connects, 2);
	wait_for_files(&f); /* nothing has changed */
	assert_int_equal(f.connects, 2);
	folder_write(&f.root, "east",
		     "{current-context: d, contexts: [{name: d, context: {cluster: c}}], "
		     "clusters: [{name: c, cluster: {server: 'https://other.example'}}]}");
	wait_for_files(&f);
	expect_condition(&f, "east", "True", "Active", "Connected");
	assert_int_equal(f.connects, 4);
	folder_write(&f.root, "east", "{");
	wait_for_files(&f);
	assert_false(link_is_up(find(&f, "east")->link));
	fleet_fixture_end(&f);
}

static void test_waits_for_the_list_of_secrets(void **state UNUSED)
{
	struct fleet_fixture f;

	fleet_fixture_begin(&f);
	(void)fleet_fixture_cluster(&f, "east");
	fleet_fixture_settle(&f);
	assert_int_equal(f.connects, 0);
	assert_int_equal(fleet_clusters_step(f.clusters), CLOCK_NEVER);
	fleet_fixture_connect(&f);
	assert_int_equal(f.connects, 2);
	expect_condition(&f, "east", "True", "Active", "Connected");
	/* One of a cluster that comes later. */
	(void)fleet_fixture_cluster(&f, "west");
	fleet_fixture_settle(&f);
	assert_int_equal(f.connects, 4);
	assert_int_equal(fleet_clusters_count(f.clusters), 2);
	assert_string_equal(fleet_clusters_at(f.clusters, 0)->name, "east");
	assert_string_equal(fleet_clusters_at(f.clusters, 1)->name, "west");
	fleet_fixture_end(&f);
	fleet_clusters_destroy(NULL);
}

static void test_tries_again(void **state UNUSED)
{
	struct fleet_fixture f;
	int64_t at;

	fleet_fixture_begin(&f);
	(void)fleet_fixture_cluster(&f, "east");
	f.cannot_connect = true;
	fleet_fixture_connect(&f);
	at = fleet_clusters_step(f.clusters);
	assert_true(at > clock_mono(&f.clock.base));
	assert_true(at != CLOCK_NEVER);
	f.cannot_connect = false;
	clock_fake_advance(&f.clock, at - clock_mono(&f.clock.base));
	fleet_fixture_settle(&f);
	assert_int_not_equal(find(&f, "east")->source, 0);
	fleet_fixture_end(&f);
}

static void test_secrets_come_and_go(void **state UNUSED)
{
	struct fleet_fixture f;

	fleet_fixture_begin(&f);
	add_cluster(&f, "east", EAST_SECRET);
	fleet_clusters_secrets_listed(f.clusters);
	fleet_fixture_handle(&f, fleet_fixture_object(SCHED_SECRETS, "other/east", 1,
						      "{'data':{'kubeconfig':'*'}}"));
	expect_condition(&f, "east", "False", "BadKubeConfig",
			 LOAD "Secret kueue-system/east does not exist");
	fleet_fixture_secret(&f, "east", NULL);
	fleet_fixture_settle(&f);
	expect_condition(&f, "east", "True", "Active", "Connected");
	/* Of another namespace, and of another cluster. */
	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_SECRETS, "other/east"));
	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_SECRETS, "kueue-system/west"));
	fleet_fixture_settle(&f);
	expect_condition(&f, "east", "True", "Active", "Connected");
	assert_int_equal(f.connects, 2);
	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_SECRETS, "kueue-system/east"));
	fleet_fixture_settle(&f);
	expect_condition(&f, "east", "False", "BadKubeConfig",
			 LOAD "Secret kueue-system/east does not exist");
	fleet_fixture_end(&f);
}

static void test_deleted_and_made_again(void **state UNUSED)
{
	struct fleet_fixture f;
	struct fleet_cluster *k;
	uint64_t source;
	const char *name;

	fleet_fixture_begin(&f);
	k = fleet_fixture_cluster(&f, "east");
	fleet_fixture_load(&f, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: "
			       "{name: main, namespace: default}, spec: {clusterQueue: cq}}");
	fleet_fixture_connect(&f);
	name = k->name;
	source = k->source;
	assert_int_not_equal(source, 0);
	assert_string_equal(fleet_clusters_queue_of(k, "default/main"), "cq");
	assert_ptr_equal(fleet_clusters_of(f.clusters, source), k);

	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "east"));
	assert_null(find(&f, "east"));
	assert_null(fleet_clusters_of(f.clusters, source));
	assert_true(k->is_gone);
	assert_string_equal(k->name, "east");
	assert_int_equal(k->source, 0);
	assert_int_equal(fleet_clusters_count(f.clusters), 1);
	/* Once more, and of one that never was. */
	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "east"));
	fleet_fixture_handle(&f, fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, "never"));
	fleet_fixture_secret(&f, "east", NULL);
	fleet_fixture_settle(&f);
	assert_int_equal(f.connects, 2);

	fleet_fixture_load(&f, "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: "
			       "{name: later, namespace: default}, spec: {clusterQueue: cq2}}");
	add_cluster(&f, "east", EAST_SECRET);
	assert_ptr_equal(find(&f, "east"), k);
	assert_ptr_equal(k->name, name);
	fleet_fixture_settle(&f);
	assert_int_equal(f.connects, 4);
	assert_int_not_equal(k->source, source);
	assert_ptr_equal(fleet_clusters_of(f.clusters, k->source), k);
	assert_null(fleet_clusters_of(f.clusters, source));
	assert_string_equal(fleet_clusters_queue_of(k, "default/later"), "cq2");
	fleet_fixture_end(&f);
}

static void test_connections_of_deleted_clusters_end(void **state UNUSED)
{
	static const char *const names[] = { "a", "b", "c" };
	struct fleet_fixture f;

	fleet_fixture_begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		(void)fleet_fixture_cluster(&f, names[i]);
	}
	fleet_fixture_connect(&f);
	assert_int_equal(f.transports.n, 6);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		fleet_fixture_handle(&f,
				     fleet_fixture_deleted(SCHED_MULTIKUEUE_CLUSTERS, names[i]));
	}
	fleet_fixture_settle(&f);
	assert_int_equal(f.transports.n, 0);
	assert_int_equal(fleet_clusters_step(f.clusters), CLOCK_NEVER);
	fleet_fixture_end(&f);
}

static void test_messages_without_effect(void **state UNUSED)
{
	struct fleet_fixture f;
	struct sched_msg *bad = message_new(SCHED_MSG_BAD_OBJECT);
	struct sched_msg *bad_secret = message_new(SCHED_MSG_BAD_OBJECT);

	fleet_fixture_begin(&f);
	(void)fleet_fixture_cluster(&f, "east");
	fleet_fixture_connect(&f);
	bad->resource = SCHED_MULTIKUEUE_CLUSTERS;
	bad->key = str_of("east");
	bad_secret->resource = SCHED_SECRETS;
	bad_secret->key = str_of("kueue-system/east");
	fleet_fixture_handle(&f, bad);
	fleet_fixture_handle(&f, bad_secret);
	fleet_fixture_handle(&f, fleet_fixture_object(SCHED_ADMISSION_CHECKS, "west", 1, "{}"));
	fleet_fixture_settle(&f);
	expect_condition(&f, "east", "True", "Active", "Connected");
	assert_int_equal(fleet_clusters_count(f.clusters), 1);
	fleet_fixture_end(&f);
}

/* The time is that of the first watch that fails. */
static void test_stalled_watches(void **state UNUSED)
{
	struct fleet_cluster k = { .stalled_jobs = 0 };

	assert_false(fleet_clusters_stall(&k, SCHED_LOCAL_QUEUES, true, 1));
	assert_int_equal(k.stalled_at, 0);
	assert_true(fleet_clusters_stall(&k, SCHED_JOBS, true, 2));
	assert_int_equal(k.stalled_jobs, 1u << CARRIED_JOBS);
	assert_true(fleet_clusters_stall(&k, SCHED_WORKLOADS, true, 3));
	assert_true(k.is_stalled);
	assert_true(fleet_clusters_stall(&k, SCHED_JOBS, false, 4));
	assert_int_equal(k.stalled_jobs, 0);
	assert_int_equal(k.stalled_at, 2);
	assert_true(fleet_clusters_stall(&k, SCHED_WORKLOADS, false, 5));
	assert_false(k.is_stalled);
}

static void test_queues(void **state UNUSED)
{
	static const struct {
		const char *name, *json, *want; /* json NULL: deleted */
	} rows[] = {
		{ "new", "{'spec':{'clusterQueue':'cq'}}", "cq" },
		{ "changed", "{'spec':{'clusterQueue':'cq2'}}", "cq2" },
		{ "names none", "{'spec':{}}", "default/main" },
		{ "again", "{'spec':{'clusterQueue':'cq'}}", "cq" },
		{ "deleted", NULL, "default/main" },
	};
	struct fleet_fixture f;
	struct fleet_cluster *k;

	fleet_fixture_begin(&f);
	k = fleet_fixture_cluster(&f, "east");
	assert_null(fleet_clusters_queue_of(k, NULL));
	assert_string_equal(fleet_clusters_queue_of(k, "default/main"), "default/main");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sched_msg *m =
			rows[i].json == NULL
				? fleet_fixture_deleted(SCHED_LOCAL_QUEUES, "default/main")
				: fleet_fixture_object(SCHED_LOCAL_QUEUES, "default/main", 1,
						       rows[i].json);

		unit_row(rows[i].name);
		fleet_clusters_queue(k, m);
		message_free(m);
		assert_string_equal(fleet_clusters_queue_of(k, "default/main"), rows[i].want);
	}
	fleet_fixture_end(&f);
}

/* parent NULL: it has none. Returns the replica of which it is a variant; the caller frees it. */
static char *see_variant(struct fleet_cluster *k, uint64_t source, enum sched_msg_kind kind,
			 const char *parent, const char *before)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
	struct sched_msg *m;
	char *was, *of;

	strbuf_add_c(&json, "{'metadata':{'name':'x','namespace':'ns'");
	if (parent != NULL) {
		strbuf_printf(&json,
			      ",'ownerReferences':[{'apiVersion':'kueue.x-k8s.io/v1beta2','kind':"
			      "'Workload','name':'%s','uid':'u','controller':true}]",
			      parent);
	}
	strbuf_add_c(&json, "}}");
	m = fleet_fixture_object(SCHED_WORKLOADS, "ns/x", 1, json.p);
	m->kind = kind;
	m->source = source;
	of = fleet_clusters_variant(k, m, &was);
	m->kind = SCHED_MSG_UPSERT;
	message_free(m);
	assert_true(str_streq(was, before));
	free(was);
	return of;
}

static void check_variant(struct fleet_cluster *k, uint64_t source, enum sched_msg_kind kind,
			  const char *parent, const char *before, const char *want)
{
	char *of = see_variant(k, source, kind, parent, before);

	assert_true(str_streq(of, want));
	free(of);
}

static void test_parents_of_variants(void **state UNUSED)
{
	struct fleet_fixture f;
	struct fleet_cluster *k;

	fleet_fixture_begin(&f);
	k = fleet_fixture_cluster(&f, "east");
	check_variant(k, 1, SCHED_MSG_UPSERT, "a", NULL, "ns/a");
	check_variant(k, 1, SCHED_MSG_BAD_OBJECT, NULL, "ns/a", "ns/a");
	check_variant(k, 1, SCHED_MSG_UPSERT, "b", "ns/a", "ns/b");
	/* The object alone says what it is. */
	check_variant(k, 1, SCHED_MSG_UPSERT, NULL, "ns/b", NULL);
	check_variant(k, 1, SCHED_MSG_BAD_OBJECT, NULL, NULL, NULL);
	check_variant(k, 1, SCHED_MSG_UPSERT, "a", NULL, "ns/a");
	check_variant(k, 1, SCHED_MSG_DELETE, NULL, "ns/a", "ns/a");
	check_variant(k, 1, SCHED_MSG_DELETE, NULL, NULL, NULL);
	fleet_fixture_end(&f);
}

/* It was deleted while there was no connection; and one that cannot be read is as it was. */
static void test_parents_over_connections(void **state UNUSED)
{
	struct fleet_fixture f;
	struct fleet_cluster *k;

	fleet_fixture_begin(&f);
	k = fleet_fixture_cluster(&f, "east");
	check_variant(k, 1, SCHED_MSG_UPSERT, "a", NULL, "ns/a");
	k->source = 1;
	fleet_clusters_reach(k);
	check_variant(k, 2, SCHED_MSG_BAD_OBJECT, NULL, "ns/a", "ns/a");
	k->source = 2;
	fleet_clusters_reach(k);
	check_variant(k, 2, SCHED_MSG_BAD_OBJECT, NULL, "ns/a", "ns/a");
	k->source = 3;
	fleet_clusters_reach(k);
	check_variant(k, 3, SCHED_MSG_BAD_OBJECT, NULL, NULL, NULL);
	/* Connections without a complete list leave nothing. */
	check_variant(k, 4, SCHED_MSG_UPSERT, "a", NULL, "ns/a");
	check_variant(k, 5, SCHED_MSG_DELETE, NULL, NULL, NULL);
	k->source = 0;
	fleet_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clusters_without_a_kubeconfig),
		cmocka_unit_test(test_refused_kubeconfigs),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_waits_for_the_list_of_secrets),
		cmocka_unit_test(test_tries_again),
		cmocka_unit_test(test_secrets_come_and_go),
		cmocka_unit_test(test_deleted_and_made_again),
		cmocka_unit_test(test_connections_of_deleted_clusters_end),
		cmocka_unit_test(test_messages_without_effect),
		cmocka_unit_test(test_stalled_watches),
		cmocka_unit_test(test_queues),
		cmocka_unit_test(test_parents_of_variants),
		cmocka_unit_test(test_parents_over_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
