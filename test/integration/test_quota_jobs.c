/* Jobs of LocalQueues through the whole scheduler, as processes: the test plays the Job controller
 * of Kubernetes, which there is none of. */
#include "lib/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "lib/wait.h"
#include "play/scene.h"
#include "play/workload_scene.h"

#define WAIT_NS WORKLOAD_SCENE_WAIT_NS
#define MERGE "application/merge-patch+json"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"

static struct scene scene;

static const char world[] =
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: spot},"
	" spec: {nodeLabels: {type: spot}}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: high},"
	" value: 10}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: team},"
	" spec: {namespaceSelector: {}, preemption: {withinClusterQueue: LowerPriority},"
	" resourceGroups: [{coveredResources: [cpu], flavors: [{name: spot,"
	" resources: [{name: cpu, nominalQuota: 3}]}]}]}}\n"
	"---\n"
	"{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: lq,"
	" namespace: default}, spec: {clusterQueue: team}}\n";

static int begin(void **state)
{
	workload_scene_start(&scene, world);
	*state = &scene;
	return 0;
}

/* --- what stands in the API --------------------------------------------------------------------*/

/* The Workload of a Job; NULL: there is none. The caller owns it. */
static struct jdoc *workload_of(struct scene *s, const char *job)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;

	scene_call(s, "GET", WORKLOADS, NULL, &list);
	for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
	     w = jdoc_next(w)) {
		const struct jdoc *owner = jdoc_at(jdoc_path(w, "metadata.ownerReferences"), 0);

		if (jdoc_is_str(jdoc_get(owner, "name"), job)) {
			return jdoc_copy(w);
		}
	}
	return NULL;
}

static bool has_condition(const struct jdoc *object, const char *type, const char *status,
			  const char *reason)
{
	const struct jdoc *c = workload_scene_condition(object, type);

	return jdoc_is_str(jdoc_get(c, "status"), status) &&
	       jdoc_is_str(jdoc_get(c, "reason"), reason);
}

static void wait_workload(struct scene *s, const char *job, const char *type, const char *status,
			  const char *reason)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *w = workload_of(s, job);

		if (has_condition(w, type, status, reason)) {
			return;
		}
		strbuf_reset(&text);
		if (w != NULL) {
			jdoc_format(jdoc_path(w, "status"), &text);
		}
	} while (wait_until(deadline));
	scene_fail(s, "Workload of %s: no %s=%s/%s, but %s", job, type, status, reason, text.p);
}

static bool is_pinned(const struct jdoc *job)
{
	return jdoc_is_str(jdoc_path(job, "spec.template.spec.nodeSelector.type"), "spot");
}

/* Suspended; as its user wrote it only when its pods have ended. */
static void wait_suspended(struct scene *s, const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(JOBS "/%s", name);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;

		scene_call(s, "GET", path, NULL, &job);
		if (jdoc_bool(jdoc_path(job, "spec.suspend"), false)) {
			return;
		}
	} while (wait_until(deadline));
	scene_fail(s, "Job %s is not suspended", name);
}

/* Suspended as its user wrote it, or started on the flavor's nodes. */
static void wait_job(struct scene *s, const char *name, bool starts)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(JOBS "/%s", name);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;

		scene_call(s, "GET", path, NULL, &job);
		if (jdoc_bool(jdoc_path(job, "spec.suspend"), starts) == !starts &&
		    is_pinned(job) == starts) {
			return;
		}
		strbuf_reset(&text);
		jdoc_format(job, &text);
	} while (wait_until(deadline));
	scene_fail(s, "Job %s is not %s: %s", name, starts ? "started" : "restored", text.p);
}

/* --- what others do ----------------------------------------------------------------------------*/

static void add_any_job(struct scene *s, const char *name, const char *labels, int pods)
{
	CLEANUP(xmalloc_freep)
	char *yaml = xmalloc_printf(
		"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default,"
		" labels: {%s}}, spec: {suspend: true,"
		" parallelism: %d, completions: %d, template: {spec: {restartPolicy: Never,"
		" containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}}}}",
		name, labels, pods, pods);

	scene_apply(s, yaml);
}

static void add_job(struct scene *s, const char *name, const char *labels, int pods)
{
	CLEANUP(xmalloc_freep)
	char *all = xmalloc_printf("kueue.x-k8s.io/queue-name: lq%s", labels);

	add_any_job(s, name, all, pods);
}

/* As the Job controller. */
static void job_status(struct scene *s, const char *name, const char *status)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(JOBS "/%s/status", name);
	CLEANUP(xmalloc_freep) char *body = xmalloc_printf("{\"status\":%s}", status);
	struct err err = ERR_INIT;

	if (rest_call(s->transport, HTTP_PATCH, path, MERGE, str_of(body), WAIT_NS, NULL, &err) <
	    0) {
		scene_fail(s, "%s: %s", path, err.text);
	}
}

#define STARTED "{\"startTime\":\"2026-01-01T00:00:00Z\",\"active\":%d,\"ready\":%d}"
#define COMPLETE                                                                                   \
	"{\"active\":0,\"ready\":0,\"succeeded\":2,\"conditions\":[{\"type\":\"Complete\","        \
	"\"status\":\"True\",\"reason\":\"CompletionsReached\",\"message\":\"m\"}]}"

static void start_pods(struct scene *s, const char *name, int pods)
{
	CLEANUP(xmalloc_freep) char *status = xmalloc_printf(STARTED, pods, pods);

	job_status(s, name, status);
}

/* --- tests -------------------------------------------------------------------------------------*/

static void test_jobs_take_turns(void **state)
{
	struct scene *s = *state;

	add_job(s, "one", "", 2);
	wait_job(s, "one", true);
	wait_workload(s, "one", "Admitted", "True", "Admitted");
	start_pods(s, "one", 2);
	wait_workload(s, "one", "PodsReady", "True", "Started");
	add_job(s, "two", "", 2);
	wait_workload(s, "two", "QuotaReserved", "False", "WaitingForQuota");
	job_status(s, "one", COMPLETE);
	wait_workload(s, "one", "Finished", "True", "Succeeded");
	wait_job(s, "two", true);
	job_status(s, "two", COMPLETE);
	wait_workload(s, "two", "Finished", "True", "Succeeded");
}

/* The victim keeps its quota until its pods have stopped, and comes back as it was. */
static void test_preemption(void **state)
{
	struct scene *s = *state;

	add_job(s, "low", "", 2);
	wait_job(s, "low", true);
	start_pods(s, "low", 2);
	add_job(s, "high", ", kueue.x-k8s.io/priority-class: high", 2);
	wait_workload(s, "low", "Evicted", "True", "Preempted");
	wait_suspended(s, "low");
	wait_workload(s, "high", "QuotaReserved", "False", "WaitingForPreemptedWorkloads");
	wait_workload(s, "low", "QuotaReserved", "True", "QuotaReserved");
	job_status(s, "low", "{\"active\":0,\"ready\":0}");
	wait_job(s, "low", false);
	wait_job(s, "high", true);
	wait_workload(s, "low", "QuotaReserved", "False", "WaitingForQuota");
	job_status(s, "high", COMPLETE);
	wait_job(s, "low", true);
	wait_workload(s, "low", "Evicted", "False", "QuotaReserved");
	job_status(s, "low", COMPLETE);
	wait_workload(s, "low", "Finished", "True", "Succeeded");
}

/* Statuses that the engine has written so far. */
static double writes(struct scene *s)
{
	return scene_metric(s, STACK_SCHEDULER,
			    "headgate_requests_total{request=\"workload\",outcome=\"done\"}");
}

/* The answers to at least so many have come. */
static void wait_writes(struct scene *s, double n)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	while (writes(s) < n) {
		if (!wait_until(deadline)) {
			scene_fail(s, "only %g statuses written, not %g", writes(s), n);
		}
	}
}

static void test_number_of_writes_for_a_job(void **state)
{
	struct scene *s = *state;

	/* Counted by a scheduler that has written nothing yet: answers may come late. */
	scene_restart_scheduler(s, NULL, workload_scene_args);
	add_job(s, "cheap", "", 2);
	wait_job(s, "cheap", true);
	start_pods(s, "cheap", 2);
	wait_workload(s, "cheap", "PodsReady", "True", "Started");
	job_status(s, "cheap", COMPLETE);
	wait_workload(s, "cheap", "Finished", "True", "Succeeded");
	/* Reservation and admission in one; readiness and the end are written by the Job
	 * controller. */
	wait_writes(s, 1);
	assert_true(writes(s) == 1);
	add_job(s, "victim", "", 2);
	wait_job(s, "victim", true);
	start_pods(s, "victim", 2);
	wait_workload(s, "victim", "PodsReady", "True", "Started");
	wait_writes(s, 2);
	assert_true(writes(s) == 2);
	add_job(s, "better", ", kueue.x-k8s.io/priority-class: high", 2);
	wait_suspended(s, "victim");
	job_status(s, "victim", "{\"active\":0,\"ready\":0}");
	wait_job(s, "victim", false);
	wait_job(s, "better", true);
	wait_workload(s, "victim", "QuotaReserved", "False", "WaitingForQuota");
	/* The victim: evicted, its quota given back, why it waits, if that is not said with the
	 * former. The preemptor: admitted, and why it waits meanwhile, if that takes long enough.
	 */
	wait_writes(s, 2 + 3);
	assert_in_range((int)writes(s), 2 + 3, 2 + 6);
	job_status(s, "better", COMPLETE);
	wait_job(s, "victim", true);
	job_status(s, "victim", COMPLETE);
	wait_workload(s, "victim", "Finished", "True", "Succeeded");
}

static void test_a_restart_in_the_middle(void **state)
{
	struct scene *s = *state;

	add_job(s, "a", "", 2);
	wait_job(s, "a", true);
	start_pods(s, "a", 2);
	scene_restart_scheduler(s, NULL, workload_scene_args);
	add_job(s, "b", "", 2);
	wait_workload(s, "b", "QuotaReserved", "False", "WaitingForQuota");
	wait_job(s, "a", true);
	job_status(s, "a", COMPLETE);
	wait_job(s, "b", true);
	job_status(s, "b", COMPLETE);
	wait_workload(s, "b", "Finished", "True", "Succeeded");
}

static void set_active(struct scene *s, const char *job, bool active)
{
	CLEANUP(jdoc_destroyp) struct jdoc *w = workload_of(s, job);
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf(WORKLOADS "/%s", jdoc_path_str(w, "metadata.name"));
	struct err err = ERR_INIT;

	if (rest_call(s->transport, HTTP_PATCH, path, MERGE,
		      active ? STR_LIT("{\"spec\":{\"active\":true}}")
			     : STR_LIT("{\"spec\":{\"active\":false}}"),
		      WAIT_NS, NULL, &err) < 0) {
		scene_fail(s, "%s: %s", path, err.text);
	}
}

static void test_switched_off_and_on(void **state)
{
	struct scene *s = *state;

	add_job(s, "switch", "", 2);
	wait_job(s, "switch", true);
	start_pods(s, "switch", 2);
	set_active(s, "switch", false);
	wait_workload(s, "switch", "Evicted", "True", "Deactivated");
	wait_suspended(s, "switch");
	job_status(s, "switch", "{\"active\":0,\"ready\":0}");
	wait_job(s, "switch", false);
	wait_workload(s, "switch", "QuotaReserved", "False", "Deactivated");
	wait_workload(s, "switch", "Requeued", "False", "Deactivated");
	set_active(s, "switch", true);
	wait_job(s, "switch", true);
	wait_workload(s, "switch", "Requeued", "True", "Reactivated");
	job_status(s, "switch", COMPLETE);
	wait_workload(s, "switch", "Finished", "True", "Succeeded");
}

static void test_a_job_that_takes_too_long(void **state)
{
	struct scene *s = *state;

	add_job(s, "long", ", kueue.x-k8s.io/max-exec-time-seconds: '1'", 2);
	wait_workload(s, "long", "Evicted", "True", "DeactivatedDueToMaximumExecutionTimeExceeded");
	wait_job(s, "long", false);
	wait_workload(s, "long", "QuotaReserved", "False", "Deactivated");
}

/* With manageJobsWithoutQueueName, a Job without a LocalQueue waits for one. */
static void test_a_job_without_a_queue(void **state)
{
	static const char text[] = "manageJobsWithoutQueueName: true\n";
	static char conf[] = "/tmp/headgate-quota-jobs-XXXXXX", flag[64];
	static const char *const args[] = { "--controllers=*,workload", flag, NULL };
	struct scene *s = *state;
	int fd = mkstemp(conf);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	assert_int_equal(close(fd), 0);
	snprintf(flag, sizeof(flag), "--quota-conf=%s", conf);
	scene_restart_scheduler(s, NULL, args);
	add_any_job(s, "queueless", "", 1);
	wait_workload(s, "queueless", "QuotaReserved", "False", "Misconfigured");
	scene_call(s, "PATCH", JOBS "/queueless",
		   "{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"lq\"}}}", NULL);
	wait_job(s, "queueless", true);
	wait_workload(s, "queueless", "Admitted", "True", "Admitted");
	scene_restart_scheduler(s, NULL, workload_scene_args);
	unlink(conf);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_jobs_take_turns, workload_scene_after_each),
		cmocka_unit_test_teardown(test_preemption, workload_scene_after_each),
		cmocka_unit_test_teardown(test_number_of_writes_for_a_job,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_restart_in_the_middle, workload_scene_after_each),
		cmocka_unit_test_teardown(test_switched_off_and_on, workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_job_that_takes_too_long,
					  workload_scene_after_each),
		cmocka_unit_test_teardown(test_a_job_without_a_queue, workload_scene_after_each),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
