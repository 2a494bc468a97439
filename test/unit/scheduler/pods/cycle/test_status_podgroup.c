#include "scheduler/pods/cycle/status_podgroup.h"

#include <stdio.h>
#include <string.h>

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"

/* Tasks of one PodGroup in statuses given as letters: pending, bound, running, succeeded, failed,
 * terminating on a node, terminating without one (x). */
static struct podgroup *podgroup_of(struct core_fixture *sf, const char *statuses, int32_t min)
{
	static const struct {
		char letter;
		enum task_status status;
	} rows[] = { { 'p', TASK_PENDING },   { 'b', TASK_BOUND },  { 'r', TASK_RUNNING },
		     { 's', TASK_SUCCEEDED }, { 'f', TASK_FAILED }, { 't', TASK_RELEASING },
		     { 'x', TASK_RELEASING } };
	struct podgroup *g = cluster_fixture_podgroup(sf->f.cluster, "j", "q", min);

	for (size_t i = 0; statuses[i] != '\0'; i++) {
		char name[32];
		struct task *t;

		snprintf(name, sizeof(name), "p%zu", i);
		t = cluster_fixture_task(sf->f.cluster, name, g, 100);
		for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
			if (rows[k].letter == statuses[i]) {
				cluster_task_set_status(
					sf->f.cluster, t, rows[k].status,
					statuses[i] == 'x' ? NULL : sf->f.cluster->nodes.v[0]);
			}
		}
	}
	return g;
}

static void start(struct core_fixture *sf)
{
	core_fixture_init(sf, NULL);
	cluster_fixture_queue(sf->f.cluster, "q", NULL, -1);
	cluster_fixture_node(sf->f.cluster, "n", 9000);
}

/* Volcano's table of phases. */
static void phases(void **state)
{
	static const struct {
		const char *tasks;
		int32_t min;
		enum podgroup_phase old;
		enum podgroup_phase expected;
	} rows[] = {
		{ "ppp", 2, PODGROUP_PENDING, PODGROUP_PENDING },
		{ "ppp", 2, PODGROUP_INQUEUE, PODGROUP_INQUEUE },
		{ "ppp", 2, PODGROUP_RUNNING, PODGROUP_PENDING },
		{ "bpp", 2, PODGROUP_INQUEUE, PODGROUP_INQUEUE },
		{ "brp", 2, PODGROUP_INQUEUE, PODGROUP_RUNNING },
		{ "rsp", 2, PODGROUP_RUNNING, PODGROUP_RUNNING },
		{ "ssf", 3, PODGROUP_RUNNING, PODGROUP_COMPLETED },
		{ "ssp", 2, PODGROUP_RUNNING, PODGROUP_COMPLETED },
		{ "bpp", 2, PODGROUP_INQUEUE, PODGROUP_INQUEUE },
		{ "", 0, PODGROUP_PENDING, PODGROUP_COMPLETED },
		{ "p", 0, PODGROUP_INQUEUE, PODGROUP_COMPLETED },
		{ "r", 0, PODGROUP_INQUEUE, PODGROUP_RUNNING },
		/* Some run, and members are missing, for whatever reason. */
		{ "rpp", 2, PODGROUP_RUNNING, PODGROUP_UNKNOWN },
		{ "rpp", 2, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
		{ "rr", 3, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
		{ "rsf", 3, PODGROUP_RUNNING, PODGROUP_UNKNOWN },
		{ "rxp", 2, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
		{ "rx", 2, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
		/* Those that terminate on a node make up for them while none waits. */
		{ "rtp", 2, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
		{ "rt", 2, PODGROUP_INQUEUE, PODGROUP_RUNNING },
		{ "rtf", 3, PODGROUP_INQUEUE, PODGROUP_RUNNING },
		{ "rt", 3, PODGROUP_INQUEUE, PODGROUP_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct verdict v = { .condition = "NotEnoughResources", .valid = true };
		struct core_fixture sf;
		enum podgroup_phase got;
		struct podgroup *g;

		print_message("%s of %d\n", rows[i].tasks, rows[i].min);
		start(&sf);
		g = podgroup_of(&sf, rows[i].tasks, rows[i].min);
		g->phase = (uint8_t)rows[i].old;
		core_fixture_open(&sf);
		status_podgroup_report(sf.s, g, &v);
		got = rows[i].old;
		if (sf.s->decisions.n > 0 && sf.s->decisions.v[0].kind == DECISION_PODGROUP_PHASE) {
			got = (enum podgroup_phase)sf.s->decisions.v[0].phase;
		}
		assert_int_equal(got, rows[i].expected);
		core_fixture_finish(&sf);
	}
}

static const struct decision *only_condition(struct session *s)
{
	const struct decision *found = NULL;

	for (size_t i = 0; i < s->decisions.n; i++) {
		if (s->decisions.v[i].kind == DECISION_PODGROUP_CONDITION) {
			assert_null(found);
			found = &s->decisions.v[i];
		}
	}
	return found;
}

static void a_condition_is_written_once(void **state)
{
	struct verdict v = { .condition = "NotEnoughResources",
			     .valid = true,
			     .code = "no node",
			     .message = "0/5 nodes are available." };
	const struct decision *d;
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	start(&sf);
	g = podgroup_of(&sf, "ppp", 3);
	core_fixture_open(&sf);
	status_podgroup_report(sf.s, g, &v);
	d = only_condition(sf.s);
	assert_string_equal(d->condition_type, "Unschedulable");
	assert_string_equal(d->reason, "NotEnoughResources");
	assert_string_equal(d->message,
			    "3/3 tasks in gang unschedulable: 0/5 nodes are available.");
	g->status_hash = d->hash;
	sf.s->decisions.n = 0;
	/* Other counts of nodes cause no write, another reason does. */
	v.message = "0/6 nodes are available.";
	status_podgroup_report(sf.s, g, &v);
	assert_null(only_condition(sf.s));
	v.code = "quota";
	status_podgroup_report(sf.s, g, &v);
	assert_non_null(only_condition(sf.s));
	core_fixture_finish(&sf);
}

/* A gang is created pod by pod: the condition shows it, without a warning each time. */
static void only_failures_are_warnings(void **state)
{
	static const struct {
		bool ready, valid, unsupported, warning;
	} rows[] = { { true, true, false, false },
		     { false, true, false, true },
		     { false, false, false, false },
		     { false, false, true, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct verdict v = { .condition = "NotEnoughResources",
				     .valid = rows[i].valid,
				     .unsupported = rows[i].unsupported,
				     .ready = rows[i].ready,
				     .code = rows[i].ready ? NULL : "no node",
				     .message = "m" };
		const struct decision *event = NULL;
		struct core_fixture sf;
		struct podgroup *g;

		unit_row_number(i);
		start(&sf);
		g = podgroup_of(&sf, rows[i].ready ? "rrr" : "ppp", 3);
		core_fixture_open(&sf);
		status_podgroup_report(sf.s, g, &v);
		for (size_t k = 0; k < sf.s->decisions.n; k++) {
			if (sf.s->decisions.v[k].kind == DECISION_EVENT) {
				event = &sf.s->decisions.v[k];
			}
		}
		assert_non_null(event);
		assert_int_equal(event->warning, rows[i].warning);
		assert_int_equal(event->hint, !rows[i].warning);
		core_fixture_finish(&sf);
	}
}

static void a_gang_that_waits_for_its_own_pods_lacks_nothing(void **state)
{
	struct verdict v = { .condition = "NotEnoughTasks", .code = "x", .message = "x" };
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	start(&sf);
	g = podgroup_of(&sf, "rt", 2);
	core_fixture_open(&sf);
	status_podgroup_report(sf.s, g, &v);
	assert_null(only_condition(sf.s));
	core_fixture_finish(&sf);
}

/* An unsupported field concerns pods that are not started yet; those that run stay as they are. */
static void only_waiting_pods_are_unsupported(void **state)
{
	static const struct {
		const char *tasks;
		bool expected;
	} rows[] = {
		{ "", true }, { "p", true }, { "rp", true }, { "rr", false }, { "rt", false }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct podgroup *g;
		struct verdict v;

		unit_row(rows[i].tasks);
		start(&sf);
		g = podgroup_of(&sf, rows[i].tasks, 1);
		g->unsupported = PODGROUP_HARD_TOPOLOGY;
		core_fixture_open(&sf);
		status_podgroup_assess(sf.s, sf.f.cluster->queues.v[g->queue], g, &v);
		assert_true(v.unsupported);
		assert_false(v.valid);
		assert_non_null(strstr(v.message, "spec.networkTopology"));
		assert_string_equal(v.condition, "UnsupportedNetworkTopology");
		status_podgroup_report(sf.s, g, &v);
		assert_int_equal(only_condition(sf.s) != NULL, rows[i].expected);
		core_fixture_finish(&sf);
	}
}

static void verdicts(void **state)
{
	struct core_fixture sf;
	struct verdict v;
	struct queue *q;
	struct podgroup *g;

	(void)state;
	start(&sf);
	q = queue_find(sf.f.cluster, STR_LIT("q"));
	g = podgroup_of(&sf, "pp", 3);
	core_fixture_open(&sf);
	status_podgroup_assess(sf.s, q, g, &v);
	assert_false(v.valid);
	assert_string_equal(v.condition, "NotEnoughTasks");
	g->min_member = 2;
	status_podgroup_assess(sf.s, q, g, &v);
	assert_true(v.valid);
	assert_false(v.ready);
	assert_null(v.code);
	session_note_refusal(sf.s, g, "quota", "no quota");
	session_note_tried(sf.s, g);
	session_note_attempt(sf.s, sf.f.cluster->tasks.v[1], ATTEMPT_NO_NODE, NULL, "no node fits");
	status_podgroup_assess(sf.s, q, g, &v);
	assert_string_equal(v.message, "no node fits");
	q->state = QUEUE_CLOSED;
	status_podgroup_assess(sf.s, q, g, &v);
	assert_true(v.queue_refuses);
	assert_string_equal(v.message, "queue q is not open");
	q->exists = false;
	(void)queue_topology_changed(sf.f.cluster);
	status_podgroup_assess(sf.s, q, g, &v);
	assert_string_equal(v.message, "queue q does not exist");
	core_fixture_finish(&sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases),
		cmocka_unit_test(a_condition_is_written_once),
		cmocka_unit_test(only_failures_are_warnings),
		cmocka_unit_test(a_gang_that_waits_for_its_own_pods_lacks_nothing),
		cmocka_unit_test(only_waiting_pods_are_unsupported),
		cmocka_unit_test(verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
