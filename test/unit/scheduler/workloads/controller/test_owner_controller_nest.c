/* Jobs that belong to other Jobs, and to pods. */
#include "scheduler/workloads/controller/owner_controller.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "unit/scheduler/workloads/owners/owner_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define PODS "/api/v1/namespaces/default/pods"
#define QUEUE "kueue.x-k8s.io/queue-name: lq"

struct owner_ref {
	const char *api_version, *kind, *name, *uid; /* uid NULL: that of the Job or pod */
};

static void add_owner(struct owner_fixture *f, const struct owner_ref *ref, struct strbuf *body)
{
	const char *uid = ref->uid;
	char url[200];

	if (uid == NULL) {
		snprintf(url, sizeof(url), "%s/%s", str_streq(ref->kind, "Pod") ? PODS : JOBS,
			 ref->name);
		owner_fixture_call(f, HTTP_GET, url, NULL, NULL);
		uid = jdoc_path_str(f->api.doc, "metadata.uid");
	}
	strbuf_printf(body,
		      ", \"ownerReferences\": [{\"apiVersion\": \"%s\", \"kind\": \"%s\","
		      " \"name\": \"%s\", \"uid\": \"%s\", \"controller\": true}]",
		      ref->api_version, ref->kind, ref->name, uid);
}

/* A Job that runs. */
static void create_job(struct owner_fixture *f, const char *name, const char *labels,
		       const struct owner_ref *ref)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body,
		      "{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		      " labels: {%s}",
		      name, labels);
	if (ref != NULL) {
		add_owner(f, ref, &body);
	}
	strbuf_add_c(&body, "}, spec: {template: {spec: {restartPolicy: Never, containers:"
			    " [{name: c, image: busybox, resources: {requests: {cpu: '1'}}}]}}}}");
	owner_fixture_call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML, body.p);
}

static void let_go(struct owner_fixture *f, const char *name)
{
	char url[200];

	snprintf(url, sizeof(url), JOBS "/%s", name);
	owner_fixture_call(f, HTTP_PATCH, url, APISERVER_FIXTURE_MERGE,
			   "{\"spec\":{\"suspend\":false}}");
}

static void expect_suspended(struct owner_fixture *f, const char *name, bool want)
{
	char url[200];

	snprintf(url, sizeof(url), JOBS "/%s", name);
	owner_fixture_call(f, HTTP_GET, url, NULL, NULL);
	if (jdoc_bool(jdoc_path(f->api.doc, "spec.suspend"), false) != want) {
		fail_msg("Job %s %s", name, want ? "runs" : "is suspended");
	}
}

static void expect_workloads(struct owner_fixture *f, size_t want)
{
	owner_fixture_call(f, HTTP_GET, OWNER_FIXTURE_WORKLOADS, NULL, NULL);
	assert_int_equal(jdoc_count(jdoc_get(f->api.doc, "items")), want);
}

/* top queues; middle does not, low does: both run with top, which has the only Workload. */
static void jobs_below_run_with_the_topmost(void **state)
{
	const struct owner_ref top = { "batch/v1", "Job", "top", NULL };
	const struct owner_ref middle = { "batch/v1", "Job", "middle", NULL };
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, "top", QUEUE, NULL);
	create_job(&f, "middle", "", &top);
	create_job(&f, "low", QUEUE, &middle);
	owner_fixture_settle(&f);
	expect_suspended(&f, "top", true);
	expect_suspended(&f, "middle", true);
	expect_suspended(&f, "low", true);
	expect_workloads(&f, 1);
	assert_true(owner_fixture_has_event(&f, "Suspended"));
	/* low is started with top; middle is started by its maker, and is not suspended again. */
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	expect_suspended(&f, "top", false);
	expect_suspended(&f, "middle", true);
	expect_suspended(&f, "low", false);
	let_go(&f, "middle");
	owner_fixture_settle(&f);
	expect_suspended(&f, "middle", false);
	owner_fixture_workload_status(
		&f, OWNER_FIXTURE_CONDITION("False", "QuotaReserved", "Pending"), NULL);
	owner_fixture_settle(&f);
	expect_suspended(&f, "top", true);
	expect_suspended(&f, "middle", true);
	expect_suspended(&f, "low", true);
	expect_workloads(&f, 1);
	assert_false(owner_fixture_has_event(&f, "JobNestingTooDeep"));
	/* top is gone: what queues below it does not run without. */
	owner_fixture_call(&f, HTTP_DELETE, JOBS "/top", NULL, NULL);
	owner_fixture_settle(&f);
	let_go(&f, "middle");
	let_go(&f, "low");
	owner_fixture_settle(&f);
	expect_suspended(&f, "middle", false);
	expect_suspended(&f, "low", true);
	owner_fixture_end(&f);
}

/* Two Jobs that name each other as controller, and one that names itself. */
static void owners_in_a_circle(void **state)
{
	static const char *const names[] = { "a", "b", "self" };
	static const char *const owners[] = { "b", "a", "self" };
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		create_job(&f, names[i], QUEUE, NULL);
	}
	owner_fixture_settle(&f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct owner_ref ref = { "batch/v1", "Job", owners[i], NULL };
		CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
		char url[200];

		strbuf_printf(&body, "{\"metadata\": {\"name\": \"%s\"", names[i]);
		add_owner(&f, &ref, &body);
		strbuf_add_c(&body, "}}");
		snprintf(url, sizeof(url), JOBS "/%s", names[i]);
		owner_fixture_call(&f, HTTP_PATCH, url, APISERVER_FIXTURE_MERGE, body.p);
	}
	owner_fixture_settle(&f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		let_go(&f, names[i]);
	}
	owner_fixture_settle(&f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unit_row_number(i);
		expect_suspended(&f, names[i], true);
	}
	owner_fixture_end(&f);
}

/* The label of the Job above comes later. */
static void a_job_that_comes_to_queue(void **state)
{
	const struct owner_ref top = { "batch/v1", "Job", "top", NULL };
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{}");
	owner_controller_synced(f.o);
	create_job(&f, "top", "", NULL);
	create_job(&f, "low", "", &top);
	owner_fixture_settle(&f);
	expect_suspended(&f, "low", false);
	owner_fixture_call(&f, HTTP_PATCH, JOBS "/top", APISERVER_FIXTURE_MERGE,
			   "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\"}}}");
	owner_fixture_settle(&f);
	expect_suspended(&f, "low", true);
	owner_fixture_end(&f);
}

static void owners_that_do_not_count(void **state)
{
	static const struct {
		struct owner_ref ref;
		bool runs;        /* the Job with a queue below it */
		size_t workloads; /* of it */
	} cases[] = {
		{ { "batch/v1", "Job", "plain", NULL }, false, 1 }, /* it does not queue */
		{ { "batch/v1", "Job", "plain", "x" }, false, 1 },  /* another one of this name */
		{ { "x.io/v1", "Job", "plain", "x" }, false, 1 },   /* another kind */
		{ { "v1", "Pod", "none", "x" }, false, 1 },         /* one that does not queue */
		{ { "batch/v1", "Job", "absent", "x" }, false, 0 }, /* it may come */
		/* Nothing queues for it. */
		{ { "jobset.x-k8s.io/v1", "JobSet", "s", "x" }, false, 1 },
		{ { "example.com/v1", "Foo", "s", "x" }, true, 0 }, /* external */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct owner_fixture f;

		unit_row_number(i);
		owner_fixture_begin(&f, "{integrations: {frameworks: [batch/job,"
					" jobset.x-k8s.io/jobset], externalFrameworks:"
					" [Foo.v1.example.com]}}");
		owner_controller_synced(f.o);
		create_job(&f, "plain", "", NULL);
		create_job(&f, "low", QUEUE, &cases[i].ref);
		owner_fixture_settle(&f);
		expect_suspended(&f, "low", !cases[i].runs);
		expect_workloads(&f, cases[i].workloads);
		owner_fixture_end(&f);
	}
}

/* The webhook checks the writer of the owner of a Job that queues. Other Jobs may name any owner of
 * an external framework. */
static void a_forged_owner_above(void **state)
{
	const struct owner_ref external = { "example.com/v1", "Foo", "s", "x" };
	const struct owner_ref middle = { "batch/v1", "Job", "middle", NULL };
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{integrations: {externalFrameworks: [Foo.v1.example.com]}}");
	owner_controller_synced(f.o);
	create_job(&f, "middle", "", &external);
	create_job(&f, "low", QUEUE, &middle);
	owner_fixture_settle(&f);
	expect_suspended(&f, "middle", false);
	expect_suspended(&f, "low", true);
	expect_workloads(&f, 1);
	owner_fixture_end(&f);
}

/* A chain of so many Jobs above one, the topmost of which queues. */
static void chain(struct owner_fixture *f, int above)
{
	char name[20], below[20];

	owner_fixture_begin(f, "{}");
	owner_controller_synced(f->o);
	create_job(f, "j0", QUEUE, NULL);
	for (int i = 1; i <= above; i++) {
		struct owner_ref ref = { "batch/v1", "Job", name, NULL };

		snprintf(name, sizeof(name), "j%d", i - 1);
		snprintf(below, sizeof(below), "j%d", i);
		create_job(f, below, "", &ref);
	}
	owner_fixture_settle(f);
}

static void ten_levels_and_one_more(void **state)
{
	struct owner_fixture f;

	(void)state;
	chain(&f, 10);
	expect_suspended(&f, "j10", true);
	assert_false(owner_fixture_has_event(&f, "JobNestingTooDeep"));
	owner_fixture_end(&f);
	chain(&f, 11);
	expect_suspended(&f, "j10", true);
	expect_suspended(&f, "j11", false);
	assert_true(owner_fixture_has_event(&f, "JobNestingTooDeep"));
	owner_fixture_end(&f);
}

static void a_job_of_a_pod_that_queues(void **state)
{
	const struct owner_ref pod = { "v1", "Pod", "p", NULL };
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, "{integrations: {frameworks: [batch/job, pod]}}");
	owner_controller_synced(f.o);
	owner_fixture_call(&f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML,
			   "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default,"
			   " labels: {" QUEUE ", kueue.x-k8s.io/managed: 'true'}}, spec:"
			   " {schedulingGates: [{name: kueue.x-k8s.io/admission}],"
			   " containers: [{name: c, image: busybox}]}}");
	create_job(&f, "low", QUEUE, &pod);
	owner_fixture_settle(&f);
	expect_suspended(&f, "low", true);
	expect_workloads(&f, 1);
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	expect_suspended(&f, "low", false);
	owner_fixture_workload_status(
		&f, OWNER_FIXTURE_CONDITION("False", "QuotaReserved", "Pending"), NULL);
	owner_fixture_settle(&f);
	expect_suspended(&f, "low", true);
	owner_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_below_run_with_the_topmost),
		cmocka_unit_test(owners_in_a_circle),
		cmocka_unit_test(a_job_that_comes_to_queue),
		cmocka_unit_test(owners_that_do_not_count),
		cmocka_unit_test(a_forged_owner_above),
		cmocka_unit_test(ten_levels_and_one_more),
		cmocka_unit_test(a_job_of_a_pod_that_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
