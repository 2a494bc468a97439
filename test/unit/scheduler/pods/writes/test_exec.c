#include "scheduler/pods/writes/exec.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "enc/json/jdoc.h"
#include "kube/pool.h"
#include "kube/recorder.h"
#include "lib/net/fake_transport.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/message.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/decision.h"

#define MAX_POOLS 16

struct fixture {
	struct clock_fake clock;
	struct fake_transport *transport;
	struct exec *exec;
	struct cluster *cluster;
	struct queue *queue;
	struct podgroup *podgroup;
	struct task *task;
	struct node *node;
	size_t done;
};

static void count(void *ctx, struct sched_msg *m)
{
	struct fixture *f = ctx;

	f->done++;
	message_free(m);
}

static void begin(struct fixture *f)
{
	struct pool_options base = { .timeout_ns = CLOCK_NS_PER_S,
				     .backoff_min_ns = POOL_BACKOFF_MIN_NS,
				     .backoff_max_ns = POOL_BACKOFF_MAX_NS,
				     .ctx = f };

	*f = (struct fixture){ 0 };
	clock_fake_init(&f->clock, 1700000000 * CLOCK_NS_PER_S);
	f->transport = fake_transport_create(&f->clock);
	base.transport = fake_transport_base(f->transport);
	base.clock = &f->clock.base;
	f->exec = exec_create(&base, 5, "volcano", count);
	f->cluster = cluster_create();
	f->queue = cluster_fixture_queue(f->cluster, "team", NULL, 8000);
	f->podgroup = cluster_fixture_podgroup(f->cluster, "j", "team", 1);
	f->task = cluster_fixture_task(f->cluster, "p", f->podgroup, 1000);
	f->node = cluster_fixture_node(f->cluster, "n", 4000);
}

static void end(struct fixture *f)
{
	exec_destroy(f->exec);
	fake_transport_destroy(f->transport);
	cluster_destroy(f->cluster);
}

static void step(struct fixture *f)
{
	struct pool *pools[MAX_POOLS];
	size_t n = exec_pools(f->exec, pools, MAX_POOLS);

	for (size_t i = 0; i < n; i++) {
		while (pool_step(pools[i])) {
		}
	}
}

static void decide(struct fixture *f, struct decision d)
{
	struct decisions list = { &d, 1, 1 };

	exec_decisions(f->exec, f->cluster, &list, f->clock.wall_ns);
	step(f);
}

static struct decision of_task(const struct fixture *f, enum decision_kind kind)
{
	return (struct decision){ .kind = kind,
				  .task = f->task->id,
				  .podgroup = MODEL_NONE,
				  .queue = MODEL_NONE,
				  .node = MODEL_NONE,
				  .by = MODEL_NONE,
				  .reason = "R",
				  .message = "m" };
}

/* Each decision becomes one request of its kind, and each request one outcome. */
static void test_decisions_become_requests(void **state)
{
	static const struct {
		enum decision_kind kind;
		bool node;
		const char *line;
	} rows[] = {
		{ DECISION_UNGATE, false, "PATCH /api/v1/namespaces/ns/pods/p" },
		{ DECISION_BIND, true, "POST /api/v1/namespaces/ns/pods/p/binding" },
		{ DECISION_EVICT, false, "DELETE /api/v1/namespaces/ns/pods/p" },
		{ DECISION_PUBLISH, false, "PATCH /api/v1/namespaces/ns/pods/p/status" },
		{ DECISION_WITHDRAW, false, "PATCH /api/v1/namespaces/ns/pods/p/status" },
		{ DECISION_CONDITION, true, "PATCH /api/v1/namespaces/ns/pods/p/status" },
	};
	struct fixture f;

	(void)state;
	begin(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct decision d = of_task(&f, rows[i].kind);

		unit_row_number(i);
		d.node = rows[i].node ? f.node->id : MODEL_NONE;
		decide(&f, d);
		fake_transport_answer(f.transport, fake_transport_expect(f.transport, rows[i].line),
				      200, "{}");
		assert_int_equal(f.done, i + 1);
	}
	fake_transport_expect_none(f.transport);
	end(&f);
}

/* Where budgets are read, they have their say. A pod without a node is late, and no victim. */
static void test_how_pods_are_evicted(void **state)
{
	static const struct {
		bool budgets, node;
		const char *lines[2];
	} rows[] = {
		{ false,
		  true,
		  { "PATCH /api/v1/namespaces/ns/pods/p/status",
		    "DELETE /api/v1/namespaces/ns/pods/p" } },
		{ true, true, { "POST /api/v1/namespaces/ns/pods/p/eviction" } },
		{ true, false, { "DELETE /api/v1/namespaces/ns/pods/p" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct decision d;

		unit_row_number(i);
		begin(&f);
		if (rows[i].budgets) {
			f.cluster->budget_index = (struct budget_index *)&f;
		}
		d = of_task(&f, DECISION_EVICT);
		if (rows[i].node) {
			cluster_task_set_status(f.cluster, f.task, TASK_RUNNING, f.node);
			d.by = f.task->id;
		}
		decide(&f, d);
		for (size_t k = 0; k < 2 && rows[i].lines[k] != NULL; k++) {
			fake_transport_answer(f.transport,
					      fake_transport_expect(f.transport, rows[i].lines[k]),
					      200, "{}");
			step(&f);
		}
		assert_int_equal(f.done, 1);
		f.cluster->budget_index = NULL;
		end(&f);
	}
}

static void test_ungating_notes_the_queue_it_is_charged_to(void **state)
{
	struct fixture f;
	struct decision d;
	uint64_t id;

	(void)state;
	begin(&f);
	ledger_charge(f.cluster, f.task, f.queue, CHARGE_PATCHING);
	decide(&f, of_task(&f, DECISION_UNGATE));
	id = fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p,
			       "\"headgate.io/reserved\":\"team\""));
	fake_transport_answer(f.transport, id, 200, "{}");
	d = of_task(&f, DECISION_UNGATE);
	d.uncharged = true;
	decide(&f, d);
	id = fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	assert_non_null(
		strstr(fake_transport_body(f.transport, id).p, "\"headgate.io/reserved\":null"));
	fake_transport_answer(f.transport, id, 200, "{}");
	end(&f);
}

static void test_events_name_their_object(void **state)
{
	struct fixture f;
	struct decision d;
	struct jdoc *body = NULL;
	uint64_t id;

	(void)state;
	begin(&f);
	decide(&f, of_task(&f, DECISION_EVENT));
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/events");
	assert_int_equal(jdoc_parse(fake_transport_body(f.transport, id), &body, NULL), 0);
	assert_string_equal(jdoc_path_str(body, "involvedObject.kind"), "Pod");
	assert_string_equal(jdoc_path_str(body, "involvedObject.name"), "p");
	assert_string_equal(jdoc_path_str(body, "involvedObject.uid"), "uid-p");
	assert_string_equal(jdoc_path_str(body, "reason"), "R");
	jdoc_destroy(body);
	fake_transport_answer(f.transport, id, 201, "{}");
	d = of_task(&f, DECISION_EVENT);
	d.task = MODEL_NONE;
	d.podgroup = f.podgroup->id;
	decide(&f, d);
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/events");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"PodGroup\""));
	fake_transport_answer(f.transport, id, 201, "{}");
	d.podgroup = MODEL_NONE;
	d.queue = f.queue->id;
	decide(&f, d);
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/default/events");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"Queue\""));
	fake_transport_answer(f.transport, id, 201, "{}");
	end(&f);
}

/* When many events wait, hints are dropped; events are not. */
static void test_hints_give_way_to_events(void **state)
{
	static const struct {
		bool hint, warning;
		const char *type;
		bool sent;
	} rows[] = {
		{ false, false, "\"type\":\"Normal\"", true },
		{ false, true, "\"type\":\"Warning\"", true },
		{ true, false, "\"type\":\"Normal\"", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct decision d;
		uint64_t id;

		unit_row_number(i);
		begin(&f);
		d = of_task(&f, DECISION_EVENT);
		d.hint = rows[i].hint;
		d.warning = rows[i].warning;
		decide(&f, d);
		id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/events");
		assert_non_null(strstr(fake_transport_body(f.transport, id).p, rows[i].type));
		fake_transport_answer(f.transport, id, 201, "{}");
		for (unsigned k = 1; k <= RECORDER_MAX_HINTS; k++) {
			char name[16];

			snprintf(name, sizeof(name), "p-%u", k);
			d.task = cluster_fixture_task(f.cluster, name, f.podgroup, 1)->id;
			exec_decisions(f.exec, f.cluster, &(struct decisions){ &d, 1, 1 },
				       f.clock.wall_ns);
		}
		assert_int_equal(pool_waiting(recorder_pool(exec_recorder(f.exec))),
				 RECORDER_MAX_HINTS - !rows[i].sent);
		end(&f);
	}
}

#define GROUP "GET /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups"

static void test_phases_go_to_podgroups_that_exist(void **state)
{
	struct fixture f;
	struct decision d = { .kind = DECISION_PODGROUP_PHASE,
			      .task = MODEL_NONE,
			      .queue = MODEL_NONE,
			      .node = MODEL_NONE,
			      .phase = PODGROUP_INQUEUE };
	uint64_t id;

	(void)state;
	begin(&f);
	d.podgroup = f.podgroup->id;
	/* One with pods is written when more was gathered. */
	decide(&f, d);
	fake_transport_expect_none(f.transport);
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	step(&f);
	fake_transport_answer(f.transport,
			      fake_transport_expect(f.transport, GROUP "/j?resourceVersion=0"), 404,
			      "{}");
	step(&f);
	fake_transport_answer(f.transport, fake_transport_expect(f.transport, GROUP "/j"), 404,
			      "{}");
	assert_int_equal(f.done, 1);
	f.podgroup->exists = false;
	decide(&f, d);
	fake_transport_expect_none(f.transport);
	f.podgroup->exists = true;
	/* One that is alone has no object for a phase, nor for an event. */
	f.podgroup->kind = PODGROUP_ALONE;
	decide(&f, d);
	d.kind = DECISION_EVENT;
	decide(&f, d);
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	step(&f);
	fake_transport_expect_none(f.transport);
	/* One of Kubernetes has events, and its conditions are those of its own scheduler. */
	f.podgroup->kind = PODGROUP_PART;
	d.kind = DECISION_PODGROUP_PHASE;
	decide(&f, d);
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	step(&f);
	fake_transport_expect_none(f.transport);
	d.kind = DECISION_EVENT;
	d.reason = "QuotaReserved";
	d.message = "m";
	decide(&f, d);
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/events");
	assert_non_null(
		strstr(fake_transport_body(f.transport, id).p, "\"scheduling.k8s.io/v1beta1\""));
	fake_transport_answer(f.transport, id, 201, "{}");
	f.podgroup->kind = PODGROUP_VOLCANO;
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions_become_requests),
		cmocka_unit_test(test_how_pods_are_evicted),
		cmocka_unit_test(test_ungating_notes_the_queue_it_is_charged_to),
		cmocka_unit_test(test_events_name_their_object),
		cmocka_unit_test(test_hints_give_way_to_events),
		cmocka_unit_test(test_phases_go_to_podgroups_that_exist),
	};

	return cmocka_run_group_tests_name("pods/writes/exec", tests, NULL, NULL);
}
