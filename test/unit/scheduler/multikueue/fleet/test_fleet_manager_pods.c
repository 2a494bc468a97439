/* Groups of pods, carried by the manager of MultiKueue over embedded API servers in virtual time.
 */
#include "scheduler/multikueue/fleet/fleet_manager.h"

#include "lib/unit.h"

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "lib/multikueue/fleet_jobs.h"
#include "lib/multikueue/fleet_pods.h"
#include "lib/multikueue/fleet_world.h"

#define S CLOCK_NS_PER_S
#define MINUTE (60 * S)
#define MANAGER FLEET_WORLD_MANAGER
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
#define PODS "/api/v1/namespaces/default/pods"

static struct fleet_world *begin_with(unsigned workers, bool pods)
{
	struct orchestrate_options o;
	struct manager_options mo;
	struct fleet_world *w;

	orchestrate_defaults(&o);
	manager_defaults(&mo);
	w = fleet_world_create(workers, &o, 1, 1);
	fleet_world_manage(w, &mo, MINUTE);
	if (pods) {
		fleet_world_carry_pods(w);
	}
	fleet_world_start(w);
	fleet_world_run(w, 2 * S);
	return w;
}

static struct fleet_world *begin(unsigned workers)
{
	return begin_with(workers, true);
}

/* Several acts of a worker, each of which is copied. */
static void work(struct fleet_world *w, unsigned worker)
{
	for (unsigned i = 0; i < 4; i++) {
		fleet_pods_work(w, worker, "g");
		fleet_world_run(w, S);
	}
}

static void run_on(struct fleet_world *w, unsigned worker)
{
	fleet_world_report(w, worker, "g", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	fleet_pods_core(w, "g");
	fleet_world_run(w, S);
	work(w, worker);
	assert_int_equal(fleet_jobs_winner(w, "g"), worker);
	assert_int_equal(fleet_pods_running(w, (int)worker, "g"), FLEET_PODS_SIZE);
	assert_int_equal(fleet_pods_in(w, MANAGER, "g", "Running"), FLEET_PODS_SIZE);
}

static struct fleet_world *begin_running(unsigned workers, unsigned on)
{
	struct fleet_world *w = begin(workers);

	fleet_pods_submit(w, "g");
	fleet_world_run(w, S);
	run_on(w, on);
	return w;
}

static void assert_nothing_left(struct fleet_world *w, unsigned workers)
{
	for (unsigned i = 0; i < workers; i++) {
		assert_false(fleet_jobs_has_replica(w, (int)i, "g"));
		assert_false(fleet_pods_exist(w, (int)i, "g"));
	}
}

static void test_life(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;

	fleet_pods_submit(w, "g");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_has_replica(w, 0, "g"));
	assert_false(fleet_pods_exist(w, 0, "g"));
	fleet_world_report(w, 1, "g", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_false(fleet_pods_exist(w, 0, "g"));
	assert_int_equal(fleet_pods_running(w, 1, "g"), 0); /* held until the worker lets them go */
	run_on(w, 1);
	pod = fleet_world_get(w, MANAGER, PODS "/g-0"); /* it never runs here */
	assert_int_equal(jdoc_count(jdoc_path(pod, "spec.schedulingGates")), 1);

	fleet_pods_finish(w, 1, "g");
	work(w, 1);
	assert_true(fleet_pods_have_succeeded(w, MANAGER, "g"));
	assert_true(fleet_jobs_is(w, MANAGER, "g", KUEUE_FINISHED));
	work(w, 1);
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

static void test_killed_anywhere(void **state UNUSED)
{
	for (unsigned steps = 0; steps < 40; steps++) {
		struct fleet_world *w = begin(2);

		fleet_pods_submit(w, "g");
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		fleet_world_report(w, 1, "g", FLEET_WORLD_ADMITTED);
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 1);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		run_on(w, 1);
		fleet_pods_finish(w, 1, "g");
		for (unsigned i = 0; i < steps && fleet_world_step(w); i++) {
		}
		fleet_world_kill(w, steps % 2 == 0);
		fleet_world_start(w);
		fleet_world_run(w, 3 * S);
		work(w, 1);
		assert_true(fleet_jobs_is(w, MANAGER, "g", KUEUE_FINISHED));
		work(w, 1);
		assert_nothing_left(w, 2);
		fleet_world_destroy(w);
	}
}

/* Evicted here: the worker stops the pods, the local ones are Pending again, and it is offered
 * again. */
static void test_evicted_here(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_pods_evict(w, "g");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_is(w, 0, "g", KUEUE_DEACTIVATION_TARGET));
	fleet_pods_core(w, "g");
	assert_true(fleet_jobs_is(w, MANAGER, "g", KUEUE_QUOTA_RESERVED)); /* pods are active */
	work(w, 0);
	assert_int_equal(fleet_pods_in(w, MANAGER, "g", "Pending"), FLEET_PODS_SIZE);
	fleet_pods_core(w, "g");
	fleet_world_run(w, S);
	work(w, 0);
	assert_nothing_left(w, 2);
	fleet_pods_core(w, "g");
	fleet_world_run(w, S);
	run_on(w, 1);
	fleet_world_destroy(w);
}

static void test_evicted_there(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_world_report(w, 0, "g", FLEET_WORLD_EVICTED);
	work(w, 0);
	for (int i = 0; i < 4; i++) {
		fleet_pods_core(w, "g");
		fleet_world_run(w, S);
		work(w, 0);
	}
	run_on(w, 1);
	assert_false(fleet_pods_exist(w, 0, "g"));
	assert_int_equal(fleet_pods_in(w, MANAGER, "g", "Failed"), 0);
	fleet_world_destroy(w);
}

static void test_lost_for_good(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	fleet_world_cut(w, 0, true);
	fleet_world_run(w, 14 * MINUTE);
	assert_true(fleet_jobs_check(w, "g", "Ready", ""));
	fleet_world_run(w, 2 * MINUTE);
	assert_true(fleet_jobs_check(w, "g", "Retry", "Admitting remote lost"));
	fleet_pods_core(w, "g"); /* evicts */
	fleet_world_run(w, S);
	assert_int_equal(fleet_pods_in(w, MANAGER, "g", "Pending"), FLEET_PODS_SIZE);
	fleet_pods_core(w, "g"); /* releases */
	fleet_pods_core(w, "g"); /* reserves */
	fleet_world_run(w, S);
	run_on(w, 1);
	fleet_world_cut(w, 0, false);
	fleet_world_run(w, 6 * MINUTE);
	work(w, 0);
	assert_false(fleet_pods_exist(w, 0, "g"));
	assert_int_equal(fleet_pods_running(w, 1, "g"), FLEET_PODS_SIZE);
	fleet_world_destroy(w);
}

static void test_deleted_locally(void **state UNUSED)
{
	struct fleet_world *w = begin_running(2, 0);

	assert_int_equal(fleet_world_delete(w, MANAGER, PODS "/g-1"), 200);
	fleet_world_run(w, S);
	work(w, 0);
	assert_int_equal(fleet_pods_running(w, 0, "g"), 1);
	fleet_pods_remove(w, "g");
	fleet_world_run(w, S);
	work(w, 0);
	assert_nothing_left(w, 2);
	fleet_world_destroy(w);
}

/* While no manager was there: the group is deleted, and another one has its name. */
static void test_made_again(void **state UNUSED)
{
	struct fleet_world *w = begin_running(1, 0);

	fleet_pods_finish(w, 0, "g");
	fleet_pods_work(w, 0, "g");
	fleet_world_kill(w, false);
	fleet_pods_remove(w, "g");
	fleet_pods_submit(w, "g");
	fleet_world_start(w);
	for (int i = 0; i < 4; i++) {
		fleet_world_run(w, 10 * S);
		work(w, 0);
	}
	assert_int_equal(fleet_pods_in(w, MANAGER, "g", "Succeeded"), 0);
	assert_false(fleet_jobs_is(w, MANAGER, "g", KUEUE_FINISHED));
	assert_true(fleet_jobs_has_replica(w, 0, "g"));
	run_on(w, 0);
	fleet_world_destroy(w);
}

/* A worker loses one of them (its node has gone): it is created again. */
static void test_lost_pod(void **state UNUSED)
{
	struct fleet_world *w = begin_running(1, 0);

	fleet_pods_remove_there(w, 0, "g");
	work(w, 0);
	work(w, 0);
	assert_int_equal(fleet_pods_running(w, 0, "g"), FLEET_PODS_SIZE);
	fleet_world_destroy(w);
}

static void test_foreign_pod(void **state UNUSED)
{
	struct fleet_world *w = begin(2);
	CLEANUP(jdoc_destroyp) struct jdoc *before = NULL, *after = NULL;

	assert_int_equal(fleet_world_create_object(
				 w, 0, PODS,
				 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
				 "\"g-1\",\"namespace\":\"default\"},\"spec\":{\"containers\":[{"
				 "\"name\":\"c\",\"image\":\"i\"}]}}"),
			 201);
	before = fleet_world_get(w, 0, PODS "/g-1");
	fleet_pods_submit(w, "g");
	fleet_world_run(w, S);
	fleet_world_report(w, 0, "g", FLEET_WORLD_ADMITTED);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "g", "Retry",
				     "The Pod of this name on worker cluster \"w0\" is not of"));
	for (int i = 0; i < 3; i++) {
		fleet_pods_core(w, "g");
		fleet_world_run(w, S);
	}
	run_on(w, 1);
	after = fleet_world_get(w, 0, PODS "/g-1");
	assert_true(jdoc_equal(before, after));
	assert_int_equal(fleet_pods_running(w, 0, "g"), 1); /* the foreign one */
	fleet_world_destroy(w);
}

/* A core that lets pods go on this cluster: they must not run on another one as well. */
static void test_let_go_here(void **state UNUSED)
{
	struct fleet_world *w = begin(1);

	fleet_pods_submit(w, "g");
	assert_int_equal(
		fleet_world_patch(w, MANAGER, PODS "/g-0", "{\"spec\":{\"schedulingGates\":[]}}"),
		200);
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "g", "Rejected", "Pod \"g-0\" has no scheduling gate"));
	fleet_world_run(w, MINUTE);
	assert_false(fleet_jobs_has_replica(w, 0, "g"));
	fleet_world_destroy(w);
}

/* A manager that does not carry pods. */
static void test_not_carried(void **state UNUSED)
{
	struct fleet_world *w = begin_with(1, false);

	fleet_pods_submit(w, "g");
	fleet_world_run(w, S);
	assert_true(fleet_jobs_check(w, "g", "Rejected",
				     "No multikueue adapter found for owner kind \"/v1, "
				     "Kind=Pod\""));
	fleet_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),          cmocka_unit_test(test_killed_anywhere),
		cmocka_unit_test(test_evicted_here),  cmocka_unit_test(test_evicted_there),
		cmocka_unit_test(test_lost_for_good), cmocka_unit_test(test_deleted_locally),
		cmocka_unit_test(test_made_again),    cmocka_unit_test(test_lost_pod),
		cmocka_unit_test(test_foreign_pod),   cmocka_unit_test(test_let_go_here),
		cmocka_unit_test(test_not_carried),
	};

	return cmocka_run_group_tests_name("fleet/manager_pods", tests, NULL, NULL);
}
