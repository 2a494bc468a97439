/* Another scheduler uses our scheduler name: that is reported. Our own work is never taken for that
 * of another scheduler, also over restarts and a hand-over (scene_judge checks that in all tests).
 */
#include "lib/unit.h"

#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "play/scene.h"

#define PODGROUPS "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"

static void bind_by_hand(struct scene *s, const char *pod, const char *node)
{
	CLEANUP(xmalloc_freep)
	char *path = xmalloc_printf("/api/v1/namespaces/default/pods/%s/binding", pod);
	CLEANUP(xmalloc_freep)
	char *body =
		xmalloc_printf("{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{"
			       "\"name\":\"%s\"},\"target\":{\"kind\":\"Node\",\"name\":\"%s\"}}",
			       pod, node);

	scene_call(s, "POST", path, body, NULL);
}

static bool readyz_says(struct scene *s, enum stack_program p, const char *text)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	assert_int_equal(scene_http(s, p, "/readyz?verbose", &body), 200);
	return strstr(body.p, text) != NULL;
}

/* The same pods once without and once with a second scheduler. */
static void test_bind_by_another_scheduler(void **state UNUSED)
{
	const struct scene_options opt = { 0 };
	struct scene_pod p = { .name = "ours", .queue = "q", .cpu = "1" };
	struct scene s;

	scene_start(&s, &opt);
	scene_add_queue(&s, "q", NULL, "2", NULL);
	scene_add_pod(&s, &p);
	scene_wait(&s, "ours", SCENE_RUNNING);
	scene_apply(&s,
		    "{apiVersion: v1, kind: Pod, metadata: {name: placed}, spec: {schedulerName: "
		    "volcano, nodeName: node-1, containers: [{name: c, image: i}]}}");
	scene_wait(&s, "placed", SCENE_RUNNING);
	scene_settle(&s);
	assert_false(readyz_says(&s, STACK_SCHEDULER, "foreign ok:"));
	scene_judge(&s);

	p = (struct scene_pod){ .name = "theirs", .queue = "q", .cpu = "1", .pool = "none" };
	scene_add_pod(&s, &p);
	scene_wait(&s, "theirs", SCENE_PUBLISHED);
	s.has_foreign = true;
	bind_by_hand(&s, "theirs", "node-1");
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_foreign_binds_total 1");
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_foreign_podgroups_total 0");
	scene_wait_event(&s, "ForeignBind", "theirs");
	assert_true(
		readyz_says(&s, STACK_SCHEDULER, "pod default/theirs was bound to node node-1"));
	/* A warning does not make it unready, and the new process does not report it again. */
	assert_int_equal(scene_http(&s, STACK_SCHEDULER, "/readyz", NULL), 200);
	scene_restart_scheduler(&s, NULL, NULL);
	p = (struct scene_pod){ .name = "more", .queue = "q", .cpu = "1" };
	scene_delete_pod(&s, "theirs");
	scene_add_pod(&s, &p);
	scene_wait(&s, "more", SCENE_RUNNING);
	s.has_foreign = false;
	scene_judge(&s);
	scene_stop(&s);
}

/* A PodGroup as Volcano's PodGroup controller makes it for the pods of a ReplicaSet. */
static void test_podgroup_by_another_controller(void **state UNUSED)
{
	static const char owned[] =
		"apiVersion: v1\n"
		"kind: Pod\n"
		"metadata:\n"
		"  name: web-1\n"
		"  ownerReferences:\n"
		"  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: rs-1, controller: "
		"true}\n"
		"spec:\n"
		"  schedulerName: volcano\n"
		"  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]\n";
	static const char theirs[] = "apiVersion: scheduling.volcano.sh/v1beta1\n"
				     "kind: PodGroup\n"
				     "metadata:\n"
				     "  name: podgroup-rs-1\n"
				     "  ownerReferences:\n"
				     "  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: "
				     "rs-1, controller: true}\n"
				     "spec: {minMember: 1, queue: default}\n";
	const struct scene_options opt = { 0 };
	struct scene_pod p = { .name = "alone", .cpu = "100m" };
	struct scene s;

	scene_start(&s, &opt);
	scene_add_pod(&s, &p);
	scene_wait(&s, "alone", SCENE_RUNNING); /* with a PodGroup of ours */
	scene_add_group(&s, "by-a-person", "default", 1);
	p = (struct scene_pod){ .name = "in-it", .group = "by-a-person", .cpu = "100m" };
	scene_add_pod(&s, &p);
	scene_wait(&s, "in-it", SCENE_RUNNING);
	scene_judge(&s);

	s.has_foreign = true;
	scene_apply(&s, theirs);
	scene_apply(&s, owned);
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_foreign_podgroups_total 1");
	scene_wait_metric(&s, STACK_SCHEDULER, "headgate_foreign_binds_total 0");
	scene_wait_event(&s, "ForeignPodGroup", "podgroup-rs-1");
	assert_true(readyz_says(&s, STACK_SCHEDULER, "PodGroup default/podgroup-rs-1 was made"));
	scene_wait(&s, "web-1", SCENE_RUNNING);
	scene_stop(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bind_by_another_scheduler),
		cmocka_unit_test(test_podgroup_by_another_controller),
	};

	cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
