#include "scheduler/app/engine.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "kube/pool.h"
#include "lib/net/fake_transport.h"
#include "obs/metric.h"
#include "process/log.h"
#include "scheduler/base/message.h"
#include "scheduler/base/message_decode.h"
#include "scheduler/pods/conf/conf.h"
#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/values/resources.h"
#include "unit/scheduler/app/engine_fixture.h"

static void see_world(struct engine_fixture *f)
{
	engine_fixture_see(f, SCHED_QUEUES, "root",
			   "{\"metadata\":{\"name\":\"root\",\"uid\":\"q0\"},\"spec\":{},"
			   "\"status\":{\"state\":"
			   "\"Open\"}}");
	engine_fixture_see(
		f, SCHED_QUEUES, "default",
		"{\"metadata\":{\"name\":\"default\",\"uid\":\"q1\"},\"spec\":{\"parent\":\"root\","
		"\"capability\":{\"cpu\":\"1\"}},"
		"\"status\":{\"state\":\"Open\"}}");
	engine_fixture_see(
		f, SCHED_PODGROUPS, "ns/g",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"g1\"},\"spec\":{"
		"\"minMember\":1,\"queue\":\"default\"}}");
	engine_fixture_see(
		f, SCHED_PODS, "ns/p",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u1\",\"annotations\":"
		"{"
		"\"scheduling.k8s.io/group-name\":"
		"\"g\",\"scheduling.volcano.sh/"
		"queue-allocation-gate\":\"true\"}},\"spec\":{\"schedulerName\":\"volcano\","
		"\"schedulingGates\":[{\"name\":\"scheduling.volcano.sh/"
		"queue-allocation-gate\"}],\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Pending\"}"
		"}");
}

static void test_nothing_is_written_before_lease_and_lists(void **state)
{
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	engine_fixture_step(&f);
	fake_transport_expect_none(f.transport); /* a standby */
	engine_fixture_lead(&f, clock_mono(&f.clock.base) + CLOCK_NS_PER_S);
	engine_fixture_step(&f);
	fake_transport_expect_none(f.transport); /* lists not complete */
	engine_fixture_sync_all(&f);
	engine_fixture_step(&f);
	fake_transport_expect_none(f.transport); /* the old leader's writes may still arrive */
	assert_true(atomic_load(&engine_state(f.engine)->leading));
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	engine_fixture_step(&f);
	(void)fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	assert_true(atomic_load(&engine_state(f.engine)->has_quota_plugin));
	engine_fixture_end(&f);
}

static void answer(struct engine_fixture *f, const char *line, int status)
{
	fake_transport_answer(f->transport, fake_transport_expect_prefix(f->transport, line),
			      status, "{}");
}

/* gate off -> acknowledged -> no node: published, and never before. */
static void test_hole_24_one_patch_then_at_once_the_next_step(void **state)
{
	struct engine_fixture f;
	uint64_t gate;

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_step(&f);
	gate = fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	while (fake_transport_pending(f.transport) > 0) {
		answer(&f, "", 200); /* events, PodGroup and Queue status */
		engine_fixture_step(&f);
	}
	fake_transport_answer(f.transport, gate, 200, "{}");
	engine_fixture_take_outcomes(&f);
	engine_fixture_step(&f);
	gate = fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p/status");
	assert_non_null(strstr(fake_transport_body(f.transport, gate).p, "\"Unschedulable\""));
	engine_fixture_end(&f);
}

static void go_on(struct engine_fixture *f, unsigned steps)
{
	while (steps-- > 0) {
		engine_fixture_step(f);
		while (fake_transport_pending(f->transport) > 0) {
			answer(f, "", 200);
		}
		engine_fixture_take_outcomes(f);
	}
}

static const struct task *pod_of(struct engine_fixture *f)
{
	return cluster_task_find(engine_cluster(f->engine), STR_LIT("ns/p"));
}

/* Neither reservations nor backoff depend on the wall clock. */
static void test_steps_of_the_wall_clock_change_nothing(void **state)
{
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	go_on(&f, 4);
	assert_int_equal(pod_of(&f)->charge, CHARGE_PUBLISHED);
	f.clock.wall_ns += 3600 * CLOCK_NS_PER_S;
	clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
	go_on(&f, 4);
	assert_int_equal(pod_of(&f)->charge, CHARGE_PUBLISHED);
	f.clock.wall_ns -= 36000 * CLOCK_NS_PER_S;
	clock_fake_advance(&f.clock, 1790 * CLOCK_NS_PER_S);
	go_on(&f, 4);
	assert_int_equal(pod_of(&f)->charge, CHARGE_PUBLISHED);
	clock_fake_advance(&f.clock, 10 * CLOCK_NS_PER_S);
	go_on(&f, 4);
	assert_int_equal(pod_of(&f)->charge, CHARGE_NONE);
	f.clock.wall_ns -= 36000 * CLOCK_NS_PER_S;
	clock_fake_advance(&f.clock, 3600 * CLOCK_NS_PER_S);
	go_on(&f, 6);
	assert_int_equal(pod_of(&f)->charge, CHARGE_PUBLISHED);
	engine_fixture_end(&f);
}

/* The outcome of a write counts once. */
static void test_backoff_of_a_refused_write(void **state)
{
	struct engine_fixture f;
	int64_t now;

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_step(&f);
	answer(&f, "PATCH /api/v1/namespaces/ns/pods/p", 403);
	now = clock_mono(&f.clock.base);
	engine_fixture_take_outcomes(&f);
	assert_int_equal(pod_of(&f)->write_failures, 1);
	assert_true(pod_of(&f)->retry_at <= now + CLOCK_NS_PER_S + ENGINE_FIXTURE_WALL);
	engine_fixture_end(&f);
}

/* Also a write of an earlier term that is to be tried again. */
static void test_a_retry_waits_for_the_new_term(void **state)
{
	struct engine_fixture f;
	uint64_t gate;
	int64_t from;

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_step(&f);
	gate = fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	while (fake_transport_pending(f.transport) > 0) {
		answer(&f, "", 200);
		engine_fixture_step(&f);
	}
	fake_transport_answer(f.transport, gate, 503, "{}");
	engine_handle(f.engine, message_new(SCHED_MSG_LEASE));
	from = clock_mono(&f.clock.base) + 10 * CLOCK_NS_PER_S;
	engine_fixture_lead(&f, from);
	while (clock_mono(&f.clock.base) < from - CLOCK_NS_PER_S) {
		engine_fixture_step(&f);
		fake_transport_expect_none(f.transport);
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S / 2);
	}
	clock_fake_advance(&f.clock, 2 * CLOCK_NS_PER_S);
	engine_fixture_step(&f);
	(void)fake_transport_expect(f.transport, "PATCH /api/v1/namespaces/ns/pods/p");
	engine_fixture_end(&f);
}

static bool metric(struct engine_fixture *f, const char *name, const char *label, double value)
{
	static const char *const names[] = { "result", NULL };
	const char *values[] = { label };

	return metric_cell_get(metric_cell(
		       metric_register(f->counters, name, "", METRIC_COUNTER, names), values)) ==
	       value;
}

static void test_a_configuration_that_did_not_load_changes_nothing(void **state)
{
	struct engine_fixture f;
	struct sched_msg *m = message_new(SCHED_MSG_CONF);

	(void)state;
	engine_fixture_begin(&f);
	m->text = "file:3: bad";
	engine_handle(f.engine, m);
	assert_true(metric(&f, "headgate_configuration_reloads_total", "failed", 1));
	assert_true(metric(&f, "headgate_configuration_reloads_total", "ok", 0));
	engine_fixture_end(&f);
}

static void reconfigure(struct engine_fixture *f, const char *text)
{
	struct sched_msg *m = message_new(SCHED_MSG_CONF);

	m->conf = engine_fixture_parse(text);
	engine_handle(f->engine, m);
	clock_fake_advance(&f->clock, CLOCK_NS_PER_S);
	engine_fixture_step(f);
}

/* PodDisruptionBudgets are not watched: every pod would seem to have none. */
static void test_pdb_needs_a_restart(void **state)
{
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin(&f);
	assert_false(engine_reads_budgets(f.engine));
	reconfigure(&f, "actions: allocate\ntiers:\n- plugins:\n  - name: pdb\n");
	assert_true(metric(&f, "headgate_configuration_reloads_total", "failed", 1));
	engine_fixture_end(&f);
}

static void on_dump(void *ctx, const char *part, struct str json)
{
	assert_string_equal(part, "cluster");
	strbuf_add_str(ctx, json);
}

static void test_a_snapshot_is_the_cluster_as_json(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct engine_fixture f;
	struct sched_msg *m = message_new(SCHED_MSG_SNAPSHOT);

	(void)state;
	engine_fixture_begin(&f);
	see_world(&f);
	m->reply = on_dump;
	m->ctx = &text;
	engine_handle(f.engine, m);
	assert_non_null(strstr(text.p, "\"u1\""));
	engine_fixture_end(&f);
}

/* Answers all requests; true when one of them carries this text. */
static bool answer_all(struct engine_fixture *f, const char *text)
{
	bool found = false;

	while (fake_transport_pending(f->transport) > 0) {
		uint64_t id = fake_transport_expect_prefix(f->transport, "");
		struct str body = fake_transport_body(f->transport, id);

		found |= body.p != NULL && strstr(body.p, text) != NULL;
		fake_transport_answer(f->transport, id, 200, "{}");
	}
	return found;
}

/* Nothing else changes, so that no queue would be looked at. */
static void test_a_new_configuration_looks_at_every_queue_again(void **state)
{
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin(&f);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	see_world(&f);
	reconfigure(&f, "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n");
	assert_false(answer_all(&f, "schedulingGates")); /* there is no quota plugin */
	reconfigure(&f, conf_default_text());
	assert_true(answer_all(&f, "schedulingGates"));
	engine_fixture_take_outcomes(&f);
	engine_fixture_end(&f);
}

static void test_a_missing_podgroup_is_reported_once(void **state)
{
	struct engine_fixture f;
	unsigned reported = 0;

	(void)state;
	engine_fixture_begin(&f);
	engine_fixture_see(
		&f, SCHED_PODS, "ns/p",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u1\",\"annotations\":"
		"{"
		"\"scheduling.k8s.io/"
		"group-name\":\"absent\"}},\"spec\":{\"schedulerName\":\"volcano\","
		"\"containers\":[{\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"}}");
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	for (unsigned i = 0; i < 60; i++) {
		clock_fake_advance(&f.clock, CLOCK_NS_PER_S);
		engine_fixture_step(&f);
		reported += answer_all(&f, "PodGroupMissing");
		engine_fixture_take_outcomes(&f);
	}
	assert_int_equal(reported, 1);
	engine_fixture_end(&f);
}

/* One that cannot be decoded, and one of which a part cannot be used. */
static void test_a_bad_object_is_counted_and_reported(void **state)
{
	static const char *const names[] = { "resource", NULL };
	static const char *const rows[] = {
		"{\"metadata\":{\"name\":\"bad\"},\"spec\":{\"capability\":{\"cpu\":\"1x\"}}}",
		"{\"metadata\":{\"name\":\"bad\",\"annotations\":{\"" KEYS_NAMESPACE_SELECTOR
		"\":\"a in (\"}},\"spec\":{}}",
	};
	const char *values[] = { "queues" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct engine_fixture f;

		unit_row(rows[i]);
		engine_fixture_begin(&f);
		engine_fixture_sync_all(&f);
		engine_fixture_lead(&f, 0);
		engine_fixture_see(&f, SCHED_QUEUES, "bad", rows[i]);
		assert_true(metric_cell_get(metric_cell(
				    metric_register(f.counters, "headgate_bad_objects_total", "",
						    METRIC_COUNTER, names),
				    values)) == 1);
		engine_fixture_step(&f);
		assert_true(answer_all(&f, "InvalidObject"));
		engine_fixture_end(&f);
	}
}

/* Takes the lines of the log. */
static void keep_line(struct str line, void *ctx)
{
	strbuf_add_str(ctx, line);
}

/* A node with this many resources of names that no other node has. Returns what was logged. */
static const char *see_resources(struct engine_fixture *f, const char *node, unsigned n,
				 struct strbuf *lines)
{
	CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;

	strbuf_printf(&json, "{\"metadata\":{\"name\":\"%s\"},\"status\":{\"allocatable\":{", node);
	for (unsigned i = 0; i < n; i++) {
		strbuf_printf(&json, "%s\"%s.example.com/r%u\":\"1\"", i == 0 ? "" : ",", node, i);
	}
	strbuf_add_c(&json, "}}}");
	strbuf_reset(lines);
	log_set_sink(keep_line, lines);
	engine_fixture_see(f, SCHED_NODES, node, json.p);
	log_set_sink(NULL, NULL);
	strbuf_add_c(lines, "");
	return lines->p;
}

static unsigned resource_names(struct engine_fixture *f)
{
	return (unsigned)metric_cell_get(metric_cell(
		metric_register(f->counters, "headgate_resource_names", "", METRIC_GAUGE, NULL),
		NULL));
}

/* From three quarters of the limit on it warns; beyond the limit it says how many are left out. */
static void test_many_names_of_resources_are_warned_of(void **state)
{
	const unsigned many = RES_NAMES_MAX / 4 * 3;
	CLEANUP(strbuf_finish) struct strbuf lines = STRBUF_INIT;
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin(&f);
	engine_fixture_sync_all(&f);
	assert_string_equal(see_resources(&f, "few", 1, &lines), "");
	assert_string_equal(see_resources(&f, "more", many - 1 - resource_names(&f), &lines), "");
	assert_int_equal(resource_names(&f), many - 1);
	assert_non_null(strstr(see_resources(&f, "many", 1, &lines), "almost as many resources"));
	assert_non_null(strstr(lines.p, "counted=49149 limit=65535"));
	assert_non_null(strstr(see_resources(&f, "all", RES_NAMES_MAX - many, &lines),
			       "counted=65535 limit=65535"));
	assert_non_null(strstr(see_resources(&f, "beyond", 2, &lines), "are left out"));
	assert_non_null(strstr(lines.p, "counted=65535 leftOut=2"));
	assert_int_equal(resource_names(&f), RES_NAMES_MAX + 2);
	engine_fixture_end(&f);
}

/* The PodGroup that was made for pod "plain" with UID u1. */
#define PODGROUP_OF_PLAIN(queue, phase)                                                            \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"podgroup-u1\",\"uid\":\"g1\","             \
	"\"annotations\":{"                                                                        \
	"\"headgate.io/made-by\":\"headgate-scheduler\"},\"ownerReferences\":[{\"apiVersion\":"    \
	"\"v1\",\"kind\":\"Pod\",\"name\":\"plain\",\"uid\":\"u1\",\"controller\":true}]},"        \
	"\"spec\":{"                                                                               \
	"\"minMember\":1,\"queue\":\"" queue "\"},\"status\":{\"phase\":\"" phase "\"}}"

/* Nothing is written for a plain pod before its Binding: no PodGroup, and no name of one. */
static void test_a_plain_pod_costs_one_binding(void **state)
{
	struct engine_fixture f;
	uint64_t id;

	(void)state;
	engine_fixture_begin(&f);
	engine_fixture_see(&f, SCHED_QUEUES, "team",
			   "{\"metadata\":{\"name\":\"team\",\"uid\":\"q1\"},\"spec\":{},"
			   "\"status\":{\"state\":\"Open\"}}");
	engine_fixture_see(&f, SCHED_NODES, "n",
			   "{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":"
			   "\"1\",\"pods\":"
			   "\"9\"},"
			   "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_step(&f);
	engine_fixture_see(
		&f, SCHED_PODS, "ns/plain",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":\"u1\","
		"\"annotations\":"
		"{"
		"\"scheduling.volcano.sh/queue-name\":\"team\"}},"
		"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\","
		"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
		"\"status\":{\"phase\":\"Pending\"}}");
	engine_fixture_step(&f);
	id = fake_transport_expect(f.transport, "POST /api/v1/namespaces/ns/pods/plain/binding");
	assert_null(strstr(fake_transport_body(f.transport, id).p, "group-name"));
	fake_transport_expect_none(f.transport);
	engine_fixture_take_outcomes(&f);
	engine_fixture_end(&f);
}

/* With --podgroup-per-pod a plain pod gets the name of its PodGroup with its Binding; before that
 * only if it has to wait. */
static void test_one_write_binds_a_plain_pod(void **state)
{
	(void)state;
	for (int nodes = 0; nodes < 2; nodes++) {
		struct engine_fixture f;
		const char *line = nodes == 0 ? "PATCH /api/v1/namespaces/ns/pods/plain"
					      : "POST /api/v1/namespaces/ns/pods/plain/binding";
		uint64_t id;

		engine_fixture_begin_with(&f, false, true);
		engine_fixture_see(
			&f, SCHED_QUEUES, "default",
			"{\"metadata\":{\"name\":\"default\",\"uid\":\"q1\"},\"spec\":{},"
			"\"status\":{\"state\":\"Open\"}}");
		if (nodes > 0) {
			engine_fixture_see(
				&f, SCHED_NODES, "n",
				"{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{"
				"\"cpu\":"
				"\"1\",\"pods\":\"9\"},\"conditions\":[{\"type\":\"Ready\","
				"\"status\":\"True\"}]}}");
		}
		engine_fixture_sync_all(&f);
		engine_fixture_lead(&f, 0);
		engine_fixture_step(&f);
		engine_fixture_see(
			&f, SCHED_PODS, "ns/plain",
			"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":\"u1\"},"
			"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\","
			"\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]},"
			"\"status\":{\"phase\":\"Pending\"}}");
		engine_fixture_step(&f);
		answer(&f, "POST /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups", 201);
		engine_fixture_see(&f, SCHED_PODGROUPS, "ns/podgroup-u1",
				   PODGROUP_OF_PLAIN("default", "Pending"));
		engine_fixture_step(&f);
		engine_fixture_step(&f);
		if (nodes == 0) {
			answer(&f, "PATCH /api/v1/namespaces/ns/pods/plain/status", 200);
			answer(&f, "POST /api/v1/namespaces/ns/events", 201);
			answer(&f, "POST /api/v1/namespaces/ns/events", 201);
		}
		id = fake_transport_expect(f.transport, line);
		assert_non_null(strstr(fake_transport_body(f.transport, id).p,
				       "\"scheduling.k8s.io/group-name\":\"podgroup-u1\""));
		engine_fixture_take_outcomes(&f);
		engine_fixture_end(&f);
	}
}

static void test_a_plain_pod_that_waited_before_a_restart_names_its_podgroup(void **state)
{
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin_with(&f, false, true);
	engine_fixture_see(&f, SCHED_QUEUES, "default",
			   "{\"metadata\":{\"name\":\"default\",\"uid\":\"q1\"},\"spec\":{},"
			   "\"status\":{\"state\":\"Open\"}}");
	engine_fixture_lead(&f, 0);
	engine_fixture_see(
		&f, SCHED_PODS, "ns/plain",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":\"u1\"},"
		"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\"}]},"
		"\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
		"\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/0 nodes\"}]}}");
	engine_fixture_see(&f, SCHED_PODGROUPS, "ns/podgroup-u1",
			   PODGROUP_OF_PLAIN("default", "Inqueue"));
	engine_fixture_sync_all(&f);
	engine_fixture_step(&f);
	assert_true(answer_all(&f, "\"scheduling.k8s.io/group-name\":\"podgroup-u1\""));
	engine_fixture_take_outcomes(&f);
	engine_fixture_end(&f);
}

/* By an update of the PodGroup alone, a pod that has no condition yet is not annotated. */
static void test_a_plain_pod_without_a_condition_is_not_annotated(void **state)
{
	static const struct {
		const char *conditions;
		bool annotated;
	} rows[] = {
		{ "", false },
		{ ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
		  "\"Unschedulable\",\"message\":\"0/0 nodes\"}]",
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf pod = STRBUF_INIT;
		struct engine_fixture f;

		unit_row_number(i);
		engine_fixture_begin_with(&f, false, true);
		engine_fixture_sync_all(&f);
		engine_fixture_lead(&f, 0);
		strbuf_printf(&pod,
			      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":"
			      "\"u1\"},\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{"
			      "\"name\":\"c\"}]},\"status\":{\"phase\":\"Pending\"%s}}",
			      rows[i].conditions);
		engine_fixture_see(&f, SCHED_PODS, "ns/plain", pod.p);
		engine_fixture_see(&f, SCHED_PODGROUPS, "ns/podgroup-u1",
				   PODGROUP_OF_PLAIN("absent", "Pending"));
		engine_fixture_step_pools(&f);
		assert_int_equal(answer_all(&f, "\"scheduling.k8s.io/group-name\":\"podgroup-u1\""),
				 rows[i].annotated);
		engine_fixture_take_outcomes(&f);
		engine_fixture_end(&f);
	}
}

/* A tenant may delete the PodGroup that was made for a pod; nothing in the pod changes then. */
static void test_a_plain_pod_gets_another_podgroup_when_its_own_is_deleted(void **state)
{
	struct engine_fixture f;
	struct sched_msg *gone = message_new(SCHED_MSG_DELETE);
	uint64_t id;

	(void)state;
	engine_fixture_begin_with(&f, false, true);
	engine_fixture_see(&f, SCHED_QUEUES, "team",
			   "{\"metadata\":{\"name\":\"team\",\"uid\":\"q1\"},\"spec\":{},"
			   "\"status\":{\"state\":\"Open\"}}");
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_see(
		&f, SCHED_PODS, "ns/plain",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":\"u1\","
		"\"annotations\":{\"scheduling.volcano.sh/queue-name\":\"team\"}},"
		"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\"}]},"
		"\"status\":{\"phase\":\"Pending\"}}");
	engine_fixture_step(&f);
	answer(&f, "POST /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups", 201);
	engine_fixture_see(&f, SCHED_PODGROUPS, "ns/podgroup-u1",
			   PODGROUP_OF_PLAIN("team", "Pending"));
	gone->resource = SCHED_PODGROUPS;
	gone->key = STR_LIT("ns/podgroup-u1");
	engine_handle(f.engine, gone);
	engine_fixture_step(&f);
	id = fake_transport_expect(
		f.transport, "POST /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups");
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"podgroup-u1\""));
	assert_non_null(strstr(fake_transport_body(f.transport, id).p, "\"queue\":\"team\""));
	engine_fixture_end(&f);
}

static void step_controllers(struct engine_fixture *f)
{
	clock_fake_advance(&f->clock, 2 * CLOCK_NS_PER_S);
	engine_fixture_step(f);
}

static void gone(struct engine_fixture *f, enum sched_resource r, const char *key)
{
	struct sched_msg *m = message_new(SCHED_MSG_DELETE);

	m->resource = r;
	m->key = str_of(key);
	engine_handle(f->engine, m);
}

#define OPEN_BELOW_ROOT "\"spec\":{\"parent\":\"root\"},\"status\":{\"state\":\"Open\"}"

/* The controller of Queues gets all that it decides by, and learns when one is deleted. */
static void test_queues_are_controlled(void **state)
{
	static const struct {
		const char *meta, *rest;
		const char *text; /* of a request */
		bool sent;
	} rows[] = {
		{ "", OPEN_BELOW_ROOT, "\"state\":", false },
		{ "", OPEN_BELOW_ROOT, "\"parent\":", false },
		{ "", "\"spec\":{\"parent\":\"root\"}", "\"state\":\"Open\"", true },
		{ "", "\"spec\":{\"parent\":\"root\"}", "\"resourceVersion\":\"7\"", true },
		{ "", "\"spec\":{},\"status\":{\"state\":\"Open\"}", "\"parent\":\"root\"", true },
		{ "", "\"spec\":{\"parent\":\"root\"},\"status\":{\"state\":\"Closing\"}",
		  "\"state\":\"Closed\"", true },
		{ ",\"annotations\":{\"" KEYS_CLOSED_BY_PARENT "\":\"true\"}",
		  "\"spec\":{\"parent\":\"root\"},\"status\":{\"state\":\"Closed\"}",
		  "\"state\":\"Open\"", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(strbuf_finish) struct strbuf json = STRBUF_INIT;
		struct engine_fixture f;

		unit_row_number(i);
		engine_fixture_begin_with(&f, true, false);
		see_world(&f);
		strbuf_printf(&json,
			      "{\"metadata\":{\"name\":\"team\",\"uid\":\"q2\",\"resourceVersion\":"
			      "\"7\"%s},%s}",
			      rows[i].meta, rows[i].rest);
		engine_fixture_see(&f, SCHED_QUEUES, "team", json.p);
		engine_fixture_sync_all(&f);
		engine_fixture_lead(&f, 0);
		step_controllers(&f);
		assert_int_equal(answer_all(&f, rows[i].text), rows[i].sent);
		engine_fixture_take_outcomes(&f);
		gone(&f, SCHED_QUEUES, "default");
		step_controllers(&f);
		assert_true(
			answer_all(&f, "\"kind\":\"Queue\",\"metadata\":{\"name\":\"default\"}"));
		engine_fixture_take_outcomes(&f);
		engine_fixture_end(&f);
	}
}

/* A tenant may delete it before any watch has shown it. */
static void test_a_podgroup_that_is_never_seen_is_asked_for_again(void **state)
{
	static const char line[] =
		"POST /apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups";
	struct engine_fixture f;

	(void)state;
	engine_fixture_begin_with(&f, false, true);
	engine_fixture_sync_all(&f);
	engine_fixture_lead(&f, 0);
	engine_fixture_see(
		&f, SCHED_PODS, "ns/plain",
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"plain\",\"uid\":\"u1\"},"
		"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\"}]},"
		"\"status\":{\"phase\":\"Pending\"}}");
	engine_fixture_step(&f);
	answer(&f, line, 201);
	engine_fixture_step(&f);
	fake_transport_expect_none(f.transport);
	clock_fake_advance(&f.clock, 60 * CLOCK_NS_PER_S);
	engine_fixture_step(&f);
	answer(&f, line, 201);
	engine_fixture_take_outcomes(&f);
	engine_fixture_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_written_before_lease_and_lists),
		cmocka_unit_test(test_hole_24_one_patch_then_at_once_the_next_step),
		cmocka_unit_test(test_backoff_of_a_refused_write),
		cmocka_unit_test(test_a_retry_waits_for_the_new_term),
		cmocka_unit_test(test_steps_of_the_wall_clock_change_nothing),
		cmocka_unit_test(test_a_configuration_that_did_not_load_changes_nothing),
		cmocka_unit_test(test_pdb_needs_a_restart),
		cmocka_unit_test(test_a_new_configuration_looks_at_every_queue_again),
		cmocka_unit_test(test_a_snapshot_is_the_cluster_as_json),
		cmocka_unit_test(test_a_missing_podgroup_is_reported_once),
		cmocka_unit_test(test_a_bad_object_is_counted_and_reported),
		cmocka_unit_test(test_many_names_of_resources_are_warned_of),
		cmocka_unit_test(test_a_plain_pod_costs_one_binding),
		cmocka_unit_test(test_one_write_binds_a_plain_pod),
		cmocka_unit_test(test_a_plain_pod_without_a_condition_is_not_annotated),
		cmocka_unit_test(test_a_plain_pod_that_waited_before_a_restart_names_its_podgroup),
		cmocka_unit_test(test_a_plain_pod_gets_another_podgroup_when_its_own_is_deleted),
		cmocka_unit_test(test_a_podgroup_that_is_never_seen_is_asked_for_again),
		cmocka_unit_test(test_queues_are_controlled),
	};

	return cmocka_run_group_tests_name("app/engine", tests, NULL, NULL);
}
