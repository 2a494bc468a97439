#include "lib/pods/cache_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static const struct cache_fixture_pod gated = {
	.name = "p", .group = "g", .opted_in = true, .gated = true
};

static struct task *patching(struct cache_fixture *f)
{
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &gated);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_PATCHING);
	return t;
}

static void test_outcomes_of_ungating(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		enum charge_state charge;
		bool parked, waits;
		int status;
	} rows[] = {
		{ SCHED_DONE, CHARGE_UNGATED, false, false, 0 },
		{ SCHED_GONE, CHARGE_NONE, true, false, 0 },
		{ SCHED_REJECTED, CHARGE_NONE, true, false, 0 },
		{ SCHED_STALE, CHARGE_NONE, false, true, 0 },
		{ SCHED_CANCELLED, CHARGE_NONE, false, false, 0 },
		{ SCHED_REJECTED, CHARGE_NONE, true, false, 422 },
		{ SCHED_REJECTED, CHARGE_NONE, false, true, 403 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct task *t = patching(f);

		f->status = rows[i].status;
		cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p", rows[i].outcome);
		assert_int_equal(t->charge, rows[i].charge);
		assert_int_equal((t->flags & TASK_PARKED) != 0, rows[i].parked);
		assert_int_equal(t->retry_at != MODEL_TIME_NONE, rows[i].waits);
		cache_fixture_destroy(f);
	}
}

/* The answer to a patch shows a version in which another scheduler may have bound the pod. Updates
 * from before it are old, but a deletion that names it would be one of a pod that was not seen. */
static void test_the_version_of_a_patch_has_not_been_seen(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod before = gated;
	struct task *t = patching(f);
	int64_t seen = t->resource_version;
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->request = SCHED_REQ_UNGATE;
	m->key = STR_LIT("ns/p");
	m->uid = "uid-p";
	m->outcome = SCHED_DONE;
	m->resource_version = seen + 2;
	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
	assert_int_equal(t->resource_version, seen);
	before.version = seen + 1;
	t = cache_fixture_pod(f, &before);
	assert_int_equal(t->resource_version, seen);
	assert_int_equal(t->flags & TASK_OUR_GATE, 0);
	before.version = seen + 2;
	before.gated = false;
	t = cache_fixture_pod(f, &before);
	assert_int_equal(t->resource_version, seen + 2);
}

static void test_uncharged_ungating_ends_with_its_outcome(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = cache_fixture_pod(f, &gated);

	t->flags |= TASK_UNGATING;
	t = cache_fixture_pod(f, &gated);
	assert_int_not_equal(t->flags & TASK_UNGATING, 0);
	cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", NULL, SCHED_DONE);
	assert_int_equal(t->flags & (TASK_UNGATING | TASK_OUR_GATE), 0);
}

static void test_back_off_doubles_up_to_a_limit(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = patching(f);
	int64_t last = 0;

	for (int i = 0; i < 12; i++) {
		int64_t wait;

		cache_fixture_done(f, SCHED_REQ_UNGATE, "ns/p", "uid-p", SCHED_STALE);
		wait = t->retry_at - f->now;
		assert_true(i < 8 ? wait == INT64_C(1000000000) << i : wait >= last);
		last = wait;
	}
	assert_true(last <= INT64_C(300) * 1000000000);
}

static void test_unwritten_condition_is_decided_again(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = patching(f);

	ledger_advance(f->c, t, CHARGE_UNGATED);
	ledger_advance(f->c, t, CHARGE_PUBLISHED);
	t->cond = POD_COND_UNSCHEDULABLE;
	t->published_at = f->now;
	t->cond_message = 5;
	cache_fixture_done(f, SCHED_REQ_POD_STATUS, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(t->charge, CHARGE_PUBLISHED);
	cache_fixture_done(f, SCHED_REQ_POD_STATUS, "ns/p", "uid-p", SCHED_CANCELLED);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(t->cond_message, 0);
	assert_true(t->published_at == MODEL_TIME_NONE);
}

/* It was bound, or otherwise changed, before the deletion came: nothing is known to have happened.
 */
static void test_refused_deletion_of_a_pod_without_a_node(void **state)
{
	struct cache_fixture *f = *state;
	const struct cache_fixture_pod p = { .name = "p",
					     .group = "g",
					     .scheduler = "default-scheduler",
					     .opted_in = true,
					     .reserved = "q" };
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	assert_int_equal(t->published_at, f->now);
	ledger_set_releasing(f->c, t, true);
	cluster_task_set_status(f->c, t, TASK_RELEASING, NULL);
	cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(t->status, TASK_RELEASING);
	cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", SCHED_STALE);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_true(t->retry_at > f->now);
}

static void test_refused_eviction_leaves_the_victim(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod running = {
		.name = "p", .group = "g", .node = "n", .phase = "Running"
	};
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &running);
	ledger_set_releasing(f->c, t, true);
	cluster_task_set_status(f->c, t, TASK_RELEASING, f->c->nodes.v[t->node]);
	cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(t->status, TASK_RELEASING);
	cache_fixture_done(f, SCHED_REQ_EVICT, "ns/p", "uid-p", SCHED_REJECTED);
	assert_int_equal(t->status, TASK_RUNNING);
	assert_int_equal(queue_find(f->c, STR_LIT("q"))->releasing.v[RES_CPU], 0);
	assert_true(t->retry_at > f->now);
	/* That is known as long as the pod is. */
	running.cpu = "2";
	assert_ptr_equal(cache_fixture_pod(f, &running), t);
	assert_true((t->flags & TASK_EVICTION_REFUSED) != 0);
}

static void test_bind_of_a_pod_that_did_not_opt_in(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = { .name = "p", .group = "g" };
	struct node *n = cache_fixture_node(f, "n", "8");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_ASSUMED);
	cluster_task_set_status(f->c, t, TASK_BINDING, n);
	cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", SCHED_DONE);
	assert_int_equal(t->status, TASK_BINDING);
	cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", SCHED_CANCELLED);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_true(t->retry_at == MODEL_TIME_NONE);
}

static void test_outcomes_of_a_bind(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		enum task_status status;
		bool parked, waits;
	} rows[] = {
		{ SCHED_DONE, TASK_BINDING, false, false },
		{ SCHED_GONE, TASK_PENDING, true, false },
		{ SCHED_REJECTED, TASK_PENDING, false, true },
		{ SCHED_STALE, TASK_PENDING, false, true },
		{ SCHED_CANCELLED, TASK_PENDING, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cache_fixture *f = cache_fixture_create();
		struct cache_fixture_pod p = { .name = "p", .group = "g", .opted_in = true };
		struct node *n = cache_fixture_node(f, "n", "8");
		struct task *t;

		(void)cache_fixture_group(f, "g", "q", 1);
		t = cache_fixture_pod(f, &p);
		ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_ASSUMED);
		cluster_task_set_status(f->c, t, TASK_BINDING, n);
		cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", rows[i].outcome);
		assert_int_equal(t->status, rows[i].status);
		assert_int_equal(t->charge,
				 rows[i].status == TASK_BINDING ? CHARGE_ASSUMED : CHARGE_UNGATED);
		assert_int_equal((t->flags & TASK_PARKED) != 0, rows[i].parked);
		assert_int_equal(t->retry_at != MODEL_TIME_NONE, rows[i].waits);
		cache_fixture_destroy(f);
	}
}

/* A best-effort pod is placed without a reservation: it held nothing that it could hold again. */
static void test_bind_of_a_best_effort_pod(void **state)
{
	struct cache_fixture *f = *state;
	struct cache_fixture_pod p = {
		.name = "p", .group = "g", .opted_in = true, .cpu = "0", .reason = "Unschedulable"
	};
	struct node *n = cache_fixture_node(f, "n", "8");
	struct task *t;

	(void)cache_fixture_group(f, "g", "q", 1);
	t = cache_fixture_pod(f, &p);
	assert_true(t->klass->best_effort);
	ledger_charge(f->c, t, queue_find(f->c, STR_LIT("q")), CHARGE_ASSUMED);
	cluster_task_set_status(f->c, t, TASK_BINDING, n);
	cache_fixture_done(f, SCHED_REQ_BIND, "ns/p", "uid-p", SCHED_STALE);
	assert_int_equal(t->status, TASK_PENDING);
	assert_int_equal(t->charge, CHARGE_NONE);
}

/* Deciding again after a refusal, or about an object that is gone, would write as fast as the
 * answers come.
 */
static void test_only_an_unsent_status_of_a_podgroup_is_decided_again(void **state)
{
	static const struct {
		enum sched_outcome outcome;
		uint64_t hash;
	} rows[] = { { SCHED_DONE, 9 },
		     { SCHED_REJECTED, 9 },
		     { SCHED_GONE, 9 },
		     { SCHED_STALE, 9 },
		     { SCHED_CANCELLED, 0 } };
	struct cache_fixture *f = *state;
	struct podgroup *g = cache_fixture_group(f, "g", "q", 1);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		g->status_hash = 9;
		cache_fixture_done(f, SCHED_REQ_PODGROUP, "ns/g", NULL, rows[i].outcome);
		assert_int_equal(g->status_hash, rows[i].hash);
	}
}

static void test_outcomes_of_what_is_not_known(void **state)
{
	struct cache_fixture *f = *state;

	cache_fixture_done(f, SCHED_REQ_PODGROUP, "ns/absent", NULL, SCHED_CANCELLED);
	cache_fixture_done(f, SCHED_REQ_QUEUE, "absent", NULL, SCHED_REJECTED);
	cache_fixture_done(f, SCHED_REQ_BIND, "ns/absent", "x", SCHED_REJECTED);
}

static void status_written(struct cache_fixture *f, const char *reason, enum sched_outcome outcome)
{
	struct sched_msg *m = message_new(SCHED_MSG_REQUEST_DONE);

	m->request = SCHED_REQ_POD_STATUS;
	m->key = STR_LIT("ns/p");
	m->uid = "uid-p";
	m->outcome = outcome;
	m->written = reason;
	cache_apply(f->cache, m, cache_fixture_time(f));
	message_free(m);
	cache_fixture_check(f);
}

static struct task *withdrawing(struct cache_fixture *f)
{
	struct task *t = patching(f);

	ledger_advance(f->c, t, CHARGE_UNGATED);
	ledger_advance(f->c, t, CHARGE_WITHDRAWING);
	return t;
}

/* Until then autoscalers may see the pod: its quota is not free for others. */
static void test_quota_is_free_when_the_withdrawal_is_acknowledged(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = withdrawing(f);

	status_written(f, "Unschedulable", SCHED_DONE);
	assert_int_equal(t->charge, CHARGE_WITHDRAWING);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
	status_written(f, "NotReadyForScheduling", SCHED_DONE);
	assert_int_equal(t->charge, CHARGE_NONE);
	assert_int_equal(cache_fixture_charged(f, "q"), 0);
	assert_int_equal(t->cond, POD_COND_NOT_READY);
}

static void test_a_withdrawal_that_failed_is_decided_again(void **state)
{
	struct cache_fixture *f = *state;
	struct task *t = withdrawing(f);

	status_written(f, "NotReadyForScheduling", SCHED_REJECTED);
	assert_int_equal(t->charge, CHARGE_UNGATED);
	assert_int_equal(cache_fixture_charged(f, "q"), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outcomes_of_ungating),
		cmocka_unit_test(test_outcomes_of_a_bind),
		CACHE_FIXTURE_TEST(test_quota_is_free_when_the_withdrawal_is_acknowledged),
		CACHE_FIXTURE_TEST(test_a_withdrawal_that_failed_is_decided_again),
		CACHE_FIXTURE_TEST(test_the_version_of_a_patch_has_not_been_seen),
		CACHE_FIXTURE_TEST(test_uncharged_ungating_ends_with_its_outcome),
		CACHE_FIXTURE_TEST(test_back_off_doubles_up_to_a_limit),
		CACHE_FIXTURE_TEST(test_unwritten_condition_is_decided_again),
		CACHE_FIXTURE_TEST(test_refused_deletion_of_a_pod_without_a_node),
		CACHE_FIXTURE_TEST(test_refused_eviction_leaves_the_victim),
		CACHE_FIXTURE_TEST(test_bind_of_a_pod_that_did_not_opt_in),
		CACHE_FIXTURE_TEST(test_bind_of_a_best_effort_pod),
		CACHE_FIXTURE_TEST(test_only_an_unsent_status_of_a_podgroup_is_decided_again),
		CACHE_FIXTURE_TEST(test_outcomes_of_what_is_not_known),
	};

	return cmocka_run_group_tests_name("pods/ingest/cache_request", tests, NULL, NULL);
}
