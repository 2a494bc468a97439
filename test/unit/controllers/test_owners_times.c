/* What is measured of owners, at the embedded API server. */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "enc/jdoc.h"
#include "lib/owners_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define PODS "/api/v1/namespaces/default/pods"
#define CONF "integrations: {frameworks: [batch/job, pod]}"

static void create_job(struct owners_fixture *f)
{
	owners_fixture_call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			    "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace:"
			    " default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend:"
			    " true, template: {spec: {restartPolicy: Never, containers: [{name: c,"
			    " image: i, resources: {requests: {cpu: '1'}}}]}}}}");
}

static void create_pod(struct owners_fixture *f, const char *name, const char *group)
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

	owners_fixture_call(f, HTTP_POST, PODS, APISERVER_FIXTURE_YAML, body);
}

static void later(struct owners_fixture *f, int seconds)
{
	clock_fake_advance(&f->clock, seconds * CLOCK_NS_PER_S);
	f->api.now = clock_wall(&f->clock.base);
}

static void expect(struct owners_fixture *f, const char *lines)
{
	assert_string_equal(f->measured.len == 0 ? "" : f->measured.p, lines);
	strbuf_reset(&f->measured);
}

static void a_job(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	owners_synced(f.o);
	create_job(&f);
	later(&f, 3);
	owners_fixture_settle(&f);
	expect(&f, "created Job lq 3\n");
	/* What becomes of it is nothing new; its pods have no gate. */
	owners_fixture_admit(&f, "main:1");
	owners_fixture_settle(&f);
	expect(&f, "");
	owners_fixture_end(&f);
}

/* Who lists it has not seen it come. */
static void what_was_there_before_is_not_counted(void **state)
{
	struct owners_fixture f;
	CLEANUP(xmalloc_freep) char *body = NULL;

	(void)state;
	owners_fixture_begin(&f, CONF);
	create_job(&f);
	owners_fixture_call(&f, HTTP_GET, JOBS "/j", NULL, NULL);
	body = xmalloc_printf(
		"{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: w,"
		" namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, name: j,"
		" uid: '%s', controller: true}]}, spec: {queueName: lq, podSets: [{name: main,"
		" count: 1, template: {spec: {containers: [{name: c, image: i, resources:"
		" {requests: {cpu: '1'}}}]}}}]}}",
		jdoc_path_str(f.api.doc, "metadata.uid"));
	owners_fixture_call(&f, HTTP_POST, OWNERS_FIXTURE_WORKLOADS, APISERVER_FIXTURE_YAML, body);
	owners_fixture_settle(&f);
	owners_synced(f.o);
	owners_fixture_settle(&f);
	expect(&f, "");
	owners_fixture_end(&f);
}

static void a_job_that_was_changed_is_not_counted(void **state)
{
	struct owners_fixture f;

	(void)state;
	owners_fixture_begin(&f, CONF);
	owners_synced(f.o);
	create_job(&f);
	owners_fixture_call(&f, HTTP_PATCH, JOBS "/j", APISERVER_FIXTURE_MERGE,
			    "{\"spec\":{\"parallelism\":2}}");
	owners_fixture_settle(&f);
	expect(&f, "");
	owners_fixture_end(&f);
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
		struct owners_fixture f;

		owners_fixture_begin(&f, CONF);
		owners_synced(f.o);
		create_pod(&f, "a", cases[i].group);
		later(&f, 5);
		if (cases[i].n > 1) {
			owners_fixture_settle(&f);
			create_pod(&f, "b", cases[i].group);
		}
		later(&f, 1);
		owners_fixture_settle(&f);
		expect(&f, cases[i].created);
		owners_fixture_admit(&f, cases[i].podsets);
		later(&f, 2);
		owners_fixture_settle(&f);
		expect(&f, cases[i].ungated);
		owners_fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job),
		cmocka_unit_test(what_was_there_before_is_not_counted),
		cmocka_unit_test(a_job_that_was_changed_is_not_counted),
		cmocka_unit_test(pods),
	};

	return cmocka_run_group_tests_name("controllers/owners_times", tests, NULL, NULL);
}
