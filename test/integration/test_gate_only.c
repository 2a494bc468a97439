/* Pods that another scheduler places: gated, charged and ungated by us, and otherwise left alone.
 */
#include "lib/unit.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "play/scene.h"

#define PODS "/api/v1/namespaces/default/pods/"
#define THEIRS "default-scheduler"

/* The other scheduler. */
static void bind(struct scene *s, const char *pod, const char *node)
{
	CLEANUP(xmalloc_freep) char *path = xmalloc_printf(PODS "%s/binding", pod);
	CLEANUP(xmalloc_freep)
	char *body =
		xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
			       "\"name\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
			       pod, node);

	scene_call(s, "POST", path, body, NULL);
}

static void test_another_scheduler_places_them(void **state UNUSED)
{
	const struct scene_options opt = { 0 };
	struct scene_pod p = { .name = "first", .queue = "q", .cpu = "2", .scheduler = THEIRS };
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	const struct jdoc *annotations;
	struct scene s;

	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "2", NULL);
	scene_add_pod(&s, &p);
	scene_wait(&s, "first", SCENE_UNGATED);
	assert_true(scene_saw(&s, "first", SCENE_GATED));
	p.name = "second";
	scene_add_pod(&s, &p);
	scene_settle(&s);
	assert_true(scene_is(&s, "second", SCENE_GATED));
	/* Neither bound, nor published, nor put into a PodGroup. */
	assert_false(scene_is(&s, "first", SCENE_RUNNING));
	assert_false(scene_saw(&s, "first", SCENE_PUBLISHED));
	scene_call(&s, "GET", PODS "first", NULL, &pod);
	annotations = jdoc_path(pod, "metadata.annotations");
	assert_true(jdoc_is_str(jdoc_get(annotations, "headgate.io/reserved"), "q"));
	assert_null(jdoc_get(annotations, "scheduling.k8s.io/group-name"));
	/* The next process knows that it holds its quota. */
	scene_restart_scheduler(&s, NULL, NULL);
	scene_settle(&s);
	assert_true(scene_is(&s, "second", SCENE_GATED));

	bind(&s, "first", "node-1");
	scene_wait(&s, "first", SCENE_RUNNING);
	scene_wait_metric(&s, STACK_SCHEDULER,
			  "volcano_queue_allocated_milli_cpu{queue_name=\"q\"} 2000");
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_foreign_binds_total 0");
	scene_delete_pod(&s, "first");
	scene_wait(&s, "second", SCENE_UNGATED);
	scene_judge(&s);
	scene_stop(&s);
}

/* A pod template needs to say nothing at all. */
static void test_a_namespace_opts_in(void **state UNUSED)
{
	const struct scene_options opt = { 0 };
	struct scene_pod p = { .namespace_ = "batch",
			       .name = "pod-1",
			       .cpu = "1",
			       .scheduler = THEIRS,
			       .not_opted_in = true };
	struct scene s;

	scene_start(&s, &opt);
	scene_apply(&s, "{apiVersion: v1, kind: Namespace, metadata: {name: batch, labels: {"
			"scheduling.volcano.sh/queue-allocation-gate: 'true'}, annotations: {"
			"scheduling.volcano.sh/queue-name: small}}}");
	scene_add_queue(&s, "small", NULL, "1", NULL);
	scene_settle(&s);
	scene_add_pod(&s, &p);
	scene_wait(&s, "batch/pod-1", SCENE_UNGATED);
	p.name = "pod-2";
	scene_add_pod(&s, &p);
	scene_settle(&s);
	assert_true(scene_is(&s, "batch/pod-2", SCENE_GATED));
	scene_judge(&s);
	scene_stop(&s);
}

/* Nothing places them. Only the one that a controller would create again is deleted. */
static void test_not_placed_in_time(void **state UNUSED)
{
	static const char *const args[] = { "--reservation-timeout=200ms",
					    "--on-reservation-timeout=delete", NULL };
	const struct scene_options opt = { .stack = { .scheduler_args = args } };
	const struct scene_pod naked = {
		.name = "naked", .queue = "q", .cpu = "1", .scheduler = THEIRS
	};
	struct scene s;

	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "1", NULL);
	scene_apply(&s, "{apiVersion: v1, kind: Pod, metadata: {name: owned, annotations: {"
			"scheduling.volcano.sh/queue-allocation-gate: 'true', "
			"scheduling.volcano.sh/queue-name: q}, ownerReferences: [{apiVersion: "
			"apps/v1, kind: ReplicaSet, name: r, uid: r-1, controller: true}]}, spec: "
			"{schedulerName: " THEIRS ", containers: [{name: c, image: i, resources: "
			"{requests: {cpu: '1'}}}]}}");
	scene_wait_event(&s, "ReservationTimedOut", "owned");
	scene_wait(&s, "owned", SCENE_GONE);
	scene_add_pod(&s, &naked);
	scene_wait_event(&s, "ReservationTimedOut", "naked");
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_queue_overdue_pods{queue_name=\"q\"} 1");
	assert_true(scene_is(&s, "naked", SCENE_UNGATED));
	scene_judge(&s);
	scene_stop(&s);
}

static void add_gang(struct scene *s, const char *name, int min)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf("{\"apiVersion\":\"scheduling.k8s.io/v1beta1\",\"kind\":"
				    "\"PodGroup\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
				    "\"schedulingPolicy\":{\"gang\":{\"minCount\":%d}}}}",
				    name, min);

	scene_call(s, "POST", "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups", body,
		   NULL);
}

static void add_member(struct scene *s, const char *name, const char *group)
{
	CLEANUP(xmalloc_freep)
	char *body = xmalloc_printf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
		"\"annotations\":{\"scheduling.volcano.sh/queue-allocation-gate\":\"true\","
		"\"scheduling.volcano.sh/queue-name\":\"q\"}},\"spec\":{\"schedulerName\":"
		"\"" THEIRS "\",\"schedulingGroup\":{\"podGroupName\":\"%s\"},\"containers\":[{"
		"\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}",
		name, group);

	scene_call(s, "POST", "/api/v1/namespaces/default/pods", body, NULL);
}

/* The kind is served some time after the scheduler has started. Then the minimum of a PodGroup gets
 * its quota as a whole. */
static void test_podgroups_of_kubernetes(void **state UNUSED)
{
	const struct scene_options opt = { 0 };
	struct err err = ERR_INIT;
	struct scene s;

	if (stack_is_external()) {
		skip(); /* which features it has is not for a test to choose */
	}
	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "3", NULL);
	add_member(&s, "a1", "a");
	add_member(&s, "a2", "a");
	scene_settle(&s);
	assert_true(scene_is(&s, "a1", SCENE_GATED));
	if (stack_apply_file(s.stack, "test/play/kube-podgroups.yaml", &err) < 0) {
		fail_msg("%s", err.text);
	}
	add_gang(&s, "a", 2);
	add_gang(&s, "b", 2);
	scene_wait(&s, "a1", SCENE_UNGATED);
	scene_wait(&s, "a2", SCENE_UNGATED);
	add_member(&s, "b1", "b");
	add_member(&s, "b2", "b");
	scene_settle(&s);
	assert_true(scene_is(&s, "b1", SCENE_GATED));
	assert_true(scene_is(&s, "b2", SCENE_GATED));
	scene_delete_pod(&s, "a1");
	scene_wait(&s, "b1", SCENE_UNGATED);
	scene_wait(&s, "b2", SCENE_UNGATED);
	assert_true(scene_is(&s, "a2", SCENE_UNGATED));
	scene_judge(&s);
	scene_stop(&s);
}

/* Another installation serves the same scheduler. */
static void test_two_gate_owners(void **state UNUSED)
{
	const struct scene_options opt = { 0 };
	struct scene_pod p = { .name = "first", .queue = "q", .cpu = "1", .scheduler = THEIRS };
	struct scene s;

	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "1", NULL);
	scene_add_pod(&s, &p);
	scene_wait(&s, "first", SCENE_UNGATED);
	p.name = "second";
	scene_add_pod(&s, &p);
	scene_settle(&s);
	assert_true(scene_is(&s, "second", SCENE_GATED));
	scene_patch_pod(&s, "second",
			"{\"metadata\":{\"annotations\":{\"headgate.io/reserved\":\"q\"}},"
			"\"spec\":{\"schedulingGates\":null}}");
	scene_wait_event(&s, "UngatedByOthers", "second");
	/* It counts: there is no quota beside it when the first one is gone. */
	p.name = "third";
	scene_add_pod(&s, &p);
	scene_delete_pod(&s, "first");
	scene_settle(&s);
	assert_true(scene_is(&s, "third", SCENE_GATED));
	scene_delete_pod(&s, "second");
	scene_wait(&s, "third", SCENE_UNGATED);
	scene_stop(&s);
}

static void test_off(void **state UNUSED)
{
	static const char *const off[] = { "--gate-schedulers=", NULL };
	const struct scene_options opt = { .stack = { .scheduler_args = off,
						      .webhook_args = off } };
	const struct scene_pod p = { .name = "p", .queue = "q", .cpu = "2", .scheduler = THEIRS };
	struct scene s;

	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "1", NULL);
	scene_add_pod(&s, &p);
	scene_settle(&s);
	assert_true(scene_is(&s, "p", SCENE_UNGATED));
	assert_false(scene_saw(&s, "p", SCENE_GATED));
	scene_stop(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_another_scheduler_places_them),
		cmocka_unit_test(test_a_namespace_opts_in),
		cmocka_unit_test(test_not_placed_in_time),
		cmocka_unit_test(test_podgroups_of_kubernetes),
		cmocka_unit_test(test_two_gate_owners),
		cmocka_unit_test(test_off),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
