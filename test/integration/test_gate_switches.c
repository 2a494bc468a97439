/* The feature switched off, no quota plugin, and pods that change their requests. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "play/scene.h"

static const char without_quota[] = "actions: \"enqueue, allocate, backfill\"\n"
				    "tiers:\n"
				    "- plugins:\n"
				    "  - name: priority\n"
				    "  - name: gang\n"
				    "  - name: predicates\n";

static struct scene scene;

static int begin(void **state)
{
	const struct scene_options opt = { 0 };

	scene_start(&scene, &opt);
	*state = &scene;
	return 0;
}

/* Gates are taken off at once, only publishing still waits for quota; foreign gates stay. */
static void test_feature_off_drains(void **state)
{
	static const char *const off[] = { "--feature-gates=SchedulingGatesQueueAdmission=false",
					   NULL };
	struct scene *s = *state;
	struct scene_pod p = { .name = "holder", .queue = "off", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "off", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "holder", SCENE_PUBLISHED);
	p.name = "waiter";
	scene_add_pod(s, &p);
	p.name = "foreign";
	p.gates = "[{\"name\":\"" SCENE_OTHER_GATE "\"}]";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "waiter", SCENE_GATED));
	scene_restart_scheduler(s, NULL, off);
	scene_wait(s, "waiter", SCENE_UNGATED);
	scene_settle(s);
	assert_true(scene_is(s, "holder", SCENE_PUBLISHED));
	assert_false(scene_saw(s, "waiter", SCENE_PUBLISHED));
	assert_true(scene_is(s, "foreign", SCENE_GATED));
	scene_delete_pod(s, "holder");
	scene_wait(s, "waiter", SCENE_PUBLISHED);
}

/* The others are for a scheduler as it is by default. */
static int by_default(void **state)
{
	scene_restart_scheduler(*state, NULL, NULL);
	return scene_after_each(state);
}

static void test_no_quota_plugin_removes_no_gate(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "pod-1", .group = "bare", .cpu = "1" };
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	scene_add_queue(s, "bare", NULL, "4", NULL);
	scene_add_group(s, "bare", "bare", 1);
	scene_restart_scheduler(s, without_quota, NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "pod-1", SCENE_GATED);
	scene_wait_event(s, "Unschedulable", "bare");
	scene_settle(s);
	assert_true(scene_is(s, "pod-1", SCENE_GATED));
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/readyz?verbose", &body), 503);
	assert_non_null(strstr(body.p, "quota-plugin"));
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/livez", &body), 200);
	scene_restart_scheduler(s, NULL, NULL);
	scene_wait(s, "pod-1", SCENE_RUNNING);
	assert_int_equal(scene_http(s, STACK_SCHEDULER, "/readyz", &body), 200);
}

/* Only what a running pod of the queue holds counts: it shrinks, and the next one fits. */
static void test_resized_pod_is_charged_anew(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "big", .queue = "resize", .cpu = "2" };

	scene_add_queue(s, "resize", NULL, "2", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "big", SCENE_RUNNING);
	p.name = "small";
	p.cpu = "1";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "small", SCENE_GATED));
	scene_call(
		s, "PATCH", "/api/v1/namespaces/default/pods/big/resize",
		"{\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":"
		"\"registry.k8s.io/pause:3.10\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}",
		NULL);
	scene_wait(s, "small", SCENE_RUNNING);
}

/* The one of a StatefulSet's pods: only the scheduler may say that quota is reserved. */
static void test_forged_reservation_is_stripped(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "honest", .queue = "forge", .cpu = "1", .pool = "none" };
	struct jdoc *pod = NULL;

	scene_add_queue(s, "forge", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "honest", SCENE_PUBLISHED);
	p.name = "forger";
	p.annotations = "\"headgate.io/reserved\":\"forge\"";
	scene_add_pod(s, &p);
	scene_call(s, "GET", "/api/v1/namespaces/default/pods/forger", NULL, &pod);
	assert_null(jdoc_get(jdoc_path(pod, "metadata.annotations"), "headgate.io/reserved"));
	jdoc_destroy(pod);
	scene_restart_scheduler(s, NULL, NULL);
	scene_settle(s);
	assert_true(scene_is(s, "forger", SCENE_GATED));
	assert_true(scene_is(s, "honest", SCENE_PUBLISHED));
}

static bool is_one_published(void *ctx UNUSED, const struct mirror *m)
{
	return mirror_pod_triggers_scale_up(mirror_get(m, MIRROR_PODS, "default/honest")) !=
	       mirror_pod_triggers_scale_up(mirror_get(m, MIRROR_PODS, "default/forger"));
}

/* A user writes the annotation later: at the restart it counts at most up to the limit. */
static void test_forged_reservations_do_not_exceed_the_limit(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "honest", .queue = "forge2", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "forge2", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "honest", SCENE_PUBLISHED);
	p.name = "forger";
	scene_add_pod(s, &p);
	scene_wait(s, "forger", SCENE_GATED);
	scene_patch_pod(s, "forger",
			"{\"metadata\":{\"annotations\":{\"headgate.io/reserved\":\"forge2\"}},"
			"\"spec\":{\"schedulingGates\":null}}");
	scene_restart_scheduler(s, NULL, NULL);
	scene_settle(s);
	/* Which of them, is up to the scheduler. */
	scene_wait_for(s, "one of both is published", is_one_published, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_feature_off_drains, by_default),
		cmocka_unit_test_teardown(test_no_quota_plugin_removes_no_gate, by_default),
		cmocka_unit_test_teardown(test_resized_pod_is_charged_anew, scene_after_each),
		cmocka_unit_test_teardown(test_forged_reservation_is_stripped, scene_after_each),
		cmocka_unit_test_teardown(test_forged_reservations_do_not_exceed_the_limit,
					  scene_after_each),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
