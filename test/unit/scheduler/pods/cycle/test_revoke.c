#include "scheduler/pods/cycle/revoke.h"

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static struct task *charged(struct core_fixture *sf, const char *name, struct podgroup *g,
			    enum charge_state state)
{
	struct cluster *c = sf->f.cluster;
	struct task *t = cluster_fixture_task(c, name, g, 1000);

	t->flags |= TASK_OPTED_IN;
	t->created = (int64_t)t->id;
	if (state == CHARGE_PATCHING) {
		t->flags |= TASK_OUR_GATE;
	}
	if (state == CHARGE_PUBLISHED) {
		t->cond = POD_COND_UNSCHEDULABLE;
		t->published_at = sf->f.now;
	}
	ledger_charge(c, t, c->queues.v[g->queue], state);
	return t;
}

static const char *run(struct core_fixture *sf)
{
	core_fixture_open(sf);
	revoke_run(sf->s);
	return core_fixture_decisions(sf);
}

static void the_youngest_without_a_node_pay_for_an_excess(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 2500);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	charged(&sf, "p0", g, CHARGE_UNGATED);
	charged(&sf, "p1", g, CHARGE_PUBLISHED);
	charged(&sf, "p2", g, CHARGE_UNGATED);
	charged(&sf, "p3", g, CHARGE_PATCHING);
	assert_string_equal(run(&sf), "Revoke p2; Revoke p1; Withdraw p1");
	core_fixture_finish(&sf);
}

/* A tenant resizes a pod that waits for a node: others do not lose quota for it. */
static void a_pod_that_grew_pays_for_its_growth(void **state)
{
	struct core_fixture sf;
	struct podgroup *g, *k;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 2000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	k = cluster_fixture_podgroup(sf.f.cluster, "k", "q", 1);
	charged(&sf, "grew", g, CHARGE_PUBLISHED)->flags |= TASK_GREW;
	charged(&sf, "p1", k, CHARGE_PUBLISHED);
	charged(&sf, "p2", k, CHARGE_PUBLISHED);
	assert_string_equal(run(&sf), "Revoke grew; Withdraw grew");
	core_fixture_finish(&sf);
}

/* A tenant puts a pod on a node by hand, in a group of a queue that is at its limit. */
static void pods_placed_by_hand_revoke_nothing(void **state)
{
	static const struct {
		uint32_t flags;
		const char *decisions;
	} rows[] = {
		{ 0, "" },
		{ TASK_RESERVED_MARK, "Revoke p0; Withdraw p0" },
		{ TASK_BOUND_MARK, "Revoke p0; Withdraw p0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;
		struct node *n;
		struct podgroup *g;

		unit_row_number(i);
		core_fixture_init(&sf, NULL);
		n = cluster_fixture_node(sf.f.cluster, "n", 9000);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, 1000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
		charged(&sf, "p0", g, CHARGE_PUBLISHED);
		t = charged(&sf, "placed", g, CHARGE_BOUND);
		t->flags = rows[i].flags | TASK_OURS;
		cluster_task_set_status(sf.f.cluster, t, TASK_BOUND, n);
		assert_string_equal(run(&sf), rows[i].decisions);
		core_fixture_finish(&sf);
	}
}

/* After a limit was lowered, pods with granted quota are revoked until it is kept. */
static void a_lowered_limit_is_kept_beside_what_was_never_granted(void **state)
{
	struct core_fixture sf;
	struct task *t;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 1000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	charged(&sf, "p0", g, CHARGE_PUBLISHED);
	charged(&sf, "p1", g, CHARGE_PUBLISHED);
	t = charged(&sf, "placed", g, CHARGE_BOUND);
	t->flags = TASK_OURS;
	cluster_task_set_status(sf.f.cluster, t, TASK_BOUND,
				cluster_fixture_node(sf.f.cluster, "n", 9000));
	assert_string_equal(run(&sf), "Revoke p1; Withdraw p1");
	core_fixture_finish(&sf);
}

static void a_parent_over_its_limit_counts_what_children_gave_up(void **state)
{
	struct core_fixture sf;
	struct podgroup *a, *b;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "top", NULL, 3000);
	cluster_fixture_queue(sf.f.cluster, "a", "top", 1000);
	cluster_fixture_queue(sf.f.cluster, "b", "top", 9000);
	a = cluster_fixture_podgroup(sf.f.cluster, "ja", "a", 1);
	b = cluster_fixture_podgroup(sf.f.cluster, "jb", "b", 1);
	charged(&sf, "a0", a, CHARGE_UNGATED);
	charged(&sf, "a1", a, CHARGE_UNGATED);
	charged(&sf, "b0", b, CHARGE_UNGATED);
	charged(&sf, "b1", b, CHARGE_UNGATED);
	assert_string_equal(run(&sf), "Revoke a1");
	core_fixture_finish(&sf);
}

static void only_resources_that_are_short_are_revoked(void **state)
{
	struct core_fixture sf;
	struct task *t;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 1000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
	charged(&sf, "p0", g, CHARGE_UNGATED);
	charged(&sf, "p1", g, CHARGE_UNGATED);
	/* The youngest asks for nothing that the queue lacks. */
	t = cluster_fixture_task(sf.f.cluster, "p2", g, 0);
	t->created = 100;
	ledger_charge(sf.f.cluster, t, sf.f.cluster->queues.v[g->queue], CHARGE_UNGATED);
	assert_string_equal(run(&sf), "Revoke p1");
	core_fixture_finish(&sf);
}

static void a_gang_goes_whole(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 2000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 3);
	charged(&sf, "p0", g, CHARGE_UNGATED);
	charged(&sf, "p1", g, CHARGE_UNGATED);
	charged(&sf, "p2", g, CHARGE_UNGATED);
	assert_string_equal(run(&sf), "Revoke p2; Revoke p0; Revoke p1");
	core_fixture_finish(&sf);
}

static void closed_queues_and_short_gangs_hold_nothing(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "closed", NULL, 9000)->state = QUEUE_CLOSED;
	cluster_fixture_queue(sf.f.cluster, "open", NULL, 9000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "closed", 1);
	charged(&sf, "p0", g, CHARGE_PUBLISHED);
	g = cluster_fixture_podgroup(sf.f.cluster, "k", "open", 3);
	charged(&sf, "p1", g, CHARGE_UNGATED);
	charged(&sf, "p2", g, CHARGE_PATCHING);
	g = cluster_fixture_podgroup(sf.f.cluster, "l", "open", 1);
	charged(&sf, "p3", g, CHARGE_UNGATED);
	assert_string_equal(run(&sf), "Revoke p0; Withdraw p0; Revoke p1");
	core_fixture_finish(&sf);
}

static void reservations_time_out(void **state)
{
	static const struct {
		const char *name;
		uint32_t attempts, most; /* before; --reservation-attempts */
		int64_t expected_s;      /* 0: never */
	} rows[] = { { "first attempt", 0, 0, 1800 },
		     { "second attempt", 1, 0, 3600 },
		     { "sixth attempt", 5, 0, 57600 },
		     { "a day at most", 6, 0, 86400 },
		     { "below the limit of attempts", 1, 3, 3600 },
		     { "the last attempt", 2, 3, 0 },
		     { "far beyond the limit", 40, 3, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t, *young;

		unit_row(rows[i].name);
		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, 9000);
		t = charged(&sf, "p0", cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1),
			    CHARGE_PUBLISHED);
		young = charged(&sf, "p1", cluster_fixture_podgroup(sf.f.cluster, "k", "q", 1),
				CHARGE_PUBLISHED);
		t->attempts = rows[i].attempts;
		sf.f.conf->reservation_attempts = rows[i].most;
		sf.f.now += sf.f.conf->reservation_timeout_ns;
		young->published_at++;
		assert_string_equal(run(&sf), "Revoke p0; Withdraw p0");
		assert_true(sf.s->decisions.v[0].retry_at ==
			    (rows[i].expected_s == 0
				     ? MODEL_TIME_NEVER
				     : sf.f.now + rows[i].expected_s * CYCLE_FIXTURE_S));
		assert_int_equal(sf.s->decisions.v[0].attempts, rows[i].attempts + 1);
		session_close(sf.s);
		sf.f.conf->reservation_timeout_ns = 0;
		assert_string_equal(run(&sf), "");
		core_fixture_finish(&sf);
	}
}

/* The pod shows the publication again, because the withdrawal had no effect. */
static void an_attempt_is_counted_once(void **state)
{
	static const struct {
		int64_t waits_s; /* when it is withdrawn again */
		bool sibling;    /* another pod of the PodGroup waits, which needs no gang */
		uint32_t attempts;
	} rows[] = { { 60, false, 1 }, { 0, false, 2 }, { -60, false, 2 }, { 60, true, 2 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct podgroup *g;
		struct task *t, *other;

		unit_row_number(i);
		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, 9000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1);
		t = charged(&sf, "p0", g, CHARGE_PUBLISHED);
		other = cluster_fixture_task(sf.f.cluster, "p1", g, 1000);
		t->attempts = 1;
		sf.f.now += sf.f.conf->reservation_timeout_ns;
		(rows[i].sibling ? other : t)->retry_at =
			sf.f.now + rows[i].waits_s * CYCLE_FIXTURE_S;
		assert_string_equal(run(&sf), "Revoke p0; Withdraw p0");
		assert_int_equal(sf.s->decisions.v[0].attempts, rows[i].attempts);
		if (rows[i].attempts == 1) {
			assert_true(sf.s->decisions.v[0].retry_at == t->retry_at);
		}
		core_fixture_finish(&sf);
	}
}

static void halves_of_gangs_do_not_block_each_other(void **state)
{
	struct core_fixture sf;
	struct task *bound;
	struct podgroup *g;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_fixture_queue(sf.f.cluster, "q", NULL, 3000);
	cluster_fixture_node(sf.f.cluster, "n", 9000);
	g = cluster_fixture_podgroup(sf.f.cluster, "half", "q", 2);
	charged(&sf, "h0", g, CHARGE_UNGATED);
	cycle_fixture_gated(&sf.f, "h1", g, 5000);
	g = cluster_fixture_podgroup(sf.f.cluster, "started", "q", 3);
	charged(&sf, "s0", g, CHARGE_UNGATED);
	bound = charged(&sf, "s1", g, CHARGE_BOUND);
	cluster_task_set_status(sf.f.cluster, bound, TASK_RUNNING, sf.f.cluster->nodes.v[0]);
	cycle_fixture_gated(&sf.f, "s2", g, 5000);
	core_fixture_open(&sf);
	revoke_partial_gangs(sf.s);
	assert_string_equal(core_fixture_decisions(&sf), "Revoke h0; Revoke s0");
	core_fixture_finish(&sf);
}

/* Warnings, all of them. */
static unsigned count_events(const struct core_fixture *sf, const char *reason)
{
	unsigned n = 0;

	for (size_t i = 0; i < sf->s->decisions.n; i++) {
		const struct decision *d = &sf->s->decisions.v[i];

		if (d->kind == DECISION_EVENT && str_streq(d->reason, reason)) {
			assert_true(d->warning);
			n++;
		}
	}
	return n;
}

static void a_member_that_did_not_opt_in_is_named(void **state)
{
	static const struct {
		const char *what;
		int32_t min_member;
		int64_t cpu;
		uint32_t flags; /* of the last member */
		enum task_status status;
		bool in_time;
		unsigned reported;
	} rows[] = {
		{ "it asks for quota", 2, 1000, TASK_OURS, TASK_PENDING, false, 1 },
		{ "nothing has timed out", 2, 1000, TASK_OURS, TASK_PENDING, true, 0 },
		{ "it opted in", 2, 1000, TASK_OURS | TASK_OPTED_IN, TASK_PENDING, false, 0 },
		{ "it is not ours", 2, 1000, 0, TASK_PENDING, false, 0 },
		{ "it has no requests", 2, 0, TASK_OURS, TASK_PENDING, false, 0 },
		{ "it has its node", 2, 1000, TASK_OURS, TASK_RUNNING, false, 0 },
		{ "the gang does without it", 0, 1000, TASK_OURS, TASK_PENDING, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;
		struct podgroup *g;

		core_fixture_init(&sf, NULL);
		cluster_fixture_queue(sf.f.cluster, "q", NULL, 9000);
		cluster_fixture_node(sf.f.cluster, "n", 9000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "q", rows[i].min_member);
		charged(&sf, "p0", g, CHARGE_PUBLISHED);
		t = cluster_fixture_task(sf.f.cluster, "p1", g, rows[i].cpu);
		t->flags = rows[i].flags;
		if (rows[i].status != TASK_PENDING) {
			cluster_task_set_status(sf.f.cluster, t, rows[i].status,
						sf.f.cluster->nodes.v[0]);
		}
		sf.f.now += rows[i].in_time ? 0 : sf.f.conf->reservation_timeout_ns;
		(void)run(&sf);
		if (count_events(&sf, "MemberNotOptedIn") != rows[i].reported) {
			fail_msg("%s", rows[i].what);
		}
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_youngest_without_a_node_pay_for_an_excess),
		cmocka_unit_test(a_pod_that_grew_pays_for_its_growth),
		cmocka_unit_test(pods_placed_by_hand_revoke_nothing),
		cmocka_unit_test(a_lowered_limit_is_kept_beside_what_was_never_granted),
		cmocka_unit_test(a_parent_over_its_limit_counts_what_children_gave_up),
		cmocka_unit_test(only_resources_that_are_short_are_revoked),
		cmocka_unit_test(a_gang_goes_whole),
		cmocka_unit_test(closed_queues_and_short_gangs_hold_nothing),
		cmocka_unit_test(reservations_time_out),
		cmocka_unit_test(an_attempt_is_counted_once),
		cmocka_unit_test(a_member_that_did_not_opt_in_is_named),
		cmocka_unit_test(halves_of_gangs_do_not_block_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
