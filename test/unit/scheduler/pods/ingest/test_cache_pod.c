#include <stdio.h>

#include "lib/pods/cache_fixture.h"
#include "lib/pods/ledger_verify.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"
#include "scheduler/pods/values/pod_class.h"

/* The effect of a cycle and its assumption on an opted-in pod. */
static void reserve(struct cache_fixture *f, struct task *t)
{
	ledger_charge(f->c, t, f->c->queues.v[f->c->podgroups.v[t->podgroup]->queue],
		      CHARGE_PATCHING);
}

static void bind(struct cache_fixture *f, struct task *t, const char *node)
{
	struct node *n = cluster_node_get(f->c, str_of(node));

	if (t->charge == CHARGE_NONE) {
		ledger_charge(f->c, t, f->c->queues.v[f->c->podgroups.v[t->podgroup]->queue],
			      CHARGE_ASSUMED);
	} else {
		ledger_advance(f->c, t, CHARGE_ASSUMED);
	}
	cluster_task_set_status(f->c, t, TASK_BINDING, n);
}

static const struct cache_fixture_pod gated = {
	.name = "p", .group = "g", .opted_in = true, .gated = true, .reason = "SchedulingGated"
};
static const struct cache_fixture_pod ungated = {
	.name = "p", .group = "g", .opted_in = true, .reserved = "q", .reason = "SchedulingGated"
};

static struct cache_fixture_pod with_reason(const char *reason)
{
	struct cache_fixture_pod p = ungated;

	p.reason = reason;
	return p;
}

/* The charge of a patch in flight outlives every update that still shows the gate. */
static void test_hole_5_in_flight_removals_stay_charged(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	assert_int_equal(t->flags & (TASK_OPTED_IN | TASK_OUR_GATE | TASK_OURS),
			 TASK_OPTED_IN | TASK_OUR_GATE | TASK_OURS);
	assert_int_equal(t->charge, CHARGE_NONE);
	reserve(f, t);
	t = cache_fixture_pod(f, &gated);
	assert_int_equal(t->charge, CHARGE_PATCHING);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	t = cache_fixture_pod(f, &ungated);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
}

/* Acknowledged, then an update from before: not gated again. */
static void test_late_update_after_the_acknowledgement(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	reserve(f, t);
	cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(t->flags & TASK_OUR_GATE, 0);
	t = cache_fixture_pod(f, &gated);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(t->flags & TASK_OUR_GATE, 0);
}

/* An evicted pod keeps its charge until it is gone. */
static void test_hole_6_evicted_pods_leave_when_gone(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod going = cache_fixture_running;
	struct task *t;

	going.deleted = true;
	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &cache_fixture_running);
	assert_int_equal(t->charge, CHARGE_BOUND);
	/* assumed eviction */
	ledger_set_releasing(f->c, t, true);
	cluster_task_set_status(f->c, t, TASK_RELEASING, f->c->nodes.v[t->node]);
	t = cache_fixture_pod(f, &cache_fixture_running); /* sent before the deletion */
	assert_int_equal(t->status, TASK_RELEASING);
	t = cache_fixture_pod(f, &going);
	assert_int_equal(t->status, TASK_RELEASING);
	assert_int_equal(t->charge, CHARGE_BOUND);
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->releasing.v[RES_CPU], 1000);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_null(cache_fixture_task(f, "p"));
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(f->gone, 1);
}

static void test_hole_12_recreated_pod_is_another(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod again = gated, late = ungated;
	struct task *t;

	again.uid = "second";
	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	late.version = t->resource_version;
	reserve(f, t);
	t = cache_fixture_pod(f, &again);
	assert_string_equal(t->uid, "second");
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(f->gone, 1);
	/* The outcome of the first pod's patch does not affect the second. */
	cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p", SCHED_DONE);
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_not_equal(t->flags & TASK_OUR_GATE, 0);
	/* Nor does a late update of the first. */
	t = cache_fixture_pod(f, &late);
	assert_string_equal(t->uid, "second");
}

/* --gate-sticky=false. Annotation taken away: the reservation goes. Annotation added to a pod that
 * was never gated: opted in, charged by nothing but a decision. */
static void test_hole_14_annotation_edits(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod left = ungated, joined = { .name = "r", .group = "g" };
	struct task *t;

	left.opted_in = false;
	f->c->annotation_decides = true;
	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	reserve(f, t);
	(void)cache_fixture_pod(f, &ungated);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	t = cache_fixture_pod(f, &left);
	assert_int_equal(t->flags & TASK_OPTED_IN, 0);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	(void)cache_fixture_pod(f, &joined);
	joined.opted_in = true;
	t = cache_fixture_pod(f, &joined);
	assert_int_not_equal(t->flags & TASK_OPTED_IN, 0);
	assert_int_equal(t->charge, CHARGE_NONE);
}

/* The gate, and later the mark, say that the pod is under quota, whatever its annotation says. */
static void test_a_sticky_gate_outlasts_the_annotation(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod early = gated, late = ungated, bare = ungated;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	early.opted_in = late.opted_in = bare.opted_in = false;
	bare.reserved = NULL;
	t = cache_fixture_pod(f, &early);
	assert_true(t->flags & TASK_OPTED_IN);
	reserve(f, t);
	(void)cache_fixture_pod(f, &late);
	assert_true(t->flags & TASK_OPTED_IN);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	(void)cache_fixture_pod(f, &bare);
	assert_false(t->flags & TASK_OPTED_IN);
}

/* The age of a reservation counts from the publication that the pod shows. */
static void test_hole_17_publication_has_an_age(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod published = with_reason("Unschedulable");
	struct cache_fixture_pod withdrawn = with_reason("NotReadyForScheduling");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	assert_true(t->published_at == MODEL_TIME_NONE);
	reserve(f, t);
	t = cache_fixture_pod(f, &published);
	assert_int_equal(t->charge, CHARGE_PUBLISHED);
	assert_int_equal(t->cond, POD_COND_UNSCHEDULABLE);
	assert_true(t->published_at == INT64_C(1749999960) * 1000000000);
	t = cache_fixture_pod(f, &withdrawn);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_true(t->published_at == MODEL_TIME_NONE);
}

/* A pod that lost its quota after ungating stays ungated and uncharged: it does not count as one
 * that holds a reservation, whatever its annotation. */
/* A publication that is found counts from the time on the pod, within bounds: no step of a clock
 * makes it time out. One that is known counts from where it began here. */
static void test_the_age_of_a_publication_that_is_found(void **state)
{
	static const struct {
		int64_t step, age; /* s; the pod says 40 s ago */
	} rows[] = { { 0, 40 },     { 100, 140 }, { 3600, 900 }, { -30, 10 },        { -41, 0 },
		     { -36000, 0 }, { 860, 900 }, { 859, 899 },  { 5000000000, 900 } };
	struct cache_fixture_pod published = with_reason("Unschedulable");

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t;

		f->step = rows[i].step * INT64_C(1000000000);
		t = cache_fixture_pod(f, &published);
		assert_true(f->now - t->published_at == rows[i].age * INT64_C(1000000000));
		f->step += INT64_C(7200) * 1000000000;
		f->now += 5;
		t = cache_fixture_pod(f, &published);
		assert_true(f->now - t->published_at == rows[i].age * INT64_C(1000000000) + 5);
		cache_fixture_destroy(f);
	}
}

static struct task *withdrawn_pod(struct cache_fixture *f, const char *reason, const char *message)
{
	cache_fixture_json(
		f, SCHED_PODS,
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\","
		"\"resourceVersion\":"
		"\"%lld\",\"annotations\":{\"scheduling.volcano.sh/"
		"queue-allocation-gate\":\"true\"}},"
		"\"spec\":{\"schedulerName\":\"volcano\",\"containers\":[{\"name\":\"c\","
		"\"resources\":{"
		"\"requests\":{\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Pending\",\"conditions\":"
		"[{"
		"\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"%s\","
		"\"lastTransitionTime\":\"2025-06-15T15:06:00Z\"},{\"type\":"
		"\"headgate.io/ReservationTimedOut\",\"status\":\"True\",\"message\":\"%s\","
		"\"lastTransitionTime\":\"2025-06-15T15:06:00Z\"}]}}",
		(long long)++f->version, reason, message);
	return cache_fixture_task(f, "p");
}

/* Another leader goes on where the first one stopped: 40 s of the wait are over. */
static void test_attempts_outlast_the_process(void **state)
{
	static const struct {
		const char *reason, *message;
		int64_t step; /* s of the wall clock */
		uint32_t attempts;
		int64_t wait; /* s; 0: none */
	} rows[] = {
		{ "NotReadyForScheduling", "1 reservations ended without a node", 0, 1, 1760 },
		{ "NotReadyForScheduling", "3 reservations ended without a node", 0, 3, 7160 },
		{ "NotReadyForScheduling", "3 reservations ended without a node", 7200, 3, 0 },
		{ "NotReadyForScheduling", "3 reservations ended without a node", -9000, 3, 7200 },
		{ "Unschedulable", "3 reservations ended without a node", 0, 3, 0 },
		{ "NotReadyForScheduling", "99999999999999999999 x", 0, 0, 0 },
		{ "NotReadyForScheduling", "4000000000 x", 0, 1000000, 86360 },
		{ "NotReadyForScheduling", "", 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t;

		f->step = rows[i].step * INT64_C(1000000000);
		t = withdrawn_pod(f, rows[i].reason, rows[i].message);
		assert_int_equal(t->attempts, rows[i].attempts);
		assert_true(t->retry_at == (rows[i].wait == 0
						    ? MODEL_TIME_NONE
						    : f->now + rows[i].wait * INT64_C(1000000000)));
		cache_fixture_destroy(f);
	}
}

static void test_hole_18_revoked_pods_stay_revoked(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod withdrawn = with_reason("NotReadyForScheduling");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	reserve(f, t);
	t = cache_fixture_pod(f, &ungated);
	ledger_release(f->c, t);
	t = cache_fixture_pod(f, &withdrawn);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(t->cond, POD_COND_NOT_READY);
	assert_int_not_equal(t->flags & TASK_RESERVED_MARK, 0);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
}

/* Our gate goes off with a mark. */
static void test_gates_that_another_process_takes_off(void **state)
{
	static const struct {
		const char *what;
		bool deciding, failed, cancelled, no_mark, elsewhere;
	} rows[] = {
		{ .what = "another installation", .elsewhere = true },
		{ .what = "another client", .no_mark = true },
		{ .what = "our patch, seen before its answer", .deciding = true },
		{ .what = "our patch, which seemed to fail", .deciding = true, .failed = true },
		{ .what = "our patch was never sent",
		  .deciding = true,
		  .cancelled = true,
		  .elsewhere = true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = ungated;
		struct task *t;

		print_message("%s\n", rows[i].what);
		(void)cache_fixture_group(f, "g", "q", 1);
		t = cache_fixture_pod(f, &gated);
		if (rows[i].deciding) {
			reserve(f, t);
		}
		if (rows[i].failed || rows[i].cancelled) {
			cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p",
					   rows[i].failed ? SCHED_UNANSWERED : SCHED_CANCELLED);
		}
		p.reserved = rows[i].no_mark ? NULL : "q";
		t = cache_fixture_pod(f, &p);
		assert_int_equal((t->flags & TASK_UNGATED_ELSEWHERE) != 0, rows[i].elsewhere);
		/* It stays known, until another process has led meanwhile. */
		t = cache_fixture_pod(f, &p);
		assert_int_equal((t->flags & TASK_UNGATED_ELSEWHERE) != 0, rows[i].elsewhere);
		cache_rebuild_ledger(f->cache, f->now);
		assert_int_equal(t->flags & TASK_UNGATED_ELSEWHERE, 0);
		cache_fixture_destroy(f);
	}
}

/* A failed bind leaves the pod pending with its reservation. */
static void test_hole_23_bind_failure_keeps_the_reservation(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod published = with_reason("Unschedulable");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_node(f, "n", "8");
	t = cache_fixture_pod(f, &gated);
	reserve(f, t);
	t = cache_fixture_pod(f, &published);
	bind(f, t, "n");
	cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", SCHED_REJECTED);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(t->charge, CHARGE_PUBLISHED);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(cluster_node_find(f->c, STR_LIT("n"))->used.v[RES_CPU], 0);
	assert_true(t->retry_at > f->now);
}

static void test_binding_outlives_updates_without_node(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod pending = { .name = "p", .group = "g" };
	struct cache_fixture_pod bound = { .name = "p", .group = "g", .node = "n" };
	struct cache_fixture_pod elsewhere = {
		.name = "p", .group = "g", .node = "m", .phase = "Running"
	};
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_node(f, "n", "8");
	t = cache_fixture_pod(f, &pending);
	bind(f, t, "n");
	t = cache_fixture_pod(f, &pending);
	assert_int_equal(t->status, TASK_BINDING);
	assert_int_equal(t->charge, CHARGE_ASSUMED);
	t = cache_fixture_pod(f, &bound);
	assert_int_equal(t->status, TASK_BOUND);
	assert_int_equal(t->charge, CHARGE_BOUND);
	/* Bound by another program: taken as it is. */
	t = cache_fixture_pod(f, &elsewhere);
	assert_string_equal(f->c->nodes.v[t->node]->name, "m");
	assert_int_equal(cluster_node_find(f->c, STR_LIT("n"))->used.v[RES_CPU], 0);
}

static void test_older_updates_are_ignored(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod old = { .name = "p", .group = "g", .version = 50 };
	struct task *t;

	f->version = 100;
	(void)cache_fixture_pod(f, &cache_fixture_running);
	t = cache_fixture_pod(f, &old);
	assert_int_equal(t->status, TASK_RUNNING);
	assert_int_equal(t->resource_version, 101);
}

static void test_foreign_pods_only_occupy_nodes(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p",
				       .group = "g",
				       .scheduler = "default-scheduler" };
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	assert_null(cache_fixture_pod(f, &p));
	p.node = "n";
	p.phase = "Running";
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->podgroup, MODEL_NONE);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(cluster_node_find(f->c, STR_LIT("n"))->used.v[RES_CPU], 1000);
	p.phase = "Succeeded";
	assert_null(cache_fixture_pod(f, &p));
	assert_null(cluster_node_find(f->c, STR_LIT("n")));
}

static void test_finished_pods_of_ours_stay_uncharged(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = cache_fixture_running;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	p.phase = "Failed";
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->status, TASK_FAILED);
	assert_int_equal(t->node, MODEL_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
}

static void test_resize_in_place_follows(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = cache_fixture_running;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &p);
	p.cpu = "2500m";
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(cache_fixture_charged(f, "q"), 2500);
	assert_int_equal(cache_fixture_charged(f, "root"), 2500);
	assert_int_equal(cluster_node_find(f->c, STR_LIT("n"))->used.v[RES_CPU], 2500);
}

/* Each growth of a pod that runs is judged, and reported, once. */
static void test_growth_is_noted(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = cache_fixture_running;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	assert_false(t->flags & TASK_GREW);
	p.cpu = "2500m";
	t = cache_fixture_pod(f, &p);
	assert_true(t->flags & TASK_GREW);
	cluster_task_set_refused(f->c, t, t->charge_queue);
	p.cpu = "2";
	(void)cache_fixture_pod(f, &p);
	assert_int_equal(t->refused_queue, t->charge_queue);
	p.cpu = "3";
	(void)cache_fixture_pod(f, &p);
	assert_true(t->flags & TASK_GREW);
	assert_int_equal(t->refused_queue, MODEL_NONE);
}

/* As well before it has a node: it is the first to lose its quota when there is not enough. */
static void test_growth_of_a_reservation_is_noted(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g", .opted_in = true };
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	p.cpu = "2";
	t = cache_fixture_pod(f, &p);
	assert_false(t->flags & TASK_GREW);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_UNGATED);
	p.cpu = "3";
	t = cache_fixture_pod(f, &p);
	assert_true(t->flags & TASK_GREW);
}

/* Without a group annotation there is no PodGroup, until the PodGroup controller writes one. */
static void test_group_annotation_comes_later(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p" };
	struct task *t = cache_fixture_pod(f, &p);

	assert_int_equal(t->podgroup, MODEL_NONE);
	p.group = "g";
	t = cache_fixture_pod(f, &p);
	assert_int_not_equal(t->podgroup, MODEL_NONE);
	assert_false(f->c->podgroups.v[t->podgroup]->exists);
	(void)cache_fixture_group(f, "g", "q", 1);
	assert_string_equal(f->c->queues.v[f->c->podgroups.v[t->podgroup]->queue]->name, "q");
}

/* Selector and request edited while gated: another class, and the charge follows. */
static void test_spec_edited_while_gated(void **state)
{
	static const char json[] =
		"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\","
		"\"resourceVersion\":\"99\",\"annotations\":{\"scheduling.k8s.io/"
		"group-name\":\"g\","
		"\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"}},\"spec\":{"
		"\"schedulerName\":\"volcano\",\"nodeSelector\":{\"zone\":\"b\"},"
		"\"schedulingGates\":"
		"[{\"name\":\"scheduling.volcano.sh/queue-allocation-gate\"}],\"containers\":["
		"{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}";
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	reserve(f, t);
	cache_fixture_json(f, SCHED_PODS, "%s", json);
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->klass->nselector, 1);
	assert_int_equal(t->charge, CHARGE_PATCHING);
	assert_int_equal(cache_fixture_charged(f, "q"), 3000);
}

static void test_parked_until_the_pod_changes(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod same = gated;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	t->flags |= TASK_PARKED;
	same.version = t->resource_version;
	t = cache_fixture_pod(f, &same);
	assert_int_not_equal(t->flags & TASK_PARKED, 0);
	t = cache_fixture_pod(f, &gated);
	assert_int_equal(t->flags & TASK_PARKED, 0);
}

static void test_deletion_of_an_absent_pod(void **state)
{
	struct cache_fixture *f = *state;

	(void)cache_fixture_pod(f, &gated);
	cache_fixture_delete(f, SCHED_PODS, "ns/absent");
	assert_non_null(cache_fixture_task(f, "p"));
}

/* Nothing is charged for a pod while a Workload holds its quota; whether it does is asked with
 * every update. */
static void test_pods_charged_elsewhere(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	f->charged_to_workload = true;
	t = cache_fixture_pod(f, &cache_fixture_running);
	assert_true(t->klass->charged_to_workload);
	assert_int_equal(t->charge, CHARGE_BOUND);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	(void)cache_take_dirty(f->cache);
	cache_pod_here(f->cache, STR_LIT("ns/absent"));
	assert_false(cache_take_dirty(f->cache));
	cache_pod_here(f->cache, STR_LIT("ns/p"));
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_null(ledger_verify(f->c));
	assert_true(cache_take_dirty(f->cache)); /* the next cycle sees another sum */
	cache_pod_here(f->cache, STR_LIT("ns/p"));
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_false(cache_take_dirty(f->cache));
	t = cache_fixture_pod(f, &cache_fixture_running);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	f->charged_to_workload = false;
	t = cache_fixture_pod(f, &cache_fixture_running);
	assert_false(t->klass->charged_to_workload);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_null(ledger_verify(f->c));
}

/* The JSON of pod p of queue q, with what comes between its metadata's members and in its spec. */
static void unreadable(struct cache_fixture *f, const char *meta, const char *spec,
		       const char *phase)
{
	char json[1024];
	unsigned bad = f->bad;

	snprintf(json, sizeof(json),
		 "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"uid-p\","
		 "\"resourceVersion\":\"%lld\",\"annotations\":{\"scheduling.k8s.io/group-name\":"
		 "\"g\",\"scheduling.volcano.sh/queue-allocation-gate\":\"true\"%s}},"
		 "\"spec\":{\"schedulerName\":\"volcano\",%s},\"status\":{\"phase\":\"%s\"}}",
		 (long long)++f->version, meta, spec, phase);
	cache_fixture_raw(f, SCHED_PODS, "ns/p", json);
	assert_int_equal(f->bad, bad + 1);
}

#define CONTAINERS(cpu)                                                                            \
	"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":" cpu "}}}],"        \
	"\"tolerations\":9"

/* Never seen before: charged by what can be read, its queue and its node are as full as they are.
 */
static void test_unreadable_pod_is_charged(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	unreadable(f, "", "\"nodeName\":\"n\"," CONTAINERS("\"2\""), "Running");
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->charge, CHARGE_BOUND);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
	assert_int_equal(f->c->nodes.v[t->node]->used.v[RES_CPU], 2000);
	cache_rebuild_ledger(f->cache, f->now);
	cache_fixture_check(f);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
	unreadable(f, "", "\"nodeName\":\"n\"," CONTAINERS("\"2\""), "Succeeded");
	assert_int_equal(t->status, TASK_SUCCEEDED);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
}

/* A known pod keeps its values, and follows the object again when it can be read. */
static void test_known_pod_becomes_unreadable(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &cache_fixture_running);
	unreadable(f, "", "\"nodeName\":4," CONTAINERS("\"x\""), "Running");
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->charge, CHARGE_BOUND);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(t->flags & TASK_PARKED, TASK_PARKED);
	t = cache_fixture_pod(f, &cache_fixture_running);
	assert_int_equal(t->flags & TASK_PARKED, 0);
	assert_null(t->klass->unsupported);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	unreadable(f, "", "\"nodeName\":4," CONTAINERS("\"x\""), "Failed");
	assert_int_equal(t->status, TASK_FAILED);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
}

/* Gated or reserved, it is kept and nothing is decided for it; else there is nothing to keep. */
static void test_unreadable_pod_without_node(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	unreadable(f, "", CONTAINERS("\"2\""), "Pending");
	assert_null(cache_fixture_task(f, "p"));
	unreadable(f, "",
		   "\"schedulingGates\":[{\"name\":\"scheduling.volcano.sh/"
		   "queue-allocation-gate\"}]," CONTAINERS("\"2\""),
		   "Pending");
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->flags & (TASK_PARKED | TASK_OUR_GATE), TASK_PARKED | TASK_OUR_GATE);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	unreadable(f, ",\"headgate.io/reserved\":\"q\"", CONTAINERS("\"2\""), "Pending");
	cache_rebuild_ledger(f->cache, f->now);
	cache_fixture_check(f);
	t = cache_fixture_task(f, "p");
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(t->flags & TASK_PARKED, TASK_PARKED);
	assert_int_equal(cache_fixture_charged(f, "q"), 2000);
}

/* Another pod with the name of a known one. */
static void test_unreadable_pod_replaces_another(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod old = cache_fixture_running;
	struct task *t;

	old.uid = "first";
	old.cpu = "3";
	(void)cache_fixture_group(f, "g", "q", 1);
	(void)cache_fixture_pod(f, &old);
	unreadable(f, "", "\"nodeName\":\"n\"," CONTAINERS("\"1\""), "Running");
	t = cache_fixture_task(f, "p");
	assert_string_equal(t->uid, "uid-p");
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	assert_int_equal(f->gone, 1);
}

static struct task *running_pod(struct cache_fixture *f, const char *meta, const char *placed)
{
	char json[1000];

	snprintf(json, sizeof(json),
		 "{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\","
		 "\"resourceVersion\":\"%lld\",%s},\"spec\":{\"schedulerName\":\"volcano\","
		 "\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
		 "\"cpu\":\"1\"}}}]},\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":"
		 "\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"%s\"}]}}",
		 (long long)++f->version, meta, placed);
	cache_fixture_raw(f, SCHED_PODS, "ns/p", json);
	return cache_fixture_task(f, "p");
}

#define COOLDOWN(text) "\"annotations\":{\"volcano.sh/cooldown-time\":\"" text "\"}"

/* It is 15:06:40. */
static void test_how_long_a_pod_is_protected(void **state)
{
	static const struct {
		const char *meta, *placed;
		int64_t left; /* s; 0: it is not protected */
		unsigned bad;
	} rows[] = {
		{ COOLDOWN("1m"), "2025-06-15T15:06:30Z", 50, 0 },
		{ COOLDOWN("1m"), "2025-06-15T15:05:40Z", 0, 0 },
		{ COOLDOWN("1m"), "2025-06-15T15:06:50Z", 60, 0 },
		{ COOLDOWN("0"), "2025-06-15T15:06:40Z", 0, 0 },
		{ COOLDOWN("2000000h"), "2025-06-15T15:06:40Z", 7200000000, 0 },
		{ COOLDOWN("-1m"), "2025-06-15T15:06:40Z", 0, 1 },
		{ COOLDOWN("soon"), "2025-06-15T15:06:40Z", 0, 1 },
		{ COOLDOWN(""), "2025-06-15T15:06:40Z", 0, 1 },
		{ COOLDOWN("99999999h"), "2025-06-15T15:06:40Z", 0, 1 },
		{ "\"labels\":{\"volcano.sh/cooldown-time\":\"30s\"}," COOLDOWN("1m"),
		  "2025-06-15T15:06:40Z", 30, 0 },
		{ "\"labels\":{}", "2025-06-15T15:06:40Z", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t;

		unit_row(rows[i].meta);
		(void)cache_fixture_node(f, "n", "4");
		t = running_pod(f, rows[i].meta, rows[i].placed);
		assert_int_equal(f->bad, rows[i].bad);
		if (rows[i].left == 0) {
			assert_true(t->cools_until == MODEL_TIME_NONE);
		} else {
			assert_true(t->cools_until == f->now + rows[i].left * INT64_C(1000000000));
		}
		/* It is reported once. */
		(void)running_pod(f, rows[i].meta, rows[i].placed);
		assert_int_equal(f->bad, rows[i].bad);
		cache_fixture_destroy(f);
	}
}

static void test_when_a_pod_is_to_be_gone(void **state)
{
	static const struct {
		const char *meta;
		int64_t left; /* s */
	} rows[] = {
		{ "\"deletionTimestamp\":\"2025-06-15T15:07:10Z\"", 30 },
		{ "\"deletionTimestamp\":\"2025-06-15T15:06:10Z\"", -30 },
		{ "\"deletionTimestamp\":\"2035-06-15T15:07:10Z\"", 3600 },
		{ "\"deletionTimestamp\":\"1970-06-15T15:07:10Z\"", -3600 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t;

		unit_row(rows[i].meta);
		(void)cache_fixture_node(f, "n", "4");
		t = running_pod(f, rows[i].meta, "2025-06-15T15:00:00Z");
		assert_int_equal(t->status, TASK_RELEASING);
		assert_true(t->ends_by == f->now + rows[i].left * INT64_C(1000000000));
		cache_fixture_destroy(f);
	}
}

/* Until it is gone: an update is no sign that it ends. */
static void test_a_pod_that_does_not_end_stays_one(void **state)
{
	static const char deleted[] = "\"deletionTimestamp\":\"2025-06-15T15:06:10Z\"";
	struct cache_fixture *f = *state;
	struct task *t;

	(void)cache_fixture_node(f, "n", "4");
	t = running_pod(f, deleted, "2025-06-15T15:00:00Z");
	t->flags |= TASK_STUCK;
	ledger_set_releasing(f->c, t, false);
	cluster_task_set_status(f->c, t, TASK_UNKNOWN, f->c->nodes.v[t->node]);
	assert_ptr_equal(running_pod(f, deleted, "2025-06-15T15:00:00Z"), t);
	assert_int_equal(t->status, TASK_UNKNOWN);
	cache_fixture_delete(f, SCHED_PODS, "ns/p");
	assert_null(cache_fixture_task(f, "p"));
}

/* A new process finds the nominations of the one before: the room is held on. */
static void test_holds_are_taken_over_from_nominations(void **state)
{
	static const struct {
		const char *spec, *status;
		bool holds;
	} rows[] = {
		{ "", "\"nominatedNodeName\":\"n\"", true },
		{ "", "\"phase\":\"Pending\"", false },
		{ "\"nodeName\":\"m\",", "\"nominatedNodeName\":\"n\"", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct node *n = cache_fixture_node(f, "n", "4");
		struct task *t;

		unit_row(rows[i].status);
		(void)cache_fixture_node(f, "m", "4");
		cache_fixture_json(
			f, SCHED_PODS,
			"{\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\","
			"\"resourceVersion\":\"%lld\"},\"spec\":{\"schedulerName\":\"volcano\",%s"
			"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
			"\"1\"}"
			"}}]},\"status\":{%s}}",
			(long long)++f->version, rows[i].spec, rows[i].status);
		t = cache_fixture_task(f, "p");
		assert_int_equal(t->awaits, rows[i].holds ? n->id : MODEL_NONE);
		assert_int_equal(f->c->awaiting.n, rows[i].holds);
		cache_fixture_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_long_a_pod_is_protected),
		cmocka_unit_test(test_when_a_pod_is_to_be_gone),
		CACHE_FIXTURE_TEST(test_a_pod_that_does_not_end_stays_one),
		cmocka_unit_test(test_holds_are_taken_over_from_nominations),
		CACHE_FIXTURE_TEST(test_unreadable_pod_is_charged),
		CACHE_FIXTURE_TEST(test_known_pod_becomes_unreadable),
		CACHE_FIXTURE_TEST(test_unreadable_pod_without_node),
		CACHE_FIXTURE_TEST(test_unreadable_pod_replaces_another),
		CACHE_FIXTURE_TEST(test_hole_5_in_flight_removals_stay_charged),
		CACHE_FIXTURE_TEST(test_late_update_after_the_acknowledgement),
		CACHE_FIXTURE_TEST(test_hole_6_evicted_pods_leave_when_gone),
		CACHE_FIXTURE_TEST(test_hole_12_recreated_pod_is_another),
		CACHE_FIXTURE_TEST(test_hole_14_annotation_edits),
		CACHE_FIXTURE_TEST(test_a_sticky_gate_outlasts_the_annotation),
		CACHE_FIXTURE_TEST(test_hole_17_publication_has_an_age),
		cmocka_unit_test(test_the_age_of_a_publication_that_is_found),
		cmocka_unit_test(test_attempts_outlast_the_process),
		CACHE_FIXTURE_TEST(test_hole_18_revoked_pods_stay_revoked),
		cmocka_unit_test(test_gates_that_another_process_takes_off),
		CACHE_FIXTURE_TEST(test_hole_23_bind_failure_keeps_the_reservation),
		CACHE_FIXTURE_TEST(test_binding_outlives_updates_without_node),
		CACHE_FIXTURE_TEST(test_older_updates_are_ignored),
		CACHE_FIXTURE_TEST(test_foreign_pods_only_occupy_nodes),
		CACHE_FIXTURE_TEST(test_finished_pods_of_ours_stay_uncharged),
		CACHE_FIXTURE_TEST(test_resize_in_place_follows),
		CACHE_FIXTURE_TEST(test_growth_is_noted),
		CACHE_FIXTURE_TEST(test_growth_of_a_reservation_is_noted),
		CACHE_FIXTURE_TEST(test_group_annotation_comes_later),
		CACHE_FIXTURE_TEST(test_spec_edited_while_gated),
		CACHE_FIXTURE_TEST(test_parked_until_the_pod_changes),
		CACHE_FIXTURE_TEST(test_deletion_of_an_absent_pod),
		CACHE_FIXTURE_TEST(test_pods_charged_elsewhere),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_pod", tests, NULL, NULL);
}
