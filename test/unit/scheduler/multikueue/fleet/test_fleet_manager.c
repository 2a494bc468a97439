/* The manager of MultiKueue over embedded API servers in virtual time. */
#include "scheduler/multikueue/fleet/fleet_manager.h"

#include "lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_split.h"
#include "lib/multikueue/fleet_world.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define JOBS "/apis/batch/v1/namespaces/default/jobs"

static struct fleet_world *begin(unsigned workers)
{
	struct manager_options mo;

	manager_defaults(&mo);
	return fleet_world_managed(workers, &mo);
}

/* The Job "a" runs on this worker. */
static void run_on(struct fleet_world *w, unsigned worker)
{
	fleet_world_report(w, worker, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	fleet_jobs_work(w, worker, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_winner(w, "a"), worker);
	assert_true(fleet_jobs_runs(w, (int)worker, "a"));
}

static struct fleet_world *begin_running(unsigned workers, unsigned on)
{
	struct fleet_world *w = begin(workers);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	run_on(w, on);
	return w;
}

static void assert_nothing_left(struct fleet_world *w, unsigned workers)
{
	for (unsigned i = 0; i < workers; i++) {
		assert_false(fleet_jobs_has_replica(w, (int)i, "a"));
		assert_false(fleet_jobs_exists(w, (int)i, "a"));
	}
}

static void test_life(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	assert_true(fleet_jobs_has_replica(w, 1, "a"));
	assert_false(fleet_jobs_exists(w, 1, "a"));

	fleet_world_report(w, 1, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_winner(w, "a"), 1);
	assert_true(fleet_jobs_check(w, "a", "Ready", "The workload was admitted on \"w1\""));
	assert_false(fleet_jobs_has_replica(w, 0, "a"));
	assert_true(fleet_jobs_exists(w, 1, "a"));
	assert_false(fleet_jobs_exists(w, 0, "a"));

	fleet_jobs_work(w, 1, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_active(w, MANAGER, "a"), 0); /* not resumed yet */
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_active(w, MANAGER, "a"), 1);

	fleet_jobs_finish(w, 1, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_job_is(w, MANAGER, "a", "Complete"));
	/* The core finishes the Workload; until then all stays as it is. */
	assert_false(fleet_jobs_is(w, MANAGER, "a", KUEUE_FINISHED));
	assert_true(fleet_jobs_exists(w, 1, "a"));
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_is(w, MANAGER, "a", KUEUE_FINISHED));
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

/* The process dies after each number of half steps, with its requests arriving or not; the next one
 * goes on. */
static void test_killed_anywhere(void **state UNUSED)
{
	for (unsigned steps = 0; steps < 60; steps++) {
		struct fleet_world *w = begin(2);
		unsigned winner;

		fleet_jobs_submit(w, "a");
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		winner = steps % 3 == 0;
		fleet_world_report(w, winner, "a", FLEET_WORLD_ADMITTED);
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 1);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		run_on(w, winner);
		assert_false(fleet_jobs_has_replica(w, !winner, "a"));
		fleet_jobs_finish(w, winner, "a");
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		assert_true(fleet_jobs_job_is(w, MANAGER, "a", "Complete"));
		fleet_jobs_core(w, "a");
		fleet_world_run(w, S);
		assert_true(fleet_jobs_is(w, MANAGER, "a", KUEUE_FINISHED));
		assert_nothing_left(w, 2);
		fleet_world_destroy(w);
	}
}

static void test_lost_and_back(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 10 * MINUTE);
	assert_true(fleet_jobs_check(w, "a", "Ready", ""));
	assert_int_equal(fleet_jobs_winner(w, "a"), 0);
	fleet_world_cut(w, 0, false);
	fleet_jobs_finish(w, 0, "a");
	fleet_world_run(w, 6 * MINUTE); /* the pause of the connection */
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_is(w, MANAGER, "a", KUEUE_FINISHED));
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

/* The manager restarts meanwhile, and the time goes on counting from the first loss. */
static void test_lost_for_good(void **state UNUSED)
{
	for (unsigned restarts = 0; restarts < 2; restarts++) {
		struct fleet_world *w = begin_running(2, 0);

		fleet_world_cut(w, 0, true);
		fleet_world_run(w, 10 * MINUTE);
		if (restarts > 0) {
			fleet_world_kill(w, true);
			fleet_world_start(w);
		}
		fleet_world_run(w, 4 * MINUTE);
		assert_true(fleet_jobs_check(w, "a", "Ready", ""));
		fleet_world_run(w, 2 * MINUTE);
		assert_true(fleet_jobs_check(w, "a", "Retry", "Admitting remote lost"));
		fleet_jobs_core(w, "a"); /* evicts */
		fleet_world_run(w, S);
		fleet_jobs_core(w, "a"); /* releases: no pod is reported as active any more */
		fleet_jobs_core(w, "a"); /* reserves */
		fleet_world_run(w, S);
		assert_true(fleet_jobs_has_replica(w, 1, "a"));
		run_on(w, 1);
		/* The lost one is back: what it has goes. */
		fleet_world_cut(w, 0, false);
		fleet_world_run(w, 6 * MINUTE);
		assert_false(fleet_jobs_exists(w, 0, "a"));
		assert_false(fleet_jobs_has_replica(w, 0, "a"));
		assert_true(fleet_jobs_runs(w, 1, "a"));
		fleet_world_destroy(w);
	}
}

static void test_deleted_locally(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	assert_int_equal(fleet_world_delete(w, MANAGER, WORKLOADS "/a"), 200);
	assert_int_equal(fleet_world_delete(w, MANAGER, JOBS "/a"), 200);
	fleet_world_run(w, S);
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

/* While no manager was there. */
static void test_orphans_are_collected(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_world_kill(w, true);
	assert_int_equal(fleet_world_delete(w, MANAGER, WORKLOADS "/a"), 200);
	assert_int_equal(fleet_world_delete(w, MANAGER, JOBS "/a"), 200);
	fleet_world_start(w);
	fleet_world_run(w, 30 * S);
	assert_true(fleet_jobs_exists(w, 0, "a")); /* multiKueue.gcInterval */
	fleet_world_run(w, 40 * S);
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

/* Variants have the labels and annotations of their replica, and a name that no Workload here has.
 * Kueue's manager collects them. */
static void hole_5_28_variants_are_no_orphans(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_split_label(w, 0, "a");
	fleet_split_add(w, 0, "a", "x");
	fleet_world_run(w, 3 * MINUTE);
	assert_true(fleet_jobs_has_replica(w, 0, "a-x"));
	fleet_world_kill(w, true);
	fleet_world_start(w);
	fleet_world_run(w, 3 * MINUTE);
	assert_true(fleet_jobs_has_replica(w, 0, "a-x"));
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	fleet_world_destroy(w);
}

/* Evicted here: it is stopped there, its end is copied, then everything goes; it is offered again.
 */
static void test_evicted_here(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_jobs_evict(w, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_is(w, 0, "a", KUEUE_DEACTIVATION_TARGET));
	fleet_jobs_core(w, "a");
	assert_true(fleet_jobs_is(w, MANAGER, "a", KUEUE_QUOTA_RESERVED)); /* a pod is active */
	fleet_jobs_work(w, 0, "a");
	fleet_jobs_work(w, 0, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_jobs_active(w, MANAGER, "a"), 0);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_nothing_left(w, 2);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	run_on(w, 1);
	fleet_world_destroy(w);
}

static void test_evicted_there(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_world_report(w, 0, "a", FLEET_WORLD_EVICTED);
	fleet_jobs_work(w, 0, "a");
	fleet_world_run(w, S);
	assert_true(
		fleet_jobs_check(w, "a", "Retry", "Workload evicted on worker cluster: \"w0\""));
	for (int i = 0; i < 3; i++) {
		fleet_jobs_core(w, "a");
		fleet_world_run(w, S);
	}
	run_on(w, 1);
	assert_false(fleet_jobs_exists(w, 0, "a"));
	fleet_world_destroy(w);
}

/* Objects of the name that are not this manager's: without its label, or of another manager with
 * the same origin. */
static void test_foreign_objects(void **state UNUSED)
{
	static const struct {
		const char *collection, *json, *path, *kind;
	} rows[] = {
		{ WORKLOADS,
		  "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		  "\"name\":\"a\",\"namespace\":\"default\"},\"spec\":{\"queueName\":\"mine\","
		  "\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
		  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}",
		  WORKLOADS "/a", "Workload" },
		{ WORKLOADS,
		  "{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{"
		  "\"name\":\"a\",\"namespace\":\"default\",\"labels\":{"
		  "\"kueue.x-k8s.io/multikueue-origin\":\"multikueue\"},\"annotations\":{"
		  "\"headgate.io/multikueue-manager\":\"other\"}},\"spec\":{\"queueName\":\"mine\","
		  "\"podSets\":[{\"name\":\"main\",\"count\":1,\"template\":{\"spec\":{"
		  "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}",
		  WORKLOADS "/a", "Workload" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fleet_world *w = begin(2);
		CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

		unit_row_number(i);
		assert_int_equal(fleet_world_create_object(w, 0, rows[i].collection, rows[i].json),
				 201);
		before = fleet_world_get(w, 0, rows[i].path);
		fleet_jobs_submit(w, "a");
		fleet_world_run(w, 5 * MINUTE);
		after = fleet_world_get(w, 0, rows[i].path);
		assert_true(jdoc_equal(before, after));
		run_on(w, 1);
		/* It goes: the next time the cluster is offered the Workload again. */
		assert_int_equal(fleet_world_delete(w, 0, rows[i].path), 200);
		fleet_jobs_evict(w, "a");
		fleet_world_run(w, S);
		fleet_jobs_work(w, 1, "a");
		fleet_jobs_work(w, 1, "a");
		for (int k = 0; k < 3; k++) {
			fleet_world_run(w, S);
			fleet_jobs_core(w, "a");
		}
		fleet_world_run(w, 20 * MINUTE);
		assert_true(fleet_jobs_has_replica(w, 0, "a"));
		fleet_world_destroy(w);
	}
}

/* A Job of the name on the winner: it is not run there, and not touched. */
static void test_foreign_job(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

	assert_int_equal(
		fleet_world_create_object(
			w, 0, JOBS,
			"{\"apiVersion\":\"batch/"
			"v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"a\","
			"\"namespace\":\"default\"},\"spec\":{\"template\":{\"spec\":{"
			"\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":"
			"\"i\"}]}}}}"),
		201);
	before = fleet_world_get(w, 0, JOBS "/a");
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "a", "Retry", "is not of this manager"));
	for (int i = 0; i < 3; i++) {
		fleet_jobs_core(w, "a");
		fleet_world_run(w, S);
	}
	run_on(w, 1);
	after = fleet_world_get(w, 0, JOBS "/a");
	assert_true(jdoc_equal(before, after));
	fleet_world_destroy(w);
}

/* A create that was sent to a cluster and not answered may have had its effect, or may have it yet:
 * the Job is not created elsewhere meanwhile. */
static void test_unanswered_create(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_ADMITTED);
	while (fleet_jobs_winner(w, "a") != 0) {
		assert_true(fleet_world_step(w));
	}
	fleet_world_refuse_creates(w, 0, 500);
	fleet_world_run(w, 10 * S);
	assert_false(fleet_jobs_exists(w, 0, "a"));
	fleet_jobs_evict(w, "a");
	fleet_jobs_core(w, "a");    /* no pod is active */
	fleet_world_run(w, 30 * S); /* w0 is waited for after the failures */
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 1, "a", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, 20 * S);
	assert_int_equal(fleet_jobs_winner(w, "a"), 1);
	assert_false(fleet_jobs_exists(w, 1, "a"));
	fleet_world_run(w, 2 * MINUTE);
	assert_true(fleet_jobs_exists(w, 1, "a"));
	assert_false(fleet_jobs_exists(w, 0, "a"));
	fleet_world_destroy(w);
}

/* Kueue's finalizer on a replica: its removal, by which the object is gone, is no write that would
 * be waited for, and the cluster is offered the Workload again at once. */
static void test_finalizer(void **state UNUSED)
{
	struct fleet_world *w = begin(2);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_patch(w, 0, WORKLOADS "/a",
					   "{\"metadata\":{\"finalizers\":["
					   "\"kueue.x-k8s.io/resource-in-use\"]}}"),
			 200);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_delete(w, 0, WORKLOADS "/a"), 200); /* it stays, deleting */
	run_on(w, 1);
	assert_false(fleet_jobs_has_replica(w, 0, "a"));
	fleet_jobs_evict(w, "a");
	fleet_world_run(w, S);
	fleet_jobs_work(w, 1, "a");
	fleet_jobs_work(w, 1, "a");
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	fleet_jobs_core(w, "a");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	fleet_world_destroy(w);
}

static void test_late_worker(void **state UNUSED)
{
	struct manager_options mo;
	struct orchestrate_options o;
	struct fleet_world *w;

	manager_defaults(&mo);
	orchestrate_defaults(&o);
	w = fleet_world_create(2, &o, 1, 1);
	fleet_world_cut(w, 1, true);
	fleet_world_manage(w, &mo, MINUTE);
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, MINUTE);
	assert_true(fleet_jobs_has_replica(w, 0, "a"));
	assert_false(fleet_jobs_has_replica(w, 1, "a"));
	fleet_world_cut(w, 1, false);
	fleet_world_run(w, 6 * MINUTE);
	run_on(w, 1);
	fleet_world_destroy(w);
}

/* The pods or the queue have changed: the replica is made anew. */
static void test_edited_spec(void **state UNUSED)
{
	struct fleet_world *w = begin(1);
	CLEANUP(jdoc_destroyp) struct jdoc *d = NULL;

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_patch(w, MANAGER, WORKLOADS "/a",
					   "{\"spec\":{\"queueName\":\"other\",\"priority\":7}}"),
			 200);
	fleet_world_run(w, S);
	d = fleet_world_get(w, 0, WORKLOADS "/a");
	assert_string_equal(jdoc_path_str(d, "spec.queueName"), "other");
	assert_int_equal(jdoc_int(jdoc_path(d, "spec.priority"), 0), 7);
	fleet_world_destroy(w);
}

/* With the feature gate the same process orchestrates. */
static void test_orchestrates(void **state UNUSED)
{
	struct manager_options mo;
	struct fleet_world *w;

	manager_defaults(&mo);
	mo.gated = true;
	w = fleet_world_managed(2, &mo);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "a", FLEET_WORLD_GATED);
	fleet_world_report(w, 1, "a", FLEET_WORLD_GATED);
	fleet_world_run(w, S);
	assert_int_equal(fleet_world_open(w, "a"), 0);
	run_on(w, 0);
	assert_false(fleet_jobs_has_replica(w, 1, "a"));
	fleet_world_destroy(w);
}

/* As many clusters as a MultiKueueConfig may name. Kueue's allows 20. */
static void test_hundred_clusters(void **state UNUSED)
{
	struct fleet_world *w = begin(100);

	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	for (int i = 0; i < 100; i++) {
		assert_true(fleet_jobs_has_replica(w, i, "a"));
	}
	run_on(w, 99);
	for (int i = 0; i < 99; i++) {
		assert_false(fleet_jobs_has_replica(w, i, "a"));
	}
	fleet_world_destroy(w);
}

/* Each of 25 clusters may preempt once, in vain, before one may again. */
static void test_last_of_many_may_preempt(void **state UNUSED)
{
	const unsigned n = 25;
	struct manager_options mo;
	struct fleet_world *w;

	manager_defaults(&mo);
	mo.gated = true;
	w = fleet_world_managed(n, &mo);
	fleet_jobs_submit(w, "a");
	fleet_world_run(w, S);
	for (unsigned i = 0; i < n; i++) {
		fleet_world_report(w, i, "a", FLEET_WORLD_GATED);
	}
	for (int i = 0, was = -1; i < (int)n; i++) {
		for (int k = 0; k < 25 && fleet_world_open(w, "a") == was; k++) {
			fleet_world_run(w, S); /* it does not react */
		}
		was = fleet_world_open(w, "a");
		assert_int_equal(was, i);
	}
	run_on(w, n - 1);
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_killed_anywhere),
		cmocka_unit_test(test_lost_and_back),
		cmocka_unit_test(test_lost_for_good),
		cmocka_unit_test(test_deleted_locally),
		cmocka_unit_test(test_orphans_are_collected),
		cmocka_unit_test(hole_5_28_variants_are_no_orphans),
		cmocka_unit_test(test_evicted_here),
		cmocka_unit_test(test_evicted_there),
		cmocka_unit_test(test_foreign_objects),
		cmocka_unit_test(test_foreign_job),
		cmocka_unit_test(test_unanswered_create),
		cmocka_unit_test(test_finalizer),
		cmocka_unit_test(test_late_worker),
		cmocka_unit_test(test_edited_spec),
		cmocka_unit_test(test_orchestrates),
		cmocka_unit_test(test_hundred_clusters),
		cmocka_unit_test(test_last_of_many_may_preempt),
	};

	return cmocka_run_group_tests_name("fleet/manager", tests, NULL, NULL);
}
