/* The manager of MultiKueue as a process, with three worker clusters, each with a scheduler of
 * Headgate: a Job goes there, runs on one of them, and its end comes back. The core on the
 * manager's cluster and the Job controllers are played here. */
#include "lib/unit.h"

#include <signal.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/fleet_scene.h"
#include "play/stack.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)
#define JOBS "/apis/batch/v1/namespaces/default/jobs/"
#define QUOTA_RESERVED                                                                             \
	"{\"type\":\"QuotaReserved\",\"status\":\"True\",\"reason\":\"QuotaReserved\","            \
	"\"message\":"                                                                             \
	"\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads/"
#define TEMPLATE                                                                                   \
	"template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: "     \
	"{requests: {cpu: '1'}}}]}}"
#define NONE                                                                                       \
	(struct str)                                                                               \
	{                                                                                          \
		NULL, 0                                                                            \
	}

static struct fleet_scene fleet;
static struct err err;

static void must(int r)
{
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

static int begin(void **state UNUSED)
{
	static const char *const args[] = { "--leader-elect=false", NULL };
	int r = fleet_scene_start(&fleet, true, args, &err);

	if (r < 0) {
		print_message("%s\n", err.text);
	}
	return r;
}

static int end(void **state UNUSED)
{
	fleet_scene_stop(&fleet, false);
	return 0;
}

/* NULL: there is none. */
static struct jdoc *get(struct stack *of, const char *collection, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct jdoc *ret = NULL;
	int r;

	strbuf_printf(&path, "%s%s", collection, name);
	r = stack_call(of, "GET", path.p, NONE, &ret, &err);
	if (r != -ERR_NOT_FOUND) {
		must(r);
	}
	return ret;
}

static void patch(struct stack *of, const char *collection, const char *name, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	strbuf_printf(&path, "%s%s/status", collection, name);
	must(stack_call(of, "PATCH", path.p, str_of(text), NULL, &err));
}

/* With quota, as the core would give it. */
static void submit(const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;
	CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;

	strbuf_printf(&yaml,
		      "{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default, "
		      "labels: {kueue.x-k8s.io/queue-name: main}}, spec: {suspend: true, "
		      "managedBy: kueue.x-k8s.io/multikueue, " TEMPLATE "}}",
		      name);
	must(stack_apply(fleet.manager, strbuf_str(&yaml), &err));
	job = get(fleet.manager, JOBS, name);
	strbuf_reset(&yaml);
	strbuf_printf(&yaml,
		      "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: %s, "
		      "namespace: default, ownerReferences: [{apiVersion: batch/v1, kind: Job, "
		      "name: %s, uid: %s, controller: true}]}, spec: {queueName: main, podSets: "
		      "[{name: main, count: 1, " TEMPLATE "}]}}",
		      name, name, jdoc_path_str(job, "metadata.uid"));
	must(stack_apply(fleet.manager, strbuf_str(&yaml), &err));
	patch(fleet.manager, WORKLOADS, name,
	      "{\"status\":{\"conditions\":[" QUOTA_RESERVED
	      "],\"admission\":{\"clusterQueue\":\"cq\","
	      "\"podSetAssignments\":[{\"name\":\"main\",\"count\":1,\"flavors\":{\"cpu\":"
	      "\"default\"},\"resourceUsage\":{\"cpu\":\"1\"}}]},\"admissionChecks\":[{\"name\":"
	      "\"mk\",\"state\":\"Pending\",\"message\":\"\",\"lastTransitionTime\":"
	      "\"2027-01-15T08:00:00Z\"}]}}");
}

/* Waits until the worker that is recorded has resumed the Job. */
static struct stack *wait_runs(const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *w = get(fleet.manager, WORKLOADS, name);
		const char *cluster = jdoc_path_str(w, "status.clusterName");
		struct stack *on = cluster == NULL ? NULL : fleet.workers[cluster[1] - '0'];
		CLEANUP(jdoc_destroyp) struct jdoc *job = on == NULL ? NULL : get(on, JOBS, name);

		if (job != NULL && !jdoc_bool(jdoc_path(job, "spec.suspend"), false)) {
			return on;
		}
	} while (wait_until(deadline));
	fail_msg("%s runs nowhere", name);
	return NULL;
}

static void wait_nothing_left(const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	bool left;

	do {
		left = false;
		for (unsigned i = 0; i < FLEET_SCENE_WORKERS; i++) {
			CLEANUP(jdoc_destroyp) struct jdoc *w = NULL;
			CLEANUP(jdoc_destroyp) struct jdoc *job = NULL;

			w = get(fleet.workers[i], WORKLOADS, name);
			job = get(fleet.workers[i], JOBS, name);
			left |= w != NULL || job != NULL;
		}
	} while (left && wait_until(deadline));
	assert_false(left);
}

/* The Job ends on the worker; when its end has been copied, the Workload is finished by it, as the
 * core would do. */
static void finish(struct stack *on, const char *name)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	bool ended;

	patch(on, JOBS, name,
	      "{\"status\":{\"succeeded\":1,\"startTime\":\"2027-01-15T08:00:00Z\","
	      "\"completionTime\":\"2027-01-15T08:01:00Z\",\"conditions\":[{\"type\":"
	      "\"SuccessCriteriaMet\",\"status\":\"True\",\"lastTransitionTime\":"
	      "\"2027-01-15T08:01:00Z\"},{\"type\":\"Complete\",\"status\":\"True\","
	      "\"lastTransitionTime\":\"2027-01-15T08:01:00Z\"}]}}");
	do {
		CLEANUP(jdoc_destroyp) struct jdoc *job = get(fleet.manager, JOBS, name);

		ended = fleet_scene_is_true(job, "Complete");
	} while (!ended && wait_until(deadline));
	assert_true(ended);
	patch(fleet.manager, WORKLOADS, name,
	      "{\"status\":{\"conditions\":[" QUOTA_RESERVED ",{\"type\":\"Finished\",\"status\":"
	      "\"True\",\"reason\":\"Succeeded\",\"message\":\"\",\"lastTransitionTime\":"
	      "\"2027-01-15T08:01:00Z\"}]}}");
}

static void test_life(void **state UNUSED)
{
	submit("one");
	finish(wait_runs("one"), "one");
	wait_nothing_left("one");
}

/* The process dies while the Job runs; the next one goes on. */
static void test_restart(void **state UNUSED)
{
	struct stack *on;

	submit("two");
	on = wait_runs("two");
	assert_int_equal(stack_stop_program(fleet.manager, STACK_SCHEDULER, SIGKILL),
			 128 + SIGKILL);
	must(stack_start_program(fleet.manager, STACK_SCHEDULER, &err));
	finish(on, "two");
	wait_nothing_left("two");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_restart),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
