/* Durations that are measured of owners, at the embedded API server. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "unit/scheduler/workloads/owners/owner_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define PODS "/api/v1/namespaces/default/pods"
#define CONF "integrations: {frameworks: [batch/job, pod]}"

static void create_job(struct owner_fixture *f)
{
	owner_fixture_call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			   "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace:"
			   " default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend:"
			   " true, template: {spec: {restartPolicy: Never, containers: [{name: c,"
			   " image: i, resources: {requests: {cpu: '1'}}}]}}}}");
}

static void create_pod(struct owner_fixture *f, const char *name, const char *group)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: default, finalizers:"
		" [kueue.x-k8s.io/managed], labels: {kueue.x-k8s.io/queue-name: lq,"
		" kueue.x-k8s.io/managed: 'true'%s}, annotations: {kueue.x-k8s.io/role-hash: r1,"
		" kueue.x-k8s.io/pod-group-total-count: '2'}}, spec: {schedulingGates: [{name:"
		" kueue.x-k8s.io/admission}], containers: [{name: c, image: i, resources:"
		" {requests: {cpu: '1'}}}]}}",
		name, group);

	owner_fixture_call(f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML, body);
}

static void later(struct owner_fixture *f, int seconds)
{
	clock_fake_advance(&f->clock, seconds * CLOCK_NS_PER_S);
	f->api.now = clock_wall(&f->clock.base);
}

static void expect(struct owner_fixture *f, const char *lines)
{
	assert_string_equal(f->measured.len == 0 ? "" : f->measured.p, lines);
	strbuf_reset(&f->measured);
}

static void a_job(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	create_job(&f);
	later(&f, 3);
	owner_fixture_settle(&f);
	expect(&f, "created Job lq 3\n");
	/* Its admission is not measured: its pods have no gate. */
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	expect(&f, "");
	owner_fixture_end(&f);
}

/* An object of the first list was created at an unknown time before. */
static void listed_objects_are_not_measured(void **state)
{
	struct owner_fixture f;
	CLEANUP(xmalloc_freep) char *body = NULL;

	(void)state;
	owner_fixture_begin(&f, CONF);
	create_job(&f);
	owner_fixture_call(&f, HTTP_GET, JOBS "/j", NULL, NULL);
	body = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
		" namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j,"
		" uid: '%s', controller: true}]}, spec: {queueName: lq, podSets: [{name: main,"
		" count: 1, template: {spec: {containers: [{name: c, image: i, resources:"
		" {requests: {cpu: '1'}}}]}}}]}}",
		jdoc_path_str(f.api.doc, "metadata.uid"));
	owner_fixture_call(&f, HTTP_POST, OWNER_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML, body);
	owner_fixture_settle(&f);
	owner_controller_synced(f.o);
	owner_fixture_settle(&f);
	expect(&f, "");
	owner_fixture_end(&f);
}

static void a_job_that_was_changed_is_not_counted(void **state)
{
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	create_job(&f);
	owner_fixture_call(&f, HTTP_PATCH, JOBS "/j", APISERVER_FIXTURE_MERGE,
			   "{\"spec\":{\"parallelism\":2}}");
	owner_fixture_settle(&f);
	expect(&f, "");
	owner_fixture_end(&f);
}

static void pods(void **state)
{
	static const struct {
		const char *group, *podsets, *created, *ungated;
		size_t n;
	} cases[] = {
		{ "", "main:1", "created Pod lq 6\n", "ungated cq pod 0\n", 1 },
		{ ", kueue.x-k8s.io/pod-group-name: g", "r1:2", "created Pod lq 1\n",
		  "ungated cq group 0\nungated cq group 0\n", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct owner_fixture f;

		unit_row(cases[i].group);
		owner_fixture_begin(&f, CONF);
		owner_controller_synced(f.o);
		create_pod(&f, "a", cases[i].group);
		later(&f, 5);
		if (cases[i].n > 1) {
			owner_fixture_settle(&f);
			create_pod(&f, "b", cases[i].group);
		}
		later(&f, 1);
		owner_fixture_settle(&f);
		expect(&f, cases[i].created);
		owner_fixture_admit(&f, cases[i].podsets);
		later(&f, 2);
		owner_fixture_settle(&f);
		expect(&f, cases[i].ungated);
		owner_fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job),
		cmocka_unit_test(listed_objects_are_not_measured),
		cmocka_unit_test(a_job_that_was_changed_is_not_counted),
		cmocka_unit_test(pods),
	};

	return cmocka_run_group_tests_name("workloads/owners/owner_controller_times", tests, NULL,
					   NULL);
}
