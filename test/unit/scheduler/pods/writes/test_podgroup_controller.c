#include "scheduler/pods/writes/podgroup_controller.h"

#include <string.h>

#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

#define POST "POST /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups"
#define ANNOTATE "PATCH /api/v1/namespaces/ns/pods/p"

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct podgroup_controller *controller;
	struct recorder *recorder;
	struct cluster *cluster;
	struct task *task;
	bool refuse; /* writing is not allowed */
};

static bool may_send(void *ctx)
{
	const struct fixture *f = ctx;

	return !f->refuse;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S,
				     .may_send = may_send,
				     .ctx = f };

	f->refuse = false;
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "volcano", "here");
	f->controller = podgroup_controller_create(&base, "default", f->recorder);
	f->cluster = cluster_create();
	f->task = cluster_fixture_task(f->cluster, "p", NULL, 1500);
}

static void end(struct fixture *f)
{
	podgroup_controller_destroy(f->controller);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	cluster_destroy(f->cluster);
}

static uint64_t expect(struct fixture *f, const char *line)
{
	while (pool_step(podgroup_controller_pool(f->controller))) {
	}
	return fake_transport_expect(f->transport, line);
}

static struct jdoc *body_of(struct fixture *f, uint64_t id)
{
	struct jdoc *d = NULL;

	assert_int_equal(jdoc_parse(fake_transport_body(f->transport, id), &d, NULL), 0);
	return d;
}

static void test_a_bare_pod_gets_a_group_of_its_own(void **state)
{
	struct podgroup_controller_pod pod = { .queue = "team", .priority_class = "high" };
	struct fixture f;
	struct jdoc *d;
	uint64_t id;

	(void)state;
	begin(&f);
	f.task->flags |= TASK_OPTED_IN;
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	id = expect(&f, POST);
	d = body_of(&f, id);
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "podgroup-uid-p");
	assert_string_equal(
		jdoc_str(jdoc_get(jdoc_path(d, "metadata.annotations"), "headgate.io/made-by")),
		"headgate-scheduler");
	assert_string_equal(jdoc_path_str(d, "spec.queue"), "team");
	assert_string_equal(jdoc_path_str(d, "spec.priorityClassName"), "high");
	assert_int_equal(jdoc_int(jdoc_path(d, "spec.minMember"), 0), 1);
	assert_string_equal(jdoc_path_str(d, "spec.minResources.cpu"), "1500m");
	assert_string_equal(
		jdoc_path_str(jdoc_at(jdoc_path(d, "metadata.ownerReferences"), 0), "kind"), "Pod");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 201, "{}");
	id = expect(&f, ANNOTATE);
	d = body_of(&f, id);
	assert_string_equal(jdoc_path_str(d, "metadata.uid"), "uid-p");
	assert_string_equal(jdoc_str(jdoc_get(jdoc_path(d, "metadata.annotations"),
					      "scheduling.k8s.io/group-name")),
			    "podgroup-uid-p");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 200, "{}");
	assert_int_equal(pool_in_flight(podgroup_controller_pool(f.controller)), 0);
	end(&f);
}

/* The cache adopts it; only a PodGroup that may belong to other pods has to be named at once. */
static void test_a_plain_pod_is_not_annotated(void **state)
{
	static const struct {
		const char *name;
		uint32_t flag;
		int status;
		bool annotated;
	} rows[] = { { "created", 0, 201, false },
		     { "exists", 0, 409, true },
		     { "opted in", TASK_OPTED_IN, 201, true },
		     { "our gate", TASK_OUR_GATE, 201, true },
		     { "another gate", TASK_FOREIGN_GATE, 201, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup_controller_pod pod = { .queue = "team" };
		struct fixture f;

		unit_row(rows[i].name);
		begin(&f);
		f.task->flags |= rows[i].flag;
		podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
		fake_transport_answer(f.transport, expect(&f, POST), rows[i].status, "{}");
		if (rows[i].annotated) {
			fake_transport_answer(f.transport, expect(&f, ANNOTATE), 200, "{}");
		}
		while (pool_step(podgroup_controller_pool(f.controller))) {
		}
		fake_transport_expect_none(f.transport);
		end(&f);
	}
}

/* A tenant may delete it before any watch has shown it. */
static void test_a_podgroup_that_is_never_seen_is_created_again(void **state)
{
	static const struct {
		uint32_t flag;
		const char *uid; /* of the pod, 15 s later */
		bool has_podgroup, again;
	} rows[] = { { 0, "uid-p", false, true },
		     { 0, "uid-p", true, false },
		     { 0, "uid-other", false, false },
		     { TASK_OPTED_IN, "uid-p", false, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup_controller_pod pod = { .queue = "team",
						       .min_member = "2",
						       .priority_class = "high" };
		struct fixture f;

		unit_row_number(i);
		begin(&f);
		podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
		fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
		fake_transport_advance(f.transport, 5 * CLOCK_NS_PER_S);
		podgroup_controller_ask_again(f.controller, f.cluster);
		assert_false(pool_step(podgroup_controller_pool(f.controller)));
		f.task->flags |= rows[i].flag;
		f.task->uid = rows[i].uid;
		if (rows[i].has_podgroup) {
			cluster_task_set_podgroup(
				f.cluster, f.task,
				cluster_fixture_podgroup(f.cluster, "g", "team", 1));
		}
		for (int round = 0; round < 2; round++) {
			fake_transport_advance(f.transport, 10 * CLOCK_NS_PER_S);
			podgroup_controller_ask_again(f.controller, f.cluster);
			if (rows[i].again) {
				uint64_t id = expect(&f, POST);
				struct jdoc *d = body_of(&f, id);

				assert_string_equal(jdoc_path_str(d, "spec.queue"), "team");
				assert_string_equal(jdoc_path_str(d, "spec.priorityClassName"),
						    "high");
				assert_int_equal(jdoc_int(jdoc_path(d, "spec.minMember"), 0), 2);
				jdoc_destroy(d);
				fake_transport_answer(f.transport, id, 201, "{}");
			}
			assert_false(pool_step(podgroup_controller_pool(f.controller)));
		}
		end(&f);
	}
}

/* However often its user edits it. */
static void test_a_pod_is_remembered_once(void **state)
{
	struct podgroup_controller_pod pod = { .queue = "team" };
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 2; i++) {
		podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
		fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
		fake_transport_advance(f.transport, 6 * CLOCK_NS_PER_S);
	}
	podgroup_controller_ask_again(f.controller, f.cluster);
	assert_false(pool_step(podgroup_controller_pool(f.controller)));
	fake_transport_advance(f.transport, 6 * CLOCK_NS_PER_S);
	podgroup_controller_ask_again(f.controller, f.cluster);
	fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
	end(&f);
}

static void test_an_adopted_pod_that_waits_is_annotated(void **state)
{
	struct fixture f;
	struct jdoc *d;
	uint64_t id;

	(void)state;
	begin(&f);
	podgroup_controller_annotate(f.controller, f.task, "podgroup-uid-p");
	id = expect(&f, ANNOTATE);
	d = body_of(&f, id);
	assert_string_equal(jdoc_path_str(d, "metadata.uid"), "uid-p");
	assert_string_equal(jdoc_str(jdoc_get(jdoc_path(d, "metadata.annotations"),
					      "scheduling.k8s.io/group-name")),
			    "podgroup-uid-p");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 200, "{}");
	end(&f);
}

static void test_the_owner_says_how_many(void **state)
{
	struct podgroup_controller_pod pod = { .owner_api_version = "apps/v1",
					       .owner_kind = "ReplicaSet",
					       .owner_name = "web",
					       .owner_uid = "rs-1" };
	struct fixture f;
	struct jdoc *d;
	uint64_t id;

	(void)state;
	begin(&f);
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	fake_transport_answer(f.transport,
			      expect(&f, "GET /apis/apps/v1/namespaces/ns/replicasets/web"), 200,
			      "{\"metadata\":{\"annotations\":{\"scheduling.volcano.sh/"
			      "group-min-member\":\"3\"}}}");
	id = expect(&f, POST);
	d = body_of(&f, id);
	assert_string_equal(jdoc_path_str(d, "metadata.name"), "podgroup-rs-1");
	assert_int_equal(jdoc_int(jdoc_path(d, "spec.minMember"), 0), 3);
	assert_string_equal(jdoc_path_str(d, "spec.minResources.cpu"), "4500m");
	assert_string_equal(jdoc_path_str(d, "spec.queue"), "default");
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 409, "{}"); /* another replica was first */
	fake_transport_answer(f.transport, expect(&f, ANNOTATE), 200, "{}");
	end(&f);
}

static void test_an_owner_that_cannot_be_read_counts_one(void **state)
{
	struct podgroup_controller_pod pod = { .owner_api_version = "batch/v1",
					       .owner_kind = "Job",
					       .owner_name = "j",
					       .owner_uid = "j-1" };
	struct fixture f;
	struct jdoc *d;
	uint64_t id;

	(void)state;
	begin(&f);
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	fake_transport_answer(f.transport, expect(&f, "GET /apis/batch/v1/namespaces/ns/jobs/j"),
			      403, "{}");
	id = expect(&f, POST);
	d = body_of(&f, id);
	assert_int_equal(jdoc_int(jdoc_path(d, "spec.minMember"), 0), 1);
	jdoc_destroy(d);
	fake_transport_answer(f.transport, id, 201, "{}");
	fake_transport_answer(f.transport, expect(&f, ANNOTATE), 404, "{}");
	end(&f);
}

static void test_a_known_group_only_needs_the_annotation(void **state)
{
	struct podgroup_controller_pod pod = { .owner_api_version = "apps/v1",
					       .owner_kind = "ReplicaSet",
					       .owner_name = "web",
					       .owner_uid = "rs-1" };
	struct fixture f;

	(void)state;
	begin(&f);
	cluster_fixture_podgroup(f.cluster, "podgroup-rs-1", NULL, 1);
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	fake_transport_answer(f.transport, expect(&f, ANNOTATE), 200, "{}");
	end(&f);
}

static void test_a_refused_group_is_tried_again(void **state)
{
	struct podgroup_controller_pod pod = { .queue = "closed", .min_member = "not a number" };
	struct fixture f;
	struct jdoc *event;
	uint64_t id;

	(void)state;
	begin(&f);
	f.task->flags |= TASK_OPTED_IN;
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	fake_transport_answer(f.transport, expect(&f, POST), 403,
			      "{\"kind\":\"Status\",\"message\":\"queue is Closed\"}");
	while (pool_step(recorder_pool(f.recorder))) {
	}
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/events");
	event = body_of(&f, id);
	assert_string_equal(jdoc_path_str(event, "reason"), "PodGroupRefused");
	assert_string_equal(jdoc_path_str(event, "involvedObject.name"), "p");
	assert_non_null(strstr(jdoc_path_str(event, "message"), "queue is Closed"));
	jdoc_destroy(event);
	fake_transport_answer(f.transport, id, 201, "{}");
	fake_transport_advance(f.transport, 60 * CLOCK_NS_PER_S);
	fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
	fake_transport_answer(f.transport, expect(&f, ANNOTATE), 200, "{}");
	end(&f);
}

static void test_writes_wait_until_they_are_allowed(void **state)
{
	struct podgroup_controller_pod pod = { .queue = "team" };
	struct fixture f;

	(void)state;
	begin(&f);
	f.refuse = true;
	podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
	assert_true(pool_step(podgroup_controller_pool(f.controller)));
	fake_transport_expect_none(f.transport);
	f.refuse = false;
	fake_transport_advance(f.transport, 60 * CLOCK_NS_PER_S);
	fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
	end(&f);
}

static void test_an_annotation_that_was_not_taken_is_sent_again(void **state)
{
	static const int passing[] = { 409, 403, 500 }; /* a race lost, a right missing */
	struct podgroup_controller_pod pod = { .queue = "team" };

	(void)state;
	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		struct fixture f;

		begin(&f);
		f.task->flags |= TASK_OPTED_IN;
		podgroup_controller_pod(f.controller, f.cluster, f.task, &pod);
		fake_transport_answer(f.transport, expect(&f, POST), 201, "{}");
		fake_transport_answer(f.transport, expect(&f, ANNOTATE), passing[i], "{}");
		fake_transport_advance(f.transport, 60 * CLOCK_NS_PER_S);
		fake_transport_answer(f.transport, expect(&f, ANNOTATE), 200, "{}");
		end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bare_pod_gets_a_group_of_its_own),
		cmocka_unit_test(test_a_plain_pod_is_not_annotated),
		cmocka_unit_test(test_a_podgroup_that_is_never_seen_is_created_again),
		cmocka_unit_test(test_a_pod_is_remembered_once),
		cmocka_unit_test(test_an_adopted_pod_that_waits_is_annotated),
		cmocka_unit_test(test_the_owner_says_how_many),
		cmocka_unit_test(test_an_owner_that_cannot_be_read_counts_one),
		cmocka_unit_test(test_a_known_group_only_needs_the_annotation),
		cmocka_unit_test(test_a_refused_group_is_tried_again),
		cmocka_unit_test(test_writes_wait_until_they_are_allowed),
		cmocka_unit_test(test_an_annotation_that_was_not_taken_is_sent_again),
	};

	return cmocka_run_group_tests_name("pods/writes/podgroup_controller", tests, NULL, NULL);
}
