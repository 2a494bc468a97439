/* The gate feature end to end: webhook, scheduler and API server as processes over TLS. */
#include <string.h>

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/scene.h"

#define WAIT_NS (120 * CLOCK_NS_PER_S)
#define VOLCANO "/apis/scheduling.volcano.sh/v1beta1"
#define OURS "scheduling.volcano.sh/queue-allocation-gate"

static struct scene scene;

static int begin(void **state)
{
	const struct scene_options opt = { 0 };

	scene_start(&scene, &opt);
	*state = &scene;
	return 0;
}

/* Volcano's own scenario, and an assertion that it lacks: pod-3 stays gated while pod-2 exists. */
static void test_upstream_a_ungated_pod_keeps_its_quota(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "pod-1", .queue = "a", .cpu = "500m", .memory = "512Mi" };

	scene_add_queue(s, "a", NULL, "500m", "512Mi");
	scene_add_pod(s, &p);
	scene_wait(s, "pod-1", SCENE_RUNNING);
	assert_true(scene_saw(s, "pod-1", SCENE_GATED));
	scene_delete_pod(s, "pod-1");
	scene_wait(s, "pod-1", SCENE_GONE);
	p.name = "pod-2";
	p.pool = "none";
	scene_add_pod(s, &p);
	scene_wait(s, "pod-2", SCENE_PUBLISHED);
	p.name = "pod-3";
	p.pool = NULL;
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "pod-3", SCENE_GATED));
	assert_true(scene_is(s, "pod-2", SCENE_PUBLISHED));
	scene_delete_pod(s, "pod-2");
	scene_wait(s, "pod-3", SCENE_RUNNING);
	assert_true(history_never_together(s->mirror, "default/pod-2", "default/pod-3"));
	assert_false(scene_saw(s, "pod-1", SCENE_PUBLISHED));
}

static void test_upstream_b_ours_goes_last(void **state)
{
	struct scene *s = *state;
	const struct scene_pod p = { .name = "pod-1",
				     .queue = "b",
				     .cpu = "1",
				     .gates = "[{\"name\":\"" SCENE_OTHER_GATE "\"}]" };
	struct jdoc *pod = NULL;

	scene_add_queue(s, "b", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_settle(s);
	scene_call(s, "GET", "/api/v1/namespaces/default/pods/pod-1", NULL, &pod);
	assert_int_equal(jdoc_count(jdoc_path(pod, "spec.schedulingGates")), 2);
	assert_string_equal(jdoc_path_str(pod, "status.phase"), "Pending");
	jdoc_destroy(pod);
	scene_patch_pod(s, "pod-1", "{\"spec\":{\"schedulingGates\":[{\"name\":\"" OURS "\"}]}}");
	scene_wait(s, "pod-1", SCENE_RUNNING);
	assert_false(scene_saw(s, "pod-1", SCENE_PUBLISHED));
}

static void test_foreign_gate_holds_no_quota(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "held",
			       .queue = "foreign",
			       .cpu = "1",
			       .gates = "[{\"name\":\"" SCENE_OTHER_GATE "\"}]" };

	scene_add_queue(s, "foreign", NULL, "1", NULL);
	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = "free", .queue = "foreign", .cpu = "1" };
	scene_add_pod(s, &p);
	scene_wait(s, "free", SCENE_RUNNING);
	/* Another client removes our gate, too: the pod is not published before it has quota. */
	scene_patch_pod(s, "held", "{\"spec\":{\"schedulingGates\":null}}");
	scene_wait(s, "held", SCENE_UNGATED);
	scene_settle(s);
	assert_false(scene_saw(s, "held", SCENE_PUBLISHED));
	scene_delete_pod(s, "free");
	scene_wait(s, "held", SCENE_RUNNING);
}

static bool is_open(void *ctx UNUSED, const struct mirror *m)
{
	return jdoc_is_str(jdoc_path(mirror_get(m, MIRROR_QUEUES, "closed"), "status.state"),
			   "Open");
}

/* Returns when the webhook and the scheduler have seen that it is closed. */
static void close_it(struct scene *s)
{
	static const char probe[] =
		"{\"apiVersion\":\"scheduling.volcano.sh/v1beta1\",\"kind\":\"PodGroup\","
		"\"metadata\":{\"name\":\"probe\"},\"spec\":{\"queue\":\"closed\"}}";
	int64_t deadline = wait_deadline(WAIT_NS);
	struct err err = ERR_INIT;

	/* The first status that the scheduler writes would undo it. */
	scene_wait_for(s, "the queue is open", is_open, NULL);
	scene_call(s, "PATCH", VOLCANO "/queues/closed/status",
		   "{\"status\":{\"state\":\"Closed\",\"allocated\":{}}}", NULL);
	while (stack_call(s->stack, "POST", VOLCANO "/namespaces/default/podgroups?dryRun=All",
			  str_of(probe), NULL, &err) == 0) {
		if (!wait_until(deadline)) {
			scene_fail(s, "the webhook has not seen that the queue is closed");
		}
	}
	/* One that starts reads everything before it decides. */
	scene_restart_scheduler(s, NULL, NULL);
}

static void test_closed_and_unknown_queues_say_why(void **state)
{
	static const char owned[] =
		"{apiVersion: v1, kind: Pod, metadata: {name: owned-1, annotations: {" OURS
		": 'true', scheduling.volcano.sh/queue-name: closed}, ownerReferences: ["
		"{apiVersion: batch/v1, kind: Job, name: owner, uid: u1, controller: true}]},"
		" spec: {schedulerName: volcano, containers: [{name: c, image: i}]}}";
	struct scene *s = *state;
	struct scene_pod p = { .name = "closed-1", .queue = "closed", .cpu = "1" };

	/* Quota for both: the order in which they run is not tested here. */
	scene_add_queue(s, "closed", NULL, "2", NULL);
	scene_add_group(s, "old", "closed", 1);
	close_it(s);
	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = "before", .group = "old", .cpu = "1" };
	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = "unknown-1", .queue = "nowhere", .cpu = "1" };
	scene_add_pod(s, &p);
	scene_apply(s, owned);
	scene_wait_event(s, "QueueUnavailable", "closed-1");
	scene_wait_event(s, "QueueUnavailable", "unknown-1");
	/* A new PodGroup is refused; of one that is older than the closing of the queue, the
	 * scheduler reports it. */
	scene_wait_event(s, "PodGroupRefused", "owned-1");
	scene_wait(s, "before", SCENE_GATED);
	scene_wait_event(s, "QueueUnavailable", "before");
	scene_settle(s);
	assert_true(scene_is(s, "closed-1", SCENE_GATED));
	assert_true(scene_is(s, "unknown-1", SCENE_GATED));
	scene_add_queue(s, "nowhere", NULL, "1", NULL);
	scene_wait(s, "unknown-1", SCENE_RUNNING);
	scene_call(s, "PATCH", "/apis/scheduling.volcano.sh/v1beta1/queues/closed/status",
		   "{\"status\":{\"state\":\"Open\"}}", NULL);
	scene_wait(s, "before", SCENE_RUNNING);
	scene_delete_pod(s, "before");
	scene_wait(s, "closed-1", SCENE_RUNNING);
}

static void test_best_effort_is_ungated_at_once(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "full", .queue = "be", .cpu = "1" };

	scene_add_queue(s, "be", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "full", SCENE_RUNNING);
	p = (struct scene_pod){ .name = "best-effort", .queue = "be" };
	scene_add_pod(s, &p);
	scene_wait(s, "best-effort", SCENE_RUNNING);
	assert_true(scene_saw(s, "best-effort", SCENE_GATED));
}

static void test_annotation_stays_with_the_gate(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;
	struct scene_pod p = { .name = "holder", .queue = "note", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "note", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "holder", SCENE_PUBLISHED);
	p.name = "waits";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "waits", SCENE_GATED));
	assert_true(scene_try_patch_pod(s, "waits",
					"{\"metadata\":{\"annotations\":{\"" OURS "\":null}}}",
					&err) < 0);
	assert_non_null(strstr(err.text, "required until the pod ends"));
	assert_true(scene_is(s, "waits", SCENE_GATED));
}

/* Their gate would never be removed. */
static void test_others_are_never_gated(void **state)
{
	static const char placed[] =
		"{apiVersion: v1, kind: Pod, metadata: {name: daemon, annotations: {" OURS
		": 'true'}},"
		" spec: {schedulerName: volcano, nodeName: node-1, containers: [{name: c, image: "
		"i}]}}";
	struct scene *s = *state;
	struct scene_pod p = { .name = "other", .scheduler = "third", .cpu = "1" };

	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = "plain", .not_opted_in = true, .cpu = "1" };
	scene_add_pod(s, &p);
	scene_apply(s, placed);
	scene_wait(s, "plain", SCENE_RUNNING);
	scene_wait(s, "daemon", SCENE_RUNNING);
	scene_settle(s);
	assert_true(scene_is(s, "other", SCENE_UNGATED));
	assert_false(scene_is(s, "other", SCENE_RUNNING));
	assert_false(scene_saw(s, "other", SCENE_GATED));
	assert_false(scene_saw(s, "other", SCENE_PUBLISHED));
	assert_false(scene_saw(s, "plain", SCENE_GATED));
	assert_false(scene_saw(s, "daemon", SCENE_GATED));
}

/* It is never gated, and belongs to no PodGroup that its user made. */
static void test_a_pod_created_on_its_node_is_charged(void **state)
{
	static const char placed[] =
		"{apiVersion: v1, kind: Pod, metadata: {name: placed, annotations: {" OURS
		": 'true', scheduling.volcano.sh/queue-name: full}},"
		" spec: {schedulerName: volcano, nodeName: node-1, containers: [{name: c, image: i,"
		" resources: {requests: {cpu: '2'}}}]}}";
	struct scene *s = *state;
	const struct scene_pod p = { .name = "waits", .queue = "full", .cpu = "1" };

	scene_add_queue(s, "full", NULL, "2", NULL);
	scene_apply(s, placed);
	scene_wait(s, "placed", SCENE_RUNNING);
	scene_wait_metric(s, STACK_SCHEDULER,
			  "volcano_queue_allocated_milli_cpu{queue_name=\"full\"} 2000");
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "waits", SCENE_GATED));
	scene_delete_pod(s, "placed");
	scene_wait(s, "waits", SCENE_RUNNING);
}

static void test_namespace_label_opts_in(void **state)
{
	struct scene *s = *state;
	const struct scene_pod p = { .name = "pod-1",
				     .namespace_ = "batch",
				     .queue = "ns",
				     .cpu = "1",
				     .not_opted_in = true };
	struct jdoc *pod = NULL;

	scene_apply(s, "{apiVersion: v1, kind: Namespace, metadata: {name: batch, labels: {" OURS
		       ": 'true'}}}");
	scene_add_queue(s, "ns", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "batch/pod-1", SCENE_RUNNING);
	assert_true(scene_saw(s, "batch/pod-1", SCENE_GATED));
	scene_call(s, "GET", "/api/v1/namespaces/batch/pods/pod-1", NULL, &pod);
	assert_true(jdoc_is_str(jdoc_get(jdoc_path(pod, "metadata.annotations"), OURS), "true"));
	jdoc_destroy(pod);
}

/* Pods that a failed test leaves there would disturb the other tests. */
static int with_batch(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	(void)stack_call(s->stack, "DELETE", "/api/v1/namespaces/batch/pods", str_of(NULL), NULL,
			 &err);
	scene_clear(s);
	return 0;
}

/* The patch carries the UID: the second pod has no quota and must not profit from a removal that
 * was meant for the first. */
static void test_namesake_is_not_ungated_by_an_old_operation(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "same", .group = "twin", .cpu = "1" };

	scene_add_queue(s, "twin", NULL, "1", NULL);
	scene_add_group(s, "twin", "twin", 1);
	scene_faults(s, "[{fault: status, code: 500, method: PATCH, count: 0,"
			"  path: '/api/v1/namespaces/default/pods/same'}]");
	scene_add_pod(s, &p);
	scene_wait_metric(s, STACK_SCHEDULER,
			  "headgate_queue_patching_pods{queue_name=\"twin\"} 1");
	scene_delete_pod(s, "same");
	scene_wait(s, "same", SCENE_GONE);
	/* Takes the quota before its namesake comes back. */
	p.name = "rival";
	scene_add_pod(s, &p);
	scene_wait(s, "rival", SCENE_RUNNING);
	p.name = "same";
	scene_add_pod(s, &p);
	scene_faults(s, NULL);
	scene_settle(s);
	scene_settle(s);
	assert_true(scene_is(s, "same", SCENE_GATED));
	assert_false(scene_saw(s, "same", SCENE_UNGATED));
	scene_delete_pod(s, "rival");
	scene_wait(s, "same", SCENE_RUNNING);
}

static bool is_withdrawn(const struct jdoc *pod)
{
	return jdoc_is_str(jdoc_get(mirror_pod_condition(pod, "PodScheduled"), "reason"),
			   "NotReadyForScheduling");
}

static bool is_one_withdrawn(void *ctx UNUSED, const struct mirror *m)
{
	return is_withdrawn(mirror_get(m, MIRROR_PODS, "default/lower-1")) +
		       is_withdrawn(mirror_get(m, MIRROR_PODS, "default/lower-2")) ==
	       1;
}

static void test_lowered_capability_withdraws(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "lower-1", .queue = "lower", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "lower", NULL, "2", NULL);
	scene_add_pod(s, &p);
	p.name = "lower-2";
	scene_add_pod(s, &p);
	scene_wait(s, "lower-1", SCENE_PUBLISHED);
	scene_wait(s, "lower-2", SCENE_PUBLISHED);
	scene_patch_queue(s, "lower", "{\"spec\":{\"capability\":{\"cpu\":\"1\"}}}");
	/* Which one, when they are of the same second, is up to the scheduler. */
	scene_wait_for(s, "one is withdrawn", is_one_withdrawn, NULL);
	scene_settle(s);
	assert_int_equal(scene_is(s, "lower-1", SCENE_PUBLISHED) +
				 scene_is(s, "lower-2", SCENE_PUBLISHED),
			 1);
	scene_patch_queue(s, "lower", "{\"spec\":{\"capability\":{\"cpu\":\"2\"}}}");
	scene_wait(s, "lower-1", SCENE_PUBLISHED);
	scene_wait(s, "lower-2", SCENE_PUBLISHED);
}

static void test_gang_is_published_together(void **state)
{
	struct scene *s = *state;
	char name[16];
	struct scene_pod p = { .name = name, .group = "gang", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "gangs", NULL, "5", NULL);
	scene_add_group(s, "gang", "gangs", 4);
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "gang-%u", i);
		scene_add_pod(s, &p);
	}
	for (unsigned i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "gang-%u", i);
		scene_wait(s, name, SCENE_PUBLISHED);
	}
	assert_true(history_gang_at_once(s->mirror, "default/gang-", 4));
	/* No part of another gang takes the fifth CPU. */
	scene_add_group(s, "late", "gangs", 2);
	p.group = "late";
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "late-%u", i);
		scene_add_pod(s, &p);
	}
	scene_settle(s);
	assert_true(scene_is(s, "late-0", SCENE_GATED));
	assert_true(scene_is(s, "late-1", SCENE_GATED));
}

static void test_siblings_share_their_parents_limit(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "left", .queue = "left", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "family", NULL, "1", NULL);
	scene_add_queue(s, "left", "family", "1", NULL);
	scene_add_queue(s, "right", "family", "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "left", SCENE_PUBLISHED);
	p.name = p.queue = "right";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "right", SCENE_GATED));
	scene_delete_pod(s, "left");
	scene_wait(s, "right", SCENE_PUBLISHED);
}

static void test_moved_podgroup_is_charged_anew(void **state)
{
	struct scene *s = *state;
	struct scene_pod p = { .name = "mover", .group = "moves", .cpu = "1", .pool = "none" };

	scene_add_queue(s, "from", NULL, "1", NULL);
	scene_add_queue(s, "to", NULL, "1", NULL);
	scene_add_group(s, "moves", "from", 1);
	scene_add_pod(s, &p);
	scene_wait(s, "mover", SCENE_PUBLISHED);
	/* The scheduler has seen both queues. */
	p = (struct scene_pod){ .name = "before", .queue = "to", .cpu = "1" };
	scene_add_pod(s, &p);
	scene_wait(s, "before", SCENE_RUNNING);
	scene_delete_pod(s, "before");
	scene_wait(s, "before", SCENE_GONE);
	p = (struct scene_pod){ .name = "next", .queue = "from", .cpu = "1", .pool = "none" };
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "next", SCENE_GATED));
	scene_call(s, "PATCH",
		   "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/moves",
		   "{\"spec\":{\"queue\":\"to\"}}", NULL);
	scene_wait(s, "next", SCENE_PUBLISHED);
	p = (struct scene_pod){ .name = "late", .queue = "to", .cpu = "1", .pool = "none" };
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "late", SCENE_GATED));
	assert_true(scene_is(s, "mover", SCENE_PUBLISHED));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_upstream_a_ungated_pod_keeps_its_quota,
					  scene_after_each),
		cmocka_unit_test_teardown(test_upstream_b_ours_goes_last, scene_after_each),
		cmocka_unit_test_teardown(test_foreign_gate_holds_no_quota, scene_after_each),
		cmocka_unit_test_teardown(test_closed_and_unknown_queues_say_why, scene_after_each),
		cmocka_unit_test_teardown(test_best_effort_is_ungated_at_once, scene_after_each),
		cmocka_unit_test_teardown(test_annotation_stays_with_the_gate, scene_after_each),
		cmocka_unit_test_teardown(test_others_are_never_gated, scene_after_each),
		cmocka_unit_test_teardown(test_a_pod_created_on_its_node_is_charged,
					  scene_after_each),
		cmocka_unit_test_teardown(test_namespace_label_opts_in, with_batch),
		cmocka_unit_test_teardown(test_namesake_is_not_ungated_by_an_old_operation,
					  scene_after_each),
		cmocka_unit_test_teardown(test_gang_is_published_together, scene_after_each),
		cmocka_unit_test_teardown(test_siblings_share_their_parents_limit,
					  scene_after_each),
		/* After a limit was lowered the oracle allows an excess for a while. */
		cmocka_unit_test_teardown(test_lowered_capability_withdraws, scene_after_each),
		cmocka_unit_test_teardown(test_moved_podgroup_is_charged_anew, scene_after_each),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, scene_end);
}
