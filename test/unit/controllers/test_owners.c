/* The owners of Workloads at the embedded API server, in virtual time. There is no Job controller
 * and no quota engine: the test writes what they would. */
#include "controllers/owners.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_workload.h"
#include "apiserver/mem_transport.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "enc/decode.h"
#include "enc/jdoc.h"
#include "kube/recorder.h"
#include "lib/apiserver_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define FLAVORS "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
#define SEEN_MAX 16
#define T(status, type, reason)                                                                    \
	"{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason                    \
	"\",\"message\":\"m\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

struct seen { /* an object that the controller was told of */
	char kind, key[100], version[24];
	bool present;
};

struct fixture {
	struct apiserver_fixture api;
	struct clock_fake clock;
	struct mem_transport *net;
	struct recorder *recorder;
	struct owners *o;
	struct seen seen[SEEN_MAX];
	size_t n;
	unsigned losses; /* answers that are still to be lost */
	unsigned told;   /* calls of the watch */
	char workload[300];
};

/* --- what a reflector does ---------------------------------------------------------------------
 */

struct look {
	struct fixture *f;
	char kind;
	bool changed;
};

static void tell(struct fixture *f, char kind, struct str text)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_job job;
	struct api_workload w;
	struct api_resource_flavor rf;

	if (kind == 'j') {
		assert_int_equal(decode_text(&batch_job_fields, text, &job, arena, NULL), 0);
		owners_job(f->o, &job);
	} else if (kind == 'w') {
		assert_int_equal(decode_text(&kueue_workload_fields, text, &w, arena, NULL), 0);
		snprintf(f->workload, sizeof(f->workload), "%s", w.meta.name);
		owners_workload(f->o, &w);
	} else {
		assert_int_equal(decode_text(&kueue_resource_flavor_fields, text, &rf, arena, NULL),
				 0);
		owners_flavor(f->o, &rf);
	}
}

static void see(void *ctx, struct str text)
{
	struct look *look = ctx;
	struct fixture *f = look->f;
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;
	const char *version;
	char key[100];
	size_t i = 0;

	assert_int_equal(jdoc_parse(text, &d, NULL), 0);
	version = jdoc_path_str(d, "metadata.resourceVersion");
	snprintf(key, sizeof(key), "%s/%s", jdoc_str_or(jdoc_path(d, "metadata.namespace"), ""),
		 jdoc_path_str(d, "metadata.name"));
	while (i < f->n && !(f->seen[i].kind == look->kind && str_streq(f->seen[i].key, key))) {
		i++;
	}
	assert_true(i < SEEN_MAX);
	if (i == f->n) {
		f->seen[f->n++] = (struct seen){ .kind = look->kind };
		snprintf(f->seen[i].key, sizeof(f->seen[i].key), "%s", key);
	}
	f->seen[i].present = true;
	if (!str_streq(f->seen[i].version, version)) {
		snprintf(f->seen[i].version, sizeof(f->seen[i].version), "%s", version);
		look->changed = true;
		tell(f, look->kind, text);
	}
}

static bool forget_gone(struct fixture *f)
{
	bool changed = false;

	for (size_t i = 0; i < f->n; i++) {
		struct seen *s = &f->seen[i];

		if (s->present || s->version[0] == '\0') {
			continue;
		}
		s->version[0] = '\0';
		changed = true;
		if (s->kind == 'j') {
			owners_job_gone(f->o, str_of(s->key));
		} else if (s->kind == 'w') {
			owners_workload_gone(f->o, str_of(s->key));
		}
	}
	return changed;
}

static bool look_around(struct fixture *f)
{
	struct look look = { f, 'f', false };

	for (size_t i = 0; i < f->n; i++) {
		f->seen[i].present = false;
	}
	apiserver_each(f->api.server, "kueue.x-k8s.io", "resourceflavors", see, &look);
	look.kind = 'j';
	apiserver_each(f->api.server, "batch", "jobs", see, &look);
	look.kind = 'w';
	apiserver_each(f->api.server, "kueue.x-k8s.io", "workloads", see, &look);
	return forget_gone(f) || look.changed;
}

/* Sends and answers until nothing waits any more; answers may get lost. */
static bool exchange(struct fixture *f)
{
	bool did = false;

	while (pool_step(owners_pool(f->o)) || pool_step(recorder_pool(f->recorder)) ||
	       mem_transport_ready(f->net) > 0) {
		did = true;
		if (mem_transport_ready(f->net) == 0) {
			continue;
		}
		if (f->losses > 0 && mem_transport_peek(f->net, 0)->kind == MEM_STEP_RESPONSE) {
			f->losses--;
			mem_transport_lose(f->net, 0);
		} else {
			mem_transport_step(f->net, 0);
		}
	}
	return did;
}

/* Until nobody has anything to do; retries become due. */
static void settle(struct fixture *f)
{
	unsigned quiet = 0;

	for (unsigned i = 0; quiet < 3; i++) {
		bool did = look_around(f);

		did |= exchange(f);
		quiet = did ? 0 : quiet + 1;
		clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
		f->api.now = clock_wall(&f->clock.base);
		assert_true(i < 100);
	}
}

/* --- what others do ----------------------------------------------------------------------------
 */

static void on_activity(void *ctx, struct str key)
{
	struct fixture *f = ctx;

	assert_true(str_has_prefix(key, "default/"));
	f->told++;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = 60 * CLOCK_NS_PER_S };
	struct owners_options opt = { .base = &base, .jobs = true, .wait_pods_ready = true };

	memset(f, 0, sizeof(*f));
	apiserver_fixture_start(&f->api, NULL, NULL);
	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/quota/workloads.yaml");
	apiserver_fixture_load(&f->api, "charts/headgate/files/crds/quota/resourceflavors.yaml");
	clock_fake_init(&f->clock, APISERVER_FIXTURE_NOW);
	f->net = mem_transport_create(f->api.server, &f->clock);
	base.transport = mem_transport_base(f->net);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "headgate", "here");
	opt.recorder = f->recorder;
	f->o = owners_create(&opt);
	owners_watch(f->o, on_activity, f);
	assert_int_equal(
		apiserver_fixture_do(&f->api, HTTP_POST, FLAVORS, APISERVER_FIXTURE_YAML,
				     "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor,"
				     " metadata: {name: spot}, spec: {nodeLabels: {type: spot},"
				     " tolerations: [{key: spot, operator: Exists}]}}"),
		201);
}

static void end(struct fixture *f)
{
	owners_destroy(f->o);
	recorder_destroy(f->recorder);
	transport_destroy(mem_transport_base(f->net));
	apiserver_fixture_stop(&f->api);
}

static void call(struct fixture *f, enum http_method method, const char *url, const char *type,
		 const char *body)
{
	int status = apiserver_fixture_do(&f->api, method, url, type, body);

	if (status / 100 != 2) {
		print_message("%s: %d %s\n", url, status, f->api.resp.body.p);
	}
	assert_int_equal(status / 100, 2);
}

static void create_job(struct fixture *f, bool suspend)
{
	char body[1000];

	snprintf(body, sizeof(body),
		 "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default,"
		 " labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {parallelism: 3,"
		 " completions: 3, suspend: %s, template: {metadata: {labels: {app: a}},"
		 " spec: {restartPolicy: Never, nodeSelector: {disk: ssd},"
		 " containers: [{name: c, image: busybox, command: [sleep, '5'],"
		 " resources: {requests: {cpu: '1'}}}]}}}}",
		 suspend ? "true" : "false");
	call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, body);
}

static void patch_job(struct fixture *f, const char *body)
{
	call(f, HTTP_PATCH, JOBS "/j", APISERVER_FIXTURE_MERGE, body);
}

/* As the Job controller of Kubernetes. */
static void job_status(struct fixture *f, const char *status)
{
	char body[600];

	snprintf(body, sizeof(body), "{\"status\":%s}", status);
	call(f, HTTP_PATCH, JOBS "/j/status", APISERVER_FIXTURE_MERGE, body);
}

/* As the quota engine. */
static void workload_status(struct fixture *f, const char *conditions, bool admission)
{
	char url[500], body[2000];

	snprintf(url, sizeof(url), WORKLOADS "/%s/status?fieldManager=kueue-admission&force=true",
		 f->workload);
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		 "\"name\":\"%s\",\"namespace\":\"default\"},\"status\":{%s\"conditions\":[%s]}}",
		 f->workload,
		 admission ? "\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":[{"
			     "\"name\":\"main\",\"flavors\":{\"cpu\":\"spot\"},\"resourceUsage\":"
			     "{\"cpu\":\"3\"},\"count\":3}]},"
			   : "",
		 conditions);
	call(f, HTTP_PATCH, url, APISERVER_FIXTURE_APPLY, body);
}

static void admit(struct fixture *f)
{
	workload_status(
		f,
		T("True", "QuotaReserved", "QuotaReserved") "," T("True", "Admitted", "Admitted"),
		true);
}

static void evict(struct fixture *f)
{
	workload_status(f,
			T("True", "QuotaReserved",
			  "QuotaReserved") "," T("True", "Admitted",
						 "Admitted") "," T("True", "Evicted", "Preempted"),
			true);
}

static void get_job(struct fixture *f)
{
	call(f, HTTP_GET, JOBS "/j", NULL, NULL);
}

static void get_workload(struct fixture *f)
{
	char url[400];

	snprintf(url, sizeof(url), WORKLOADS "/%s", f->workload);
	call(f, HTTP_GET, url, NULL, NULL);
}

/* The text at a path of the latest answer, of JSON for what is no text; "" when absent. */
static void expect(struct fixture *f, const char *path, const char *want)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	const struct jdoc *at = jdoc_path(f->api.doc, path);

	if (jdoc_str(at) != NULL) {
		strbuf_add_c(&b, jdoc_str(at));
	} else if (at != NULL) {
		jdoc_format(at, &b);
	}
	assert_string_equal(b.p, want);
}

static void expect_condition(struct fixture *f, const char *type, const char *status,
			     const char *reason)
{
	const struct jdoc *list = jdoc_path(f->api.doc, "status.conditions");

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			assert_string_equal(jdoc_path_str(c, "status"), status);
			assert_string_equal(jdoc_path_str(c, "reason"), reason);
			return;
		}
	}
	fail_msg("no condition %s", type);
}

static bool has_event(struct fixture *f, const char *reason)
{
	call(f, HTTP_GET, "/api/v1/namespaces/default/events", NULL, NULL);
	for (const struct jdoc *e = jdoc_first(jdoc_get(f->api.doc, "items")); e != NULL;
	     e = jdoc_next(e)) {
		if (jdoc_is_str(jdoc_get(e, "reason"), reason)) {
			return true;
		}
	}
	return false;
}

static enum owners_activity activity(struct fixture *f)
{
	char key[400];

	snprintf(key, sizeof(key), "default/%s", f->workload);
	return owners_activity(f->o, str_of(key));
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void expect_started(struct fixture *f)
{
	get_job(f);
	expect(f, "spec.suspend", "false");
	expect(f, "spec.template.spec.nodeSelector", "{\"disk\":\"ssd\",\"type\":\"spot\"}");
	assert_int_equal(jdoc_count(jdoc_path(f->api.doc, "spec.template.spec.tolerations")), 1);
	assert_true(jdoc_is_str(jdoc_get(jdoc_path(f->api.doc, "spec.template.metadata.labels"),
					 "kueue.x-k8s.io/podset"),
				"main"));
}

static void expect_restored(struct fixture *f)
{
	get_job(f);
	expect(f, "spec.suspend", "true");
	expect(f, "spec.template.spec.nodeSelector", "{\"disk\":\"ssd\"}");
	expect(f, "spec.template.spec.tolerations", "");
	expect(f, "spec.template.metadata.labels", "{\"app\":\"a\"}");
	expect(f, "status.startTime", "");
	assert_null(
		jdoc_get(jdoc_path(f->api.doc, "metadata.annotations"), "kueue.x-k8s.io/stopping"));
}

static void run(struct fixture *f)
{
	owners_synced(f->o);
	settle(f);
	get_workload(f);
	expect(f, "spec.queueName", "lq");
	expect(f, "metadata.finalizers", "[\"kueue.x-k8s.io/resource-in-use\"]");
	assert_int_equal(
		jdoc_int(jdoc_path(jdoc_at(jdoc_path(f->api.doc, "spec.podSets"), 0), "count"), 0),
		3);
	admit(f);
	settle(f);
	expect_started(f);
	job_status(f, "{\"startTime\":\"2026-01-01T00:00:00Z\",\"active\":3,\"ready\":3}");
	settle(f);
	assert_int_equal(activity(f), OWNERS_RUN);
	get_workload(f);
	expect_condition(f, "PodsReady", "True", "Started");
	evict(f);
	settle(f);
	expect_restored(f);
}

static void a_job_from_its_creation_to_its_end(void **state)
{
	struct fixture f;
	const struct jdoc *container;
	unsigned told;

	(void)state;
	begin(&f);
	create_job(&f, true);
	run(&f);
	/* The template is stored as a whole. */
	get_workload(&f);
	container = jdoc_path(jdoc_at(jdoc_path(f.api.doc, "spec.podSets"), 0), "template.spec");
	container = jdoc_at(jdoc_get(container, "containers"), 0);
	assert_string_equal(jdoc_path_str(container, "image"), "busybox");
	/* Its pods are going: it runs until they are gone. */
	assert_int_equal(activity(&f), OWNERS_RUN);
	told = f.told;
	job_status(&f, "{\"active\":0,\"ready\":0}");
	settle(&f);
	assert_int_equal(activity(&f), OWNERS_STOPPED);
	assert_int_equal(f.told, told + 1);
	workload_status(
		&f,
		T("False", "QuotaReserved", "PendingEvaluation") "," T(
			"False", "Admitted", "NoReservation") "," T("True", "Evicted", "Preempted"),
		false);
	settle(&f);
	expect_restored(&f);
	get_workload(&f);
	expect_condition(&f, "PodsReady", "False", "WaitForStart");
	admit(&f);
	settle(&f);
	expect_started(&f);
	job_status(&f, "{\"startTime\":\"2026-01-01T00:00:00Z\",\"succeeded\":3,\"conditions\":[" T(
			       "True", "Complete", "CompletionsReached") "]}");
	settle(&f);
	get_workload(&f);
	expect_condition(&f, "Finished", "True", "Succeeded");
	expect_condition(&f, "QuotaReserved", "True", "QuotaReserved");
	assert_int_equal(activity(&f), OWNERS_STOPPED);
	assert_true(has_event(&f, "CreatedWorkload"));
	assert_true(has_event(&f, "Started"));
	assert_true(has_event(&f, "Stopped"));
	assert_false(has_event(&f, "WorkloadWriteRefused"));
	call(&f, HTTP_DELETE, JOBS "/j", NULL, NULL);
	settle(&f);
	get_workload(&f);
	assert_int_equal(jdoc_count(jdoc_path(f.api.doc, "metadata.finalizers")), 0);
	end(&f);
}

static void answers_that_are_lost(void **state)
{
	(void)state;
	for (unsigned losses = 1; losses <= 6; losses++) {
		struct fixture f;

		begin(&f);
		f.losses = losses;
		create_job(&f, true);
		run(&f);
		end(&f);
	}
}

static void nothing_is_written_before_all_is_known(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	create_job(&f, true);
	settle(&f);
	call(&f, HTTP_GET, WORKLOADS, NULL, NULL);
	expect(&f, "items", "[]");
	end(&f);
}

static void a_job_that_nobody_admitted_is_stopped(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	owners_synced(f.o);
	create_job(&f, false);
	settle(&f);
	get_job(&f);
	expect(&f, "spec.suspend", "true");
	get_workload(&f);
	patch_job(&f, "{\"spec\":{\"suspend\":false}}");
	settle(&f);
	expect_restored(&f);
	end(&f);
}

static void a_job_that_changes_while_it_waits_keeps_its_workload(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf uid = STRBUF_INIT;
	struct fixture f;

	(void)state;
	begin(&f);
	owners_synced(f.o);
	create_job(&f, true);
	settle(&f);
	get_workload(&f);
	strbuf_add_c(&uid, jdoc_path_str(f.api.doc, "metadata.uid"));
	patch_job(&f, "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"other\"}},"
		      "\"spec\":{\"parallelism\":2}}");
	settle(&f);
	get_workload(&f);
	expect(&f, "metadata.uid", uid.p);
	expect(&f, "spec.queueName", "other");
	assert_int_equal(
		jdoc_int(jdoc_path(jdoc_at(jdoc_path(f.api.doc, "spec.podSets"), 0), "count"), 0),
		2);
	/* With quota, it is another Workload. */
	admit(&f);
	patch_job(&f, "{\"spec\":{\"parallelism\":1}}");
	settle(&f);
	get_workload(&f);
	assert_false(jdoc_is_str(jdoc_path(f.api.doc, "metadata.uid"), uid.p));
	end(&f);
}

static void a_job_that_cannot_start_so_ends(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	owners_synced(f.o);
	create_job(&f, true);
	settle(&f);
	patch_job(&f, "{\"spec\":{\"template\":{\"spec\":{\"nodeSelector\":{\"type\":\"x\"}}}}}");
	admit(&f);
	settle(&f);
	get_job(&f);
	expect(&f, "spec.suspend", "true");
	get_workload(&f);
	expect_condition(&f, "Finished", "True", "FailedToStart");
	end(&f);
}

static void workloads_of_others(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	owners_synced(f.o);
	call(&f, HTTP_POST, WORKLOADS, APISERVER_FIXTURE_YAML,
	     "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
	     " namespace: default}, spec: {queueName: lq, podSets: [{name: main, template:"
	     " {spec: {containers: [{name: c}]}}}]}}");
	settle(&f);
	assert_int_equal(activity(&f), OWNERS_NONE);
	assert_int_equal(owners_activity(f.o, STR_LIT("default/none")), OWNERS_FOREIGN);
	call(&f, HTTP_PATCH, WORKLOADS "/w", APISERVER_FIXTURE_MERGE,
	     "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"x/v1\",\"kind\":\"Other\","
	     "\"name\":\"o\",\"uid\":\"o-1\",\"controller\":true}]}}");
	settle(&f);
	assert_int_equal(activity(&f), OWNERS_FOREIGN);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_from_its_creation_to_its_end),
		cmocka_unit_test(answers_that_are_lost),
		cmocka_unit_test(nothing_is_written_before_all_is_known),
		cmocka_unit_test(a_job_that_nobody_admitted_is_stopped),
		cmocka_unit_test(a_job_that_changes_while_it_waits_keeps_its_workload),
		cmocka_unit_test(a_job_that_cannot_start_so_ends),
		cmocka_unit_test(workloads_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
