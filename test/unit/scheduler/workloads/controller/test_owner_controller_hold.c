/* Whether a pod runs on the quota of a Workload, at the embedded API server. */
#include "lib/unit.h"

#include "api/core/pod.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/workloads/owners/owner_fixture.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define CONF "integrations: {frameworks: [batch/job, pod]}"
#define STARTED "'kueue.x-k8s.io/managed':'true','kueue.x-k8s.io/podset':'main'"

/* owner: UID of the Job "j" that controls it; NULL: no controller. */
static bool is_held(struct owner_fixture *f, const char *labels, const char *owner, bool has_node)
{
	CLEANUP(strbuf_finish) struct strbuf b = STRBUF_INIT;
	struct api_pod pod;

	strbuf_printf(&b, "{'metadata':{'namespace':'default','name':'%s','uid':'u','labels':{%s}",
		      has_node ? "runs" : "waits", labels);
	if (owner != NULL) {
		strbuf_printf(&b,
			      ",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':"
			      "'j','uid':'%s','controller':true}]",
			      owner);
	}
	strbuf_printf(&b, "},'spec':{%s}}", has_node ? "'nodeName':'n'" : "");
	decode_fixture(&pod_fields, b.p, &pod);
	return owner_controller_hold(f->o, &pod);
}

/* The UID of the Job that was made. */
static char *start(struct owner_fixture *f)
{
	owner_fixture_call(f, HTTP_POST, JOBS, APISERVER_FIXTURE_YAML,
			   "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace:"
			   " default, labels: {kueue.x-k8s.io/queue-name: lq}}, spec: {suspend:"
			   " true, template: {spec: {restartPolicy: Never, containers: [{name: c,"
			   " image: i, resources: {requests: {cpu: '1'}}}]}}}}");
	owner_fixture_call(f, HTTP_GET, JOBS "/j", NULL, NULL);
	return xmalloc_dup(jdoc_path_str(f->api.doc, "metadata.uid"));
}

static void pods_of_an_admitted_job(void **state)
{
	CLEANUP(xmalloc_freep) char *uid = NULL;
	struct owner_fixture f;

	(void)state;
	owner_fixture_begin(&f, CONF);
	owner_controller_synced(f.o);
	uid = start(&f);
	owner_fixture_settle(&f);
	assert_false(is_held(&f, STARTED, uid, false)); /* no quota yet */
	owner_fixture_admit(&f, "main:1");
	owner_fixture_settle(&f);
	assert_true(is_held(&f, STARTED, uid, false));
	assert_false(is_held(&f, "'kueue.x-k8s.io/podset':'main'", uid, false));
	assert_false(is_held(&f, "'kueue.x-k8s.io/managed':'true'", uid, false));
	assert_false(is_held(&f, STARTED, "another", false)); /* an earlier Job of the name */
	assert_false(is_held(&f, STARTED, NULL, false));
	owner_fixture_workload_status(
		&f,
		OWNER_FIXTURE_CONDITION(
			"False", "QuotaReserved",
			"PendingEvaluation") "," OWNER_FIXTURE_CONDITION("True", "Evicted",
									 "Preempted"),
		NULL);
	owner_fixture_settle(&f);
	/* A pod that still runs is not charged to a Queue while it stops. */
	assert_false(is_held(&f, STARTED, uid, false));
	assert_true(is_held(&f, STARTED, uid, true));
	owner_fixture_end(&f);
}

static void on_unheld(void *ctx, struct str key)
{
	unsigned *n = ctx;

	assert_true(str_eq_c(key, "default/waits"));
	(*n)++;
}

/* After a restart pods may be seen first: their labels count until all objects are listed. */
static void labels_count_until_all_is_listed(void **state)
{
	CLEANUP(xmalloc_freep) char *uid = NULL;
	struct owner_fixture f;
	unsigned n = 0;

	(void)state;
	owner_fixture_begin(&f, CONF);
	assert_true(is_held(&f, STARTED, "forged", false));
	uid = start(&f);
	assert_true(is_held(&f, STARTED, uid, true));
	assert_false(is_held(&f, "", uid, false));
	owner_controller_synced(f.o);
	owner_fixture_settle(&f);
	owner_controller_hold_recheck(f.o, on_unheld, &n);
	assert_int_equal(n, 1); /* the Job has a Workload by now */
	owner_controller_hold_recheck(f.o, on_unheld, &n);
	assert_int_equal(n, 1);
	owner_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_an_admitted_job),
		cmocka_unit_test(labels_count_until_all_is_listed),
	};

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
