/* Odd objects of tenants: no quota is given twice, tools go on, gates are removed. */
#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "play/scene.h"

#define MANY 10001

static struct scene scene;

static int begin(void **state)
{
	const struct scene_options opt = { 0 };

	scene_start(&scene, &opt);
	*state = &scene;
	return 0;
}

static int end(void **state)
{
	scene_judge(*state);
	scene_stop(*state);
	return 0;
}

static void explain(struct scene *s, const char *pod, struct strbuf *out)
{
	char kubeconfig[400];
	const char *args[] = { "explain", kubeconfig, "pod", pod, NULL };

	snprintf(kubeconfig, sizeof(kubeconfig), "--kubeconfig=%s", stack_kubeconfig(s->stack));
	assert_int_equal(stack_run(s->stack, "headgatectl", args, out), 0);
}

static int run(struct scene *s, const char *verb, const char *arg, struct strbuf *out)
{
	char kubeconfig[400];
	const char *args[] = { verb, kubeconfig, arg, NULL };

	snprintf(kubeconfig, sizeof(kubeconfig), "--kubeconfig=%s", stack_kubeconfig(s->stack));
	return stack_run(s->stack, "headgatectl", args, out);
}

static void ctl(struct scene *s, const char *verb, const char *arg, struct strbuf *out)
{
	assert_int_equal(run(s, verb, arg, out), 0);
}

/* In a queue of one CPU: runs is made odd by patch, the scheduler starts again, waits stays gated.
 */
static void stays_charged(struct scene *s, const char *queue, const char *patch)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT, sample = STRBUF_INIT;
	struct scene_pod p = { .name = "runs", .queue = queue, .cpu = "1" };

	scene_add_queue(s, queue, NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, p.name, SCENE_RUNNING);
	p.name = "waits";
	scene_add_pod(s, &p);
	scene_settle(s);
	scene_patch_pod(s, "runs", patch);
	scene_restart_scheduler(s, NULL, NULL);
	scene_settle(s);
	assert_true(scene_is(s, "runs", SCENE_RUNNING));
	assert_true(scene_is(s, "waits", SCENE_GATED));
	strbuf_printf(&sample, "headgate_queue_gated_pods{queue_name=\"%s\"} 1", queue);
	scene_wait_metric(s, STACK_SCHEDULER, sample.p);
	ctl(s, "queues", NULL, &out);
	assert_non_null(strstr(out.p, queue));
}

static void test_nul(void **state)
{
	stays_charged(*state, "nul", "{\"metadata\":{\"annotations\":{\"x\":\"a\\u0000b\"}}}");
}

static void test_many_annotations(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf patch = STRBUF_INIT;

	strbuf_add_c(&patch, "{\"metadata\":{\"annotations\":{\"x\":\"\\u0000\"");
	for (unsigned i = 0; i < MANY; i++) {
		strbuf_printf(&patch, ",\"k%u\":\"\"", i);
	}
	strbuf_add_c(&patch, "}}}");
	stays_charged(*state, "many", patch.p);
}

/* A PodGroup that its CustomResourceDefinition accepts and that makes no sense: running pods stay
 * charged, their quota is not given to others, and all tools name the object. */
static void test_podgroup_that_means_nothing(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct scene *s = *state;
	struct scene_pod p = { .name = "member", .queue = NULL, .group = "odd-group", .cpu = "1" };

	scene_add_queue(s, "groups", NULL, "1", NULL);
	scene_add_group(s, "odd-group", "groups", 1);
	scene_add_pod(s, &p);
	scene_wait(s, "member", SCENE_RUNNING);
	scene_call(s, "PATCH",
		   "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups/odd-group",
		   "{\"spec\":{\"minResources\":{\"cpu\":\"9e17\"}}}", NULL);
	p.name = "late";
	scene_add_pod(s, &p);
	p = (struct scene_pod){ .name = "other", .queue = "groups", .cpu = "1" };
	scene_add_pod(s, &p);
	scene_restart_scheduler(s, NULL, NULL);
	scene_settle(s);
	assert_true(scene_is(s, "other", SCENE_GATED));
	scene_wait_event(s, "InvalidObject", "odd-group");
	assert_true(scene_metric(s, STACK_SCHEDULER,
				 "headgate_bad_objects_total{resource=\"podgroups\"}") >= 1);
	ctl(s, "queues", NULL, &out);
	assert_non_null(strstr(out.p,
			       "headgatectl: warning: podgroups default/odd-group: "
			       "spec.minResources: cpu: 900e15 is more than can be counted"));
	explain(s, "default/late", &out);
	assert_non_null(strstr(out.p, "waits for its PodGroup, which cannot be read"));
	scene_delete_pod(s, "member");
	scene_wait(s, "other", SCENE_RUNNING);
	assert_true(scene_is(s, "late", SCENE_GATED));
}

/* A registration and a pod are refused: both are named, and the rest is done. */
static void drain_with_failures(struct scene *s)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct scene_pod p = { .name = "fourth", .queue = "odd", .cpu = "1" };

	scene_add_pod(s, &p);
	scene_settle(s);
	scene_faults(s, "[{fault: status, code: 403, method: DELETE, count: 1,"
			" path: /apis/admissionregistration.*},"
			"{fault: status, code: 403, method: PATCH, count: 0,"
			" path: /api/v1/namespaces/default/pods/third}]");
	assert_int_equal(run(s, "drain", "--yes", &out), 1);
	scene_faults(s, NULL);
	assert_non_null(strstr(out.p, "headgatectl: webhook registration "));
	assert_non_null(strstr(out.p, "headgatectl: pod default/third still has its gate: "));
	assert_non_null(strstr(out.p, "registrations left: 1, pods still with a gate: 1"));
	scene_wait(s, "fourth", SCENE_UNGATED);
	assert_true(scene_is(s, "third", SCENE_GATED));
}

/* Pods that are odd from the beginning are gated like others, and the drain takes the gates off. */
static void test_gate_of_odd_pods(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct scene *s = *state;
	struct scene_pod p = { .name = "first", .queue = "odd", .cpu = "1" };

	scene_add_queue(s, "odd", NULL, "1", NULL);
	scene_add_pod(s, &p);
	scene_wait(s, "first", SCENE_RUNNING);
	p.name = "second";
	p.annotations = "\"x\":\"a\\u0000b\"";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "second", SCENE_GATED));
	scene_delete_pod(s, "first");
	scene_wait(s, "second", SCENE_RUNNING);
	p.name = "third";
	scene_add_pod(s, &p);
	scene_settle(s);
	assert_true(scene_is(s, "third", SCENE_GATED));
	drain_with_failures(s);
	ctl(s, "drain", "--yes", &out);
	assert_non_null(strstr(out.p, "removed the gate from 1 pods"));
	scene_wait(s, "third", SCENE_UNGATED);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nul, scene_after_each),
		cmocka_unit_test_teardown(test_many_annotations, scene_after_each),
		cmocka_unit_test_teardown(test_podgroup_that_means_nothing, scene_after_each),
		cmocka_unit_test(test_gate_of_odd_pods),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, begin, end);
}
