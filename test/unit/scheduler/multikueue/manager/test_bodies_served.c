/* The bodies at an API server: it takes them, each field manager gets what manager.h says, and the
 * core can take off again what was written in its name. */
#include "scheduler/multikueue/manager/local_body.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/kueue/preemption_gate.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/gate_write.h"
#include "scheduler/multikueue/manager/carried_job.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/multikueue/manager/replica_body.h"
#include "unit/apiserver/apiserver_fixture.h"

#define NOW APISERVER_FIXTURE_NOW
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static const struct replica_body_manager by = { "m", "u1" };

static const char workload[] =
	"apiVersion: kueue.x-k8s.io/v1beta2\n"
	"kind: Workload\n"
	"metadata: {name: w, labels: {kueue.x-k8s.io/job-uid: u}}\n"
	"spec:\n"
	"  queueName: q\n"
	"  podSets:\n"
	"  - name: main\n"
	"    count: 2\n"
	"    template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}\n";

static const char job[] =
	"apiVersion: batch/v1\n"
	"kind: Job\n"
	"metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\n"
	"spec:\n"
	"  parallelism: 2\n"
	"  completions: 2\n"
	"  suspend: true\n"
	"  ttlSecondsAfterFinished: 5\n"
	"  managedBy: kueue.x-k8s.io/multikueue\n"
	"  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}\n";

/* The core, as it writes: everything that it keeps, and nothing else. */
#define CORE_HEAD                                                                                  \
	"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {name: w}\nstatus:\n"
#define CONDITION(type, status)                                                                    \
	"  - {type: " type ", status: '" status "', reason: R, message: m, lastTransitionTime: "   \
	"'2026-01-01T00:00:00Z'}\n"
#define CHECK(state)                                                                               \
	"  admissionChecks:\n"                                                                     \
	"  - {name: mk, state: " state                                                             \
	", message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}\n"
#define RESERVED                                                                                   \
	CORE_HEAD "  admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 2}]}\n" \
		  "  conditions:\n" CONDITION("QuotaReserved", "True")

struct server {
	struct apiserver_fixture f;
};

static int setup(void **state)
{
	static struct server s;

	apiserver_fixture_start(&s.f, NULL, NULL);
	apiserver_fixture_load(&s.f, "charts/headgate/files/crds/quota/workloads.yaml");
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	apiserver_fixture_stop(*state);
	return 0;
}

static void must(struct server *s, enum http_method method, const char *url, const char *type,
		 const char *body)
{
	int status = apiserver_fixture_do(&s->f, method, url, type, body);

	if (status < 200 || status >= 300) {
		print_error("%s: %d %s\n%s\n", url, status,
			    apiserver_fixture_text(&s->f, "message"), body == NULL ? "" : body);
		fail();
	}
}

/* The object as it is; the caller destroys it. */
static struct jdoc *get(struct server *s, const char *url)
{
	must(s, HTTP_GET, url, NULL, NULL);
	return jdoc_copy(s->f.doc);
}

static void apply(struct server *s, const char *manager, const char *body)
{
	char url[200];

	snprintf(url, sizeof(url), WORKLOADS "/w/status?fieldManager=%s&force=true", manager);
	must(s, HTTP_PATCH, url, APISERVER_FIXTURE_APPLY, body);
}

static void core(struct server *s, const char *body)
{
	apply(s, KUEUE_FIELD_MANAGER, body);
}

static void begin(struct server *s)
{
	must(s, HTTP_POST, WORKLOADS, APISERVER_FIXTURE_YAML, workload);
	core(s, RESERVED CHECK("Pending"));
}

static void act(struct server *s, const struct manager_action *a)
{
	CLEANUP(jdoc_destroyp) struct jdoc *local = get(s, WORKLOADS "/w");
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct local_body of = { local, "mk", "w1", NOW };

	if (a->act == MANAGER_FINISH) {
		local_body_finished(&of, a, &body);
		apply(s, MANAGER_FIELD_MANAGER, body.p);
	} else {
		local_body_admission(&of, a, &body);
		apply(s, KUEUE_FIELD_MANAGER, body.p);
	}
}

static void nominate(struct server *s)
{
	static const char *const names[] = { "w1", "w2" };

	act(s, &(struct manager_action){ .act = MANAGER_NOMINATE, .names = { names, 2 } });
}

static void set_cluster(struct server *s)
{
	act(s, &(struct manager_action){ .act = MANAGER_SET_CLUSTER, .message = "m" });
}

static const char *text(struct server *s, const char *path)
{
	return apiserver_fixture_text(&s->f, path);
}

static size_t count(struct server *s, const char *path)
{
	return jdoc_count(jdoc_path(s->f.doc, path));
}

static const char *check_state(struct server *s)
{
	return jdoc_str_or(
		jdoc_get(jdoc_at(jdoc_path(s->f.doc, "status.admissionChecks"), 0), "state"), "");
}

static bool has_condition(struct server *s, const char *type)
{
	const struct jdoc *list = jdoc_path(s->f.doc, "status.conditions");

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return true;
		}
	}
	return false;
}

/* --- the local Workload ------------------------------------------------------------------------*/

static void an_eviction_clears_what_was_written(void **state)
{
	struct server *s = *state;

	begin(s);
	nominate(s);
	assert_int_equal(count(s, "status.nominatedClusterNames"), 2);
	assert_string_equal(text(s, "status.admission.clusterQueue"), "cq");
	assert_true(has_condition(s, "QuotaReserved"));
	set_cluster(s);
	assert_string_equal(text(s, "status.clusterName"), "w1");
	assert_int_equal(count(s, "status.nominatedClusterNames"), 0);
	assert_string_equal(check_state(s), "Ready");
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	assert_string_equal(text(s, "status.clusterName"), "");
	assert_string_equal(check_state(s), "Pending");
	assert_string_equal(text(s, "status.admission.clusterQueue"), "cq");
	core(s, RESERVED CHECK("Pending"));
	nominate(s);
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	assert_null(jdoc_path(s->f.doc, "status.nominatedClusterNames"));
}

/* As a merge patch the same would stay (Kueue documents it for external dispatchers). */
static void a_merge_patch_would_not_be_cleared(void **state)
{
	struct server *s = *state;

	begin(s);
	must(s, HTTP_PATCH, WORKLOADS "/w/status?fieldManager=" KUEUE_FIELD_MANAGER,
	     APISERVER_FIXTURE_MERGE, "{\"status\":{\"clusterName\":\"w1\"}}");
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	assert_string_equal(text(s, "status.clusterName"), "w1");
}

static void the_list_of_an_external_dispatcher_is_emptied(void **state)
{
	struct server *s = *state;

	begin(s);
	apply(s, "dispatcher", CORE_HEAD "  nominatedClusterNames: [w1]\n");
	set_cluster(s);
	assert_string_equal(text(s, "status.clusterName"), "w1");
	assert_int_equal(count(s, "status.nominatedClusterNames"), 0);
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	assert_string_equal(text(s, "status.clusterName"), "");
}

static void a_check_alone(void **state)
{
	struct server *s = *state;

	begin(s);
	set_cluster(s);
	act(s, &(struct manager_action){ .act = MANAGER_SET_CHECK,
					 .state = KUEUE_CHECK_RETRY,
					 .message = "m",
					 .requeue_after = 10 });
	assert_string_equal(check_state(s), "Retry");
	assert_string_equal(text(s, "status.clusterName"), "w1");
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	assert_null(jdoc_get(jdoc_at(jdoc_path(s->f.doc, "status.admissionChecks"), 0),
			     "requeueAfterSeconds"));
}

/* The core of Headgate leaves Finished out of its apply, that of Kueue has it. */
static void finished_stays(void **state)
{
	struct server *s = *state;

	begin(s);
	act(s, &(struct manager_action){
		       .act = MANAGER_FINISH, .reason = "Succeeded", .message = "m" });
	assert_true(has_condition(s, "Finished"));
	core(s, RESERVED CHECK("Pending"));
	assert_true(has_condition(s, "Finished"));
}

/* Of another version of the object nothing is written. */
static void a_write_of_an_old_version_is_refused(void **state)
{
	struct server *s = *state;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *old = NULL;
	const struct manager_action a = { .act = MANAGER_SET_CLUSTER, .message = "m" };

	begin(s);
	old = get(s, WORKLOADS "/w");
	core(s, RESERVED CONDITION("Evicted", "True") CHECK("Pending"));
	local_body_admission(&(struct local_body){ old, "mk", "w1", NOW }, &a, &body);
	assert_int_equal(apiserver_fixture_do(&s->f, HTTP_PATCH,
					      WORKLOADS
					      "/w/status?fieldManager=" KUEUE_FIELD_MANAGER
					      "&force=true",
					      APISERVER_FIXTURE_APPLY, body.p),
			 409);
}

/* --- a worker cluster --------------------------------------------------------------------------*/

/* The metadata of the latest answer, in the arena. */
static struct api_meta meta_of(struct server *s, struct arena *arena)
{
	struct api_workload w;

	decode_init(&kueue_workload_fields, &w);
	assert_int_equal(decode_jdoc(&kueue_workload_fields, s->f.doc, &w, arena, NULL), 0);
	return w.meta;
}

/* The local objects are those of one API server, the replica and its Job those of another. */
static void replica_and_job(void **state)
{
	struct server *s = *state, worker;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *local = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *local_job = NULL;
	struct api_meta m;

	begin(s);
	local = get(s, WORKLOADS "/w");
	must(s, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, job);
	local_job = get(s, JOBS "/j");
	apiserver_fixture_start(&worker.f, NULL, NULL);
	apiserver_fixture_load(&worker.f, "charts/headgate/files/crds/quota/workloads.yaml");
	replica_body_create(local, &by, true, &body);
	must(&worker, HTTP_POST, WORKLOADS, APISERVER_FIXTURE_JSON, body.p);
	m = meta_of(&worker, arena);
	assert_true(replica_body_is_ours(&m, &by));
	strbuf_reset(&body);
	carried_job_kind.create(local_job, local, &by, &body);
	must(&worker, HTTP_POST, JOBS, APISERVER_FIXTURE_JSON, body.p);
	m = meta_of(&worker, arena);
	assert_string_equal(replica_body_workload_of(&m), "w");
	assert_string_equal(text(&worker, "spec.managedBy"), "");
	strbuf_reset(&body);
	replica_body_delete(&m, &body);
	must(&worker, HTTP_DELETE, JOBS "/j", APISERVER_FIXTURE_JSON, body.p);
	apiserver_fixture_stop(&worker.f);
}

/* The worker's core, and the entry of the gate, are left alone. */
static void evictions(void **state)
{
	struct server *s = *state;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_meta m;

	begin(s);
	m = meta_of(s, arena);
	gate_write_format(&m, KUEUE_GATE_MULTIKUEUE, true, PREEMPTION_GATE_POSITION, NOW, &body);
	apply(s, GATE_WRITE_FIELD_MANAGER, body.p);
	m = meta_of(s, arena);
	strbuf_reset(&body);
	replica_body_evict(&m, "Evicted on manager: m", NOW, &body);
	apply(s, MANAGER_EVICT_FIELD_MANAGER, body.p);
	assert_true(has_condition(s, "DeactivationTarget"));
	assert_true(has_condition(s, "QuotaReserved"));
	assert_int_equal(count(s, "status.preemptionGates"), 1);
}

static void small_patches(void **state)
{
	struct server *s = *state;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct api_priority_ref class = { "kueue.x-k8s.io", "WorkloadPriorityClass", "high" };
	struct api_workload local;
	struct api_meta m;

	begin(s);
	decode_init(&kueue_workload_fields, &local);
	local.spec.priority = 7;
	local.spec.priority_class_ref = &class;
	m = meta_of(s, arena);
	replica_body_priority(&local, &m, &body);
	must(s, HTTP_PATCH, WORKLOADS "/w", APISERVER_FIXTURE_MERGE, body.p);
	assert_string_equal(text(s, "spec.priorityClassRef.name"), "high");
	must(s, HTTP_PATCH, WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
	     "{\"metadata\":{\"finalizers\":[\"kueue.x-k8s.io/resource-in-use\"]}}");
	m = meta_of(s, arena);
	strbuf_reset(&body);
	replica_body_without_finalizer(&m, &body);
	must(s, HTTP_PATCH, WORKLOADS "/w", APISERVER_FIXTURE_MERGE, body.p);
	assert_int_equal(count(s, "metadata.finalizers"), 0);
}

/* --- the local Job -----------------------------------------------------------------------------*/

static void patch_job(struct server *s, struct strbuf *body)
{
	must(s, HTTP_PATCH, JOBS "/j/status", APISERVER_FIXTURE_MERGE, body->p);
	strbuf_reset(body);
}

static void statuses_of_jobs(void **state)
{
	struct server *s = *state;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *first = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *second = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *third = NULL;
	CLEANUP(jdoc_destroyp) struct jdoc *remote = NULL;
	static const char running[] = "{\"status\":{\"active\":2,\"ready\":1,\"startTime\":"
				      "\"2026-01-01T00:00:00Z\"}}";

	must(s, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, job);
	assert_int_equal(jdoc_parse(str_of(running), &remote, NULL), 0);
	first = get(s, JOBS "/j");
	carried_job_kind.sync(first, NULL, CARRIED_DUE_SUSPENDED, NOW, &body);
	patch_job(s, &body);
	assert_true(has_condition(s, "Suspended"));
	second = get(s, JOBS "/j");
	carried_job_kind.sync(second, remote, CARRIED_DUE_STATUS, NOW, &body);
	patch_job(s, &body);
	assert_false(has_condition(s, "Suspended"));
	assert_true(jdoc_equal(jdoc_get(s->f.doc, "status"), jdoc_get(remote, "status")));
	third = get(s, JOBS "/j");
	carried_job_kind.reset(third, &body);
	patch_job(s, &body);
	assert_int_equal(jdoc_int(jdoc_path(s->f.doc, "status.active"), 0), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_eviction_clears_what_was_written),
		TEST(a_merge_patch_would_not_be_cleared),
		TEST(the_list_of_an_external_dispatcher_is_emptied),
		TEST(a_check_alone),
		TEST(finished_stays),
		TEST(a_write_of_an_old_version_is_refused),
		TEST(replica_and_job),
		TEST(evictions),
		TEST(small_patches),
		TEST(statuses_of_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
