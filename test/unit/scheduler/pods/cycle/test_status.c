#include "scheduler/pods/cycle/status.h"

#include <string.h>

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/session/statement.h"

struct fixture {
	struct core_fixture sf;
	struct podgroup *g;
	struct task *t;
};

static void start(struct fixture *f)
{
	core_fixture_init(&f->sf, NULL);
	cluster_fixture_queue(f->sf.f.cluster, "q", NULL, 9000);
	cluster_fixture_node(f->sf.f.cluster, "n", 9000);
	f->g = cluster_fixture_podgroup(f->sf.f.cluster, "j", "q", 1);
	f->g->phase = PODGROUP_INQUEUE;
	f->t = cluster_fixture_task(f->sf.f.cluster, "p", f->g, 100);
}

static const struct decision *find(struct session *s, enum decision_kind kind)
{
	for (size_t i = 0; i < s->decisions.n; i++) {
		if (s->decisions.v[i].kind == kind) {
			return &s->decisions.v[i];
		}
	}
	return NULL;
}

/* Volcano's conditions of pods that did not opt in. */
static void reasons_of_plain_pods(void **state)
{
	static const struct {
		enum attempt attempt;
		const char *reason, *message;
	} rows[] = {
		{ ATTEMPT_NONE, "Unschedulable", "the pod group is waiting for its turn" },
		{ ATTEMPT_QUOTA, "Unschedulable", "given" },
		{ ATTEMPT_NO_NODE, "Unschedulable", "given" },
		{ ATTEMPT_ALLOCATED, "Schedulable",
		  "the pod can be assigned to node n once minMember of its pod group is met" },
		{ ATTEMPT_PIPELINED, "Unschedulable",
		  "the pod can be assigned to node n once resources there are released" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		const struct decision *d;

		unit_row_number(i);
		start(&f);
		core_fixture_open(&f.sf);
		session_note_attempt(f.sf.s, f.t, rows[i].attempt, f.sf.f.cluster->nodes.v[0],
				     "given");
		status_run(f.sf.s);
		d = find(f.sf.s, DECISION_CONDITION);
		assert_non_null(d);
		assert_string_equal(d->reason, rows[i].reason);
		assert_string_equal(d->message, rows[i].message);
		/* Written once. */
		cycle_assume(f.sf.f.cluster, &f.sf.s->decisions, f.sf.f.now);
		session_close(f.sf.s);
		core_fixture_open(&f.sf);
		session_note_attempt(f.sf.s, f.t, rows[i].attempt, f.sf.f.cluster->nodes.v[0],
				     "given");
		status_run(f.sf.s);
		assert_null(find(f.sf.s, DECISION_CONDITION));
		core_fixture_finish(&f.sf);
	}
}

/* The conditions of the pod and of its PodGroup say why. */
static void plain_pods_that_enqueue_refuses(void **state)
{
	struct fixture f;
	const struct decision *d;

	(void)state;
	start(&f);
	f.g->phase = PODGROUP_PENDING;
	core_fixture_open(&f.sf);
	session_note_refusal(f.sf.s, f.g, "no room", "no room: cpu");
	status_run(f.sf.s);
	d = find(f.sf.s, DECISION_CONDITION);
	assert_non_null(d);
	assert_string_equal(d->message, "no room: cpu");
	d = find(f.sf.s, DECISION_PODGROUP_CONDITION);
	assert_non_null(d);
	assert_string_equal(d->message, "1/1 tasks in gang unschedulable: no room: cpu");
	core_fixture_finish(&f.sf);
}

/* Only what waits gets a condition. */
static void no_reason_for_what_does_not_wait(void **state)
{
	static const struct {
		const char *name;
		enum task_status status;
		bool waits;
	} rows[] = {
		{ "Pending", TASK_PENDING, true },  { "Bound", TASK_BOUND, false },
		{ "Running", TASK_RUNNING, false }, { "Releasing", TASK_RELEASING, false },
		{ "Failed", TASK_FAILED, false },   { "Succeeded", TASK_SUCCEEDED, false },
		{ "Unknown", TASK_UNKNOWN, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct cluster *c;

		unit_row(rows[i].name);
		start(&f);
		c = f.sf.f.cluster;
		cluster_task_set_status(c, f.t, rows[i].status,
					rows[i].waits ? NULL : c->nodes.v[0]);
		core_fixture_open(&f.sf);
		status_run(f.sf.s);
		assert_int_equal(find(f.sf.s, DECISION_CONDITION) != NULL, rows[i].waits);
		core_fixture_finish(&f.sf);
	}
}

static void unsupported_pods_are_refused_without_buying_nodes(void **state)
{
	struct pod_class k = { .request = { .v = { 100 } }, .unsupported = "volumes" };
	struct fixture f;
	const struct decision *d;

	(void)state;
	start(&f);
	pod_class_normalise(&k);
	cluster_task_set_class(f.sf.f.cluster, f.t, cluster_class_intern(f.sf.f.cluster, &k));
	core_fixture_open(&f.sf);
	status_run(f.sf.s);
	d = find(f.sf.s, DECISION_CONDITION);
	assert_string_equal(d->reason, "NotReadyForScheduling");
	assert_string_equal(d->message, "volumes");
	core_fixture_finish(&f.sf);
}

/* A gang that may start, of which one more pod waits for room: the binds of the others are decided,
 * and they need no nodes. */
static void a_pod_that_is_bound_is_not_published(void **state)
{
	struct fixture f;
	struct task *waits;
	struct cluster *c;
	struct statement st;

	(void)state;
	start(&f);
	c = f.sf.f.cluster;
	waits = cluster_fixture_task(c, "waits", f.g, 100);
	f.t->flags |= TASK_OPTED_IN;
	waits->flags |= TASK_OPTED_IN;
	ledger_charge(c, f.t, c->queues.v[f.g->queue], CHARGE_UNGATED);
	ledger_charge(c, waits, c->queues.v[f.g->queue], CHARGE_UNGATED);
	core_fixture_open(&f.sf);
	st = statement_begin(f.sf.s);
	statement_allocate(f.sf.s, f.t, c->nodes.v[0]);
	statement_pipeline(f.sf.s, waits, c->nodes.v[0]);
	statement_commit(f.sf.s, st);
	session_note_tried(f.sf.s, f.g);
	session_note_held(f.sf.s, f.g);
	status_run(f.sf.s);
	assert_int_equal(find(f.sf.s, DECISION_BIND)->task, f.t->id);
	assert_int_equal(find(f.sf.s, DECISION_PUBLISH)->task, waits->id);
	core_fixture_finish(&f.sf);
}

/* When a pod that opted in is shown to autoscalers. */
static void publishing(void **state)
{
	static const struct {
		const char *what;
		enum charge_state charge;
		enum pod_cond cond;
		uint32_t gate;
		bool tried;
		const char *expected;
	} rows[] = {
		{ "fits no node", CHARGE_UNGATED, POD_COND_GATED, 0, true, "Publish p" },
		{ "was not tried", CHARGE_UNGATED, POD_COND_GATED, 0, false, "" },
		{ "patch under way", CHARGE_PATCHING, POD_COND_GATED, TASK_OUR_GATE, true, "" },
		{ "is published", CHARGE_PUBLISHED, POD_COND_UNSCHEDULABLE, 0, true, "" },
		{ "no quota", CHARGE_NONE, POD_COND_NONE, 0, true, "" },
		{ "published without quota", CHARGE_NONE, POD_COND_UNSCHEDULABLE, 0, true,
		  "Withdraw p" },
		{ "perhaps published", CHARGE_NONE, POD_COND_OTHER, 0, true, "Withdraw p" },
		{ "withdrawn", CHARGE_NONE, POD_COND_NOT_READY, 0, true, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		print_message("%s\n", rows[i].what);
		start(&f);
		f.t->flags |= TASK_OPTED_IN | rows[i].gate;
		f.t->cond = (uint8_t)rows[i].cond;
		f.t->published_at = f.sf.f.now;
		if (rows[i].charge != CHARGE_NONE) {
			ledger_charge(f.sf.f.cluster, f.t, f.sf.f.cluster->queues.v[f.g->queue],
				      rows[i].charge);
		}
		core_fixture_open(&f.sf);
		if (rows[i].tried) {
			session_note_tried(f.sf.s, f.g);
		}
		status_run(f.sf.s);
		assert_string_equal(core_fixture_decisions(&f.sf), rows[i].expected);
		core_fixture_finish(&f.sf);
	}
}

/* The withdrawal that was decided with the revocation was not sent. */
static void a_pod_that_pauses_is_withdrawn(void **state)
{
	static const struct {
		const char *what;
		uint32_t flags, failures;
		enum pod_cond cond;
		const char *expected;
	} rows[] = {
		{ "published", 0, 0, POD_COND_UNSCHEDULABLE, "Withdraw p" },
		{ "withdrawn", 0, 0, POD_COND_NOT_READY, "" },
		{ "the write has failed: its backoff is respected", 0, 1, POD_COND_UNSCHEDULABLE,
		  "" },
		{ "gone at the API server", TASK_PARKED, 0, POD_COND_UNSCHEDULABLE, "" },
		{ "gated", TASK_OUR_GATE, 0, POD_COND_UNSCHEDULABLE, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;

		unit_row(rows[i].what);
		start(&f);
		f.t->flags |= TASK_OPTED_IN | rows[i].flags;
		f.t->cond = (uint8_t)rows[i].cond;
		f.t->write_failures = (uint8_t)rows[i].failures;
		f.t->retry_at = f.sf.f.now + 1;
		core_fixture_open(&f.sf);
		status_run(f.sf.s);
		assert_string_equal(core_fixture_decisions(&f.sf), rows[i].expected);
		core_fixture_finish(&f.sf);
	}
}

static void a_gang_with_a_gated_member_is_not_published(void **state)
{
	struct fixture f;
	struct task *other;
	struct queue *q;

	(void)state;
	start(&f);
	f.g->min_member = 2;
	q = f.sf.f.cluster->queues.v[f.g->queue];
	other = cycle_fixture_gated(&f.sf.f, "p2", f.g, 100);
	f.t->flags |= TASK_OPTED_IN;
	ledger_charge(f.sf.f.cluster, f.t, q, CHARGE_UNGATED);
	ledger_charge(f.sf.f.cluster, other, q, CHARGE_PATCHING);
	core_fixture_open(&f.sf);
	session_note_tried(f.sf.s, f.g);
	status_run(f.sf.s);
	assert_string_equal(core_fixture_decisions(&f.sf), "");
	core_fixture_finish(&f.sf);
}

static void timers_are_kept_for_what_waits(void **state)
{
	struct fixture f;
	uint32_t q;

	(void)state;
	start(&f);
	q = f.g->queue;
	f.t->flags |= TASK_OPTED_IN;
	f.t->retry_at = f.sf.f.now + 500;
	core_fixture_open(&f.sf);
	status_run(f.sf.s);
	assert_true(f.sf.s->timers[q] == f.sf.f.now + 500);
	session_close(f.sf.s);
	f.t->retry_at = MODEL_TIME_NONE;
	f.t->published_at = f.sf.f.now - 7;
	ledger_charge(f.sf.f.cluster, f.t, f.sf.f.cluster->queues.v[q], CHARGE_PUBLISHED);
	core_fixture_open(&f.sf);
	status_run(f.sf.s);
	assert_true(f.sf.s->timers[q] == f.sf.f.now - 7 + f.sf.f.conf->reservation_timeout_ns);
	core_fixture_finish(&f.sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_of_plain_pods),
		cmocka_unit_test(plain_pods_that_enqueue_refuses),
		cmocka_unit_test(no_reason_for_what_does_not_wait),
		cmocka_unit_test(unsupported_pods_are_refused_without_buying_nodes),
		cmocka_unit_test(a_pod_that_is_bound_is_not_published),
		cmocka_unit_test(publishing),
		cmocka_unit_test(a_pod_that_pauses_is_withdrawn),
		cmocka_unit_test(a_gang_with_a_gated_member_is_not_published),
		cmocka_unit_test(timers_are_kept_for_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
