#include "scheduler/workloads/writes/preemption_cost.h"

#include <string.h>

#include "api/kueue/kueue.h"
#include "api/kueue/kueue_cost.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/quota/quota_world.h"
#include "lib/unit.h"

#define PATCH(name)                                                                                \
	"PATCH /apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/" name                         \
	"/status?fieldManager=headgate-preemption-cost"
#define BODY(name, cost)                                                                           \
	"{\"apiVersion\":\"kueue.x-k8s.io/v1beta2\",\"kind\":\"Workload\",\"metadata\":{\"name\":" \
	"\"" name "\",\"namespace\":\"ns\",\"uid\":\"" name                                        \
	"\"},\"status\":{\"preemptionCost\":\"" cost "\"}}"
#define DONE(version) "{\"metadata\":{\"resourceVersion\":\"" version "\"}}"
#define CONFLICT                                                                                   \
	"{\"kind\":\"Status\",\"reason\":\"Conflict\",\"message\":\"Apply failed with 1 "          \
	"conflict: "                                                                               \
	"conflict with \\\"costs.example.com\\\" using kueue.x-k8s.io/v1beta2: "                   \
	".status.preemptionCost\"}"

static const char world[] = "queue q\nqueue r\n"
			    "quota q f cpu nominal=9\nquota r f cpu nominal=9\n"
			    "workload a queue=q cpu=1 holds=f reserved=-60s\n"
			    "workload b queue=q cpu=1\n"
			    "workload c queue=r cpu=1\n";

struct fixture {
	struct quota_world w;
	struct clock_fake clock;
	struct fake_transport *transport;
	struct recorder *recorder;
	struct preemption_cost *costs;
	uint64_t specs;
	int64_t version, due;
	bool refuse;
};

static void post(void *ctx, struct sched_msg *m)
{
	struct fixture *f = ctx;

	assert_int_equal(m->request, SCHED_REQ_PREEMPTION_COST);
	preemption_cost_done(f->costs, m, clock_mono(&f->clock.base));
	message_free(m);
}

static bool may_send(void *ctx)
{
	return !((struct fixture *)ctx)->refuse;
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .backoff_min_ns = CLOCK_NS_PER_MS,
				     .backoff_max_ns = CLOCK_NS_PER_S,
				     .timeout_ns = CLOCK_NS_PER_S,
				     .ctx = f };

	memset(f, 0, sizeof(*f));
	quota_world_init(&f->w, world);
	clock_fake_init(&f->clock, 0);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->recorder = recorder_create(&base, "test", "test");
	base.may_send = may_send;
	f->costs = preemption_cost_create(&base, f->recorder, post);
	f->version = 100;
}

static void end(struct fixture *f)
{
	fake_transport_expect_none(f->transport);
	preemption_cost_destroy(f->costs);
	recorder_destroy(f->recorder);
	fake_transport_destroy(f->transport);
	quota_world_finish(&f->w);
}

/* A second later. */
static void run(struct fixture *f)
{
	f->clock.mono_ns += CLOCK_NS_PER_S;
	f->due = preemption_cost_run(f->costs, f->w.q, f->specs, clock_mono(&f->clock.base));
	while (pool_step(preemption_cost_pool(f->costs)) || pool_step(recorder_pool(f->recorder))) {
	}
}

/* An update of the Workload with this cost; NULL: none. */
static void see(struct fixture *f, const char *name, int preemptions, const char *cost)
{
	struct workload *w = quota_world_workload(&f->w, name);
	struct quantity q = { 0 };

	if (cost != NULL) {
		assert_int_equal(quantity_parse(str_of(cost), &q, NULL), 0);
	}
	w->object.preemptions = preemptions;
	w->object.has_cost = cost != NULL;
	w->object.cost = q.nano;
	preemption_cost_seen(f->costs, w, ++f->version);
}

static void see_queue(struct fixture *f, const char *name, const char *base, const char *weight)
{
	struct field_pair pairs[2];
	struct api_cluster_queue cq = { .meta = { .name = name, .uid = "u" } };
	size_t n = 0;

	if (base != NULL) {
		pairs[n++] = (struct field_pair){ KUEUE_COST_BASE, base };
	}
	if (weight != NULL) {
		pairs[n++] = (struct field_pair){ KUEUE_COST_WEIGHT, weight };
	}
	cq.meta.annotations = (struct field_map){ pairs, n };
	preemption_cost_queue(f->costs, str_of(name), &cq);
}

static uint64_t expect(struct fixture *f, const char *line, const char *body)
{
	uint64_t id = fake_transport_expect(f->transport, line);

	assert_string_equal(fake_transport_request(f->transport, id)->content_type,
			    "application/apply-patch+yaml");
	assert_string_equal(fake_transport_body(f->transport, id).p, body);
	return id;
}

static void costs_are_counted_preemptions(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "a", 2, NULL);
	see(&f, "b", 0, NULL);
	see(&f, "c", 1, "1");
	run(&f); /* b: absent is 0, c: correct already */
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "2")), 200,
			      DONE("110"));
	assert_int_equal(f.due, CLOCK_NEVER);
	/* Older updates do not end the write; the update with its result does. */
	f.version = 105;
	see(&f, "a", 2, NULL);
	run(&f);
	fake_transport_expect_none(f.transport);
	f.version = 109;
	see(&f, "a", 2, "2000m");
	run(&f);
	fake_transport_expect_none(f.transport);
	see(&f, "a", 3, "2");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "3")), 200,
			      DONE("120"));
	end(&f);
}

static void annotations_of_the_cluster_queue(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "a", 3, NULL);
	see(&f, "b", 0, NULL);
	see(&f, "c", 0, NULL);
	see_queue(&f, "q", "10", "2500m");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "17500m")), 200,
			      DONE("110"));
	fake_transport_answer(f.transport, expect(&f, PATCH("b"), BODY("b", "10")), 200,
			      DONE("111"));
	f.version = 120;
	see(&f, "a", 3, "17500m");
	see(&f, "b", 0, "10");
	/* The same again changes nothing; others do. */
	see_queue(&f, "q", "10", "2500m");
	run(&f);
	fake_transport_expect_none(f.transport);
	see_queue(&f, "q", NULL, "0");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "0")), 200,
			      DONE("130"));
	fake_transport_answer(f.transport, expect(&f, PATCH("b"), BODY("b", "0")), 200,
			      DONE("131"));
	f.version = 140;
	see(&f, "a", 3, "0");
	see(&f, "b", 0, "0");
	run(&f);
	preemption_cost_queue(f.costs, STR_LIT("q"), NULL);
	run(&f);
	(void)expect(&f, PATCH("a"), BODY("a", "3"));
	end(&f);
}

/* A Workload that moves to another queue gets the cost of that queue. */
static void changed_queues_are_looked_at(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see_queue(&f, "r", "7", NULL);
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("c"), BODY("c", "7")), 200,
			      DONE("110"));
	f.version = 110;
	see(&f, "c", 0, "7");
	run(&f);
	quota_local_find(f.w.q, STR_LIT("ns/queue-q"))->queue = "r";
	f.specs++;
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("b"), BODY("b", "7")), 200,
			      DONE("120"));
	f.version = 120;
	see(&f, "b", 0, "7");
	run(&f);
	/* Nothing is left to do, at no time. */
	assert_int_equal(preemption_cost_run(f.costs, f.w.q, f.specs, clock_mono(&f.clock.base)),
			 CLOCK_NEVER);
	end(&f);
}

static void bad_annotations_are_reported_and_count_as_absent(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	see(&f, "a", 3, NULL);
	see_queue(&f, "q", "much", "2");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "6")), 200,
			      DONE("110"));
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/default/events");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p,
			       "\"message\":\"metadata.annotations[headgate.io/"
			       "preemption-cost-base]: invalid quantity \\\"much\\\"\""));
	assert_non_null(strstr(fake_transport_body(f.transport, id).p,
			       "\"reason\":\"InvalidPreemptionCost\""));
	fake_transport_answer(f.transport, id, 201, "{}");
	f.version = 110;
	see(&f, "a", 3, "6");
	run(&f);
	end(&f);
}

/* A cost of another manager stays, and not every change of it causes a write. */
static void others_are_not_fought(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "a", 2, "250");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "2")), 409, CONFLICT);
	run(&f);
	see(&f, "a", 3, "300");
	run(&f);
	f.specs++;
	run(&f);
	fake_transport_expect_none(f.transport);
	/* The other manager has removed it. */
	see(&f, "a", 3, NULL);
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "3")), 200,
			      DONE("110"));
	/* Overwritten: the next conflict ends our writes. */
	f.version = 110;
	see(&f, "a", 3, "3");
	run(&f);
	see(&f, "a", 3, "9");
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "3")), 409, CONFLICT);
	see(&f, "a", 3, "10");
	run(&f);
	end(&f);
}

static void failed_writes_are_tried_again_later(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	see(&f, "a", 1, NULL);
	run(&f);
	id = expect(&f, PATCH("a"), BODY("a", "1"));
	/* While it is under way nothing else is sent about it. */
	see(&f, "a", 2, NULL);
	run(&f);
	fake_transport_expect_none(f.transport);
	fake_transport_answer(f.transport, id, 403, "{\"message\":\"no\"}");
	run(&f);
	fake_transport_expect_none(f.transport);
	assert_true(f.due > clock_mono(&f.clock.base) && f.due < CLOCK_NEVER);
	f.clock.mono_ns = f.due;
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "2")), 503, "{}");
	f.clock.mono_ns += 10 * CLOCK_NS_PER_S;
	run(&f);
	fake_transport_answer(f.transport, expect(&f, PATCH("a"), BODY("a", "2")), 200,
			      DONE("110"));
	end(&f);
}

static void another_leader_writes(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	see(&f, "a", 1, NULL);
	f.refuse = true;
	run(&f);
	fake_transport_expect_none(f.transport);
	/* It leads again; the other one has written. */
	f.refuse = false;
	see(&f, "a", 1, "1");
	run(&f);
	see(&f, "a", 2, "1");
	run(&f);
	(void)expect(&f, PATCH("a"), BODY("a", "2"));
	end(&f);
}

static void deleted_and_finished_workloads_are_left_alone(void **state)
{
	struct fixture f;
	uint64_t id;

	(void)state;
	begin(&f);
	quota_world_workload(&f.w, "b")->flags.finished = true;
	see(&f, "b", 4, NULL);
	see(&f, "a", 1, NULL);
	run(&f);
	id = expect(&f, PATCH("a"), BODY("a", "1"));
	preemption_cost_gone(f.costs, STR_LIT("ns/a"));
	fake_transport_answer(f.transport, id, 404, "{}");
	/* Another object with its name. */
	quota_world_workload(&f.w, "a")->object.uid = "u-2";
	see(&f, "a", 0, NULL);
	run(&f);
	end(&f);
}

/* More than are remembered one by one. */
static void many_at_once(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	run(&f);
	for (int i = 0; i < 5000; i++) {
		see(&f, "b", 0, NULL);
	}
	see(&f, "a", 1, NULL);
	run(&f);
	(void)expect(&f, PATCH("a"), BODY("a", "1"));
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_counted_preemptions),
		cmocka_unit_test(annotations_of_the_cluster_queue),
		cmocka_unit_test(changed_queues_are_looked_at),
		cmocka_unit_test(bad_annotations_are_reported_and_count_as_absent),
		cmocka_unit_test(others_are_not_fought),
		cmocka_unit_test(failed_writes_are_tried_again_later),
		cmocka_unit_test(another_leader_writes),
		cmocka_unit_test(deleted_and_finished_workloads_are_left_alone),
		cmocka_unit_test(many_at_once),
	};

	return cmocka_run_group_tests_name("workloads/writes/preemption_cost", tests, NULL, NULL);
}
