/* A fleet of Headgate alone, as processes: what fails while one worker cluster preempts for a Job.
 * Whatever it is, one cluster evicts one Workload, one cluster runs the Job, and everything comes
 * to rest: the victim runs again. */
#include "lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/job_fleet.h"
#include "play/stack.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)
#define JOBS "/apis/batch/v1/namespaces/default/jobs/"
#define KUEUE "/apis/kueue.x-k8s.io/v1beta2/"
#define WORKLOADS KUEUE "namespaces/default/workloads"
#define MANAGER JOB_FLEET_WORKERS
#define WORKER_OBJECTS "/test/demo/07-fleet-worker.yaml"
#define MANAGER_OBJECTS "/test/demo/07-fleet-manager.yaml"
#define NONE ((struct str){ NULL, 0 })

/* Fills a worker of 4 CPU. */
static const char *const low[] = { "low-1", "low-2" };

static struct job_fleet *fleet;
static struct err err;

static void must(int r)
{
	if (r < 0) {
		fail_msg("%s", err.text);
	}
}

static struct stack *cluster(unsigned i)
{
	return i == MANAGER ? job_fleet_manager(fleet) : job_fleet_worker(fleet, i);
}

/* NULL: there is none. */
static struct jdoc *get(unsigned i, const char *base, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct jdoc *ret = NULL;
	int r;

	strbuf_printf(&path, "%s%s", base, name);
	r = stack_call(cluster(i), "GET", path.p, NONE, &ret, &err);
	if (r != -ERR_NOT_FOUND) {
		must(r);
	}
	return ret;
}

static void manifest_of(const char *name, struct strbuf *out)
{
	strbuf_printf(out, "%s%s", stack_source(), name);
}

static void apply(unsigned i, const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	manifest_of(name, &path);
	must(stack_apply_file(cluster(i), path.p, &err));
}

/* --- Jobs --------------------------------------------------------------------------------------*/

#define JOB                                                                                        \
	"{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: default, labels: "      \
	"{kueue.x-k8s.io/queue-name: batch%s}}, spec: {%stemplate: {metadata: {annotations: {%s}}" \
	", spec: {restartPolicy: Never, containers: [{name: main, image: i, resources: {requests:" \
	" {cpu: '2'}}}]}}}}"

static void fill(unsigned worker)
{
	for (size_t k = 0; k < ARRAY_LEN(low); k++) {
		CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

		strbuf_printf(&yaml, JOB, low[k], "", "", "");
		must(stack_apply(cluster(worker), strbuf_str(&yaml), &err));
	}
}

static void submit(const char *name)
{
	CLEANUP(strbuf_finish) struct strbuf yaml = STRBUF_INIT;

	strbuf_printf(&yaml, JOB, name, ", kueue.x-k8s.io/priority-class: high",
		      "managedBy: kueue.x-k8s.io/multikueue, ", "demo.headgate.io/runs-for: 100ms");
	must(stack_apply(cluster(MANAGER), strbuf_str(&yaml), &err));
}

static void wait_filled(unsigned worker)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	size_t ready;

	do {
		ready = 0;
		for (size_t k = 0; k < ARRAY_LEN(low); k++) {
			CLEANUP(jdoc_destroyp) struct jdoc *job = get(worker, JOBS, low[k]);

			ready += jdoc_int(jdoc_path(job, "status.ready"), 0) == 1;
		}
		if (ready == ARRAY_LEN(low)) {
			return;
		}
	} while (wait_until(deadline));
	fail_msg("worker%u is not full again", worker + 1);
}

static int64_t count_victims(unsigned worker)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = get(worker, WORKLOADS, "");
	int64_t n = 0;

	for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
	     w = jdoc_next(w)) {
		const struct jdoc *all = jdoc_path(w, "status.schedulingStats.evictions");

		for (const struct jdoc *e = jdoc_first(all); e != NULL; e = jdoc_next(e)) {
			n += jdoc_is_str(jdoc_get(e, "reason"), KUEUE_PREEMPTED)
				     ? jdoc_int(jdoc_get(e, "count"), 0)
				     : 0;
		}
	}
	return n;
}

/* The Workload of a Job on the manager; NULL: there is none yet. */
static struct jdoc *local_of(const char *job)
{
	CLEANUP(jdoc_destroyp) struct jdoc *list = get(MANAGER, WORKLOADS, "");
	CLEANUP(strbuf_finish) struct strbuf begins = STRBUF_INIT;

	strbuf_printf(&begins, "job-%s-", job);
	for (const struct jdoc *w = jdoc_first(jdoc_get(list, "items")); w != NULL;
	     w = jdoc_next(w)) {
		if (str_has_prefix(str_of(jdoc_str_or(jdoc_path(w, "metadata.name"), "")),
				   begins.p)) {
			return jdoc_copy(w);
		}
	}
	return NULL;
}

/* --- an attempt --------------------------------------------------------------------------------*/

struct attempt {
	const char *job;
	unsigned holder;
	int64_t victims[JOB_FLEET_WORKERS]; /* before it */
};

/* The worker that the token names; MANAGER: none. */
static unsigned holder_of(const char *job)
{
	CLEANUP(jdoc_destroyp) struct jdoc *w = local_of(job);
	const char *token = jdoc_str_or(
		jdoc_get(jdoc_path(w, "metadata.annotations"), "headgate.io/preemption-token"), "");
	const char *at = strstr(token, "\"holder\":\"worker");

	return at == NULL ? MANAGER : (unsigned)(at[strlen("\"holder\":\"worker")] - '1');
}

/* Until a worker has the token and has evicted a Workload, which keeps its pods. */
static void begin_attempt(struct attempt *a, const char *job)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	*a = (struct attempt){ .job = job };
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		job_fleet_hold_victims(fleet, i, true);
		a->victims[i] = count_victims(i);
	}
	submit(job);
	do {
		a->holder = holder_of(job);
		if (a->holder != MANAGER && count_victims(a->holder) == a->victims[a->holder] + 1) {
			return;
		}
	} while (wait_until(deadline));
	fail_msg("no worker preempts for %s", job);
}

static void release(void)
{
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		job_fleet_hold_victims(fleet, i, false);
	}
}

/* The Job has run on this worker, and its end is known to the manager. */
static void wait_complete(const struct attempt *a, unsigned on)
{
	int64_t deadline = wait_deadline(WAIT_NS);

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *job = get(MANAGER, JOBS, a->job);

		if (job_fleet_is_true(job, "Complete")) {
			CLEANUP(jdoc_destroyp) struct jdoc *w = local_of(a->job);
			char name[16];

			snprintf(name, sizeof(name), "worker%u", on + 1);
			assert_string_equal(jdoc_path_str(w, "status.clusterName"), name);
			return;
		}
	} while (wait_until(deadline));
	fail_msg("%s is not complete", a->job);
}

/* Everything is at rest: no other worker has evicted anything, or had an open gate. */
static void end_attempt(const struct attempt *a, unsigned on)
{
	wait_complete(a, on);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		wait_filled(i);
		assert_int_equal(count_victims(i), a->victims[i] + (i == a->holder));
	}
	assert_int_equal(job_fleet_count_jobs(fleet, a->job), 1);
	assert_int_equal(job_fleet_count_opened(fleet, a->job), 1);
}

static void wait_active(unsigned worker, bool active)
{
	int64_t deadline = wait_deadline(WAIT_NS);
	char name[16];

	snprintf(name, sizeof(name), "worker%u", worker + 1);
	do {
		CLEANUP(jdoc_destroyp)
		struct jdoc *c = get(MANAGER, KUEUE "multikueueclusters/", name);

		if (job_fleet_is_true(c, "Active") == active) {
			return;
		}
	} while (wait_until(deadline));
	fail_msg("%s: not %s", name, active ? "Active" : "inactive");
}

/* --- the tests ---------------------------------------------------------------------------------*/

static void test_scheduler_dies(void **state UNUSED)
{
	struct attempt a;

	begin_attempt(&a, "one");
	assert_int_equal(stack_stop_program(cluster(a.holder), STACK_SCHEDULER, SIGKILL),
			 128 + SIGKILL);
	release();
	must(stack_start_program(cluster(a.holder), STACK_SCHEDULER, &err));
	end_attempt(&a, a.holder);
}

/* The manager dies at the same moment as the scheduler of the worker. */
static void test_both_die(void **state UNUSED)
{
	struct attempt a;

	begin_attempt(&a, "two");
	(void)stack_stop_program(cluster(MANAGER), STACK_MANAGER, SIGKILL);
	(void)stack_stop_program(cluster(a.holder), STACK_SCHEDULER, SIGKILL);
	release();
	must(stack_start_program(cluster(MANAGER), STACK_MANAGER, &err));
	must(stack_start_program(cluster(a.holder), STACK_SCHEDULER, &err));
	end_attempt(&a, a.holder);
}

/* Neither the manager nor the scheduler of the worker gets an answer of its API server. The token
 * stays there, and no other worker preempts. */
static void test_api_server_hangs(void **state UNUSED)
{
	struct attempt a;

	begin_attempt(&a, "three");
	assert_true(stack_signal(cluster(a.holder), STACK_APISERVER, SIGSTOP));
	job_fleet_cut(fleet, a.holder, true);
	release();
	wait_active(a.holder, false);
	assert_int_equal(holder_of(a.job), a.holder);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		if (i != a.holder) {
			assert_int_equal(count_victims(i), a.victims[i]);
		}
	}
	job_fleet_cut(fleet, a.holder, false);
	assert_true(stack_signal(cluster(a.holder), STACK_APISERVER, SIGCONT));
	end_attempt(&a, a.holder);
}

/* The address in the kubeconfig is another one, and the old one does not answer any more. */
static void test_kubeconfig_is_rotated(void **state UNUSED)
{
	struct attempt a;

	begin_attempt(&a, "four");
	must(job_fleet_rotate(fleet, a.holder, &err));
	release();
	end_attempt(&a, a.holder);
}

/* The worker is made anew and has room: the Job runs there, and no other worker evicts for it. */
static void test_worker_is_replaced(void **state UNUSED)
{
	CLEANUP(strbuf_finish) struct strbuf manifest = STRBUF_INIT;
	struct attempt a;

	begin_attempt(&a, "five");
	manifest_of(WORKER_OBJECTS, &manifest);
	must(job_fleet_replace(fleet, a.holder, manifest.p, &err));
	release();
	wait_complete(&a, a.holder);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		assert_int_equal(count_victims(i), i == a.holder ? 0 : a.victims[i]);
	}
	assert_int_equal(job_fleet_count_jobs(fleet, a.job), 1);
	assert_int_equal(job_fleet_count_opened(fleet, a.job), 0);
}

static int begin(void **state UNUSED)
{
	int r = job_fleet_start(true, &fleet, &err);

	if (r < 0) {
		print_message("%s\n", err.text);
		return r;
	}
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		apply(i, WORKER_OBJECTS);
		fill(i);
	}
	apply(MANAGER, MANAGER_OBJECTS);
	for (unsigned i = 0; i < JOB_FLEET_WORKERS; i++) {
		wait_filled(i);
		wait_active(i, true);
	}
	return 0;
}

static int end(void **state UNUSED)
{
	job_fleet_stop(fleet, false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scheduler_dies),
		cmocka_unit_test(test_both_die),
		cmocka_unit_test(test_api_server_hangs),
		cmocka_unit_test(test_kubeconfig_is_rotated),
		cmocka_unit_test(test_worker_is_replaced),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
