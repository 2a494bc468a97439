#include "scheduler/pods/cycle/moves.h"

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/core_fixture.h"
#include "lib/pods/ledger_verify.h"
#include "lib/unit.h"
#include "scheduler/pods/cycle/cycle.h"
#include "scheduler/pods/ledger/ledger.h"

/* A pod with 1 cpu that is charged to one queue while its PodGroup names another. */
static struct task *charged(struct core_fixture *sf, const char *name, const char *queue,
			    struct podgroup *g, enum charge_state state)
{
	struct cluster *c = sf->f.cluster;
	struct task *t = cluster_fixture_task(c, name, g, 1000);

	t->flags |= TASK_OPTED_IN;
	t->created = (int64_t)t->id;
	if (state == CHARGE_PUBLISHED) {
		t->cond = POD_COND_UNSCHEDULABLE;
		t->published_at = sf->f.now;
	}
	ledger_charge(c, t, queue_find(c, str_of(queue)), state);
	if (state == CHARGE_BOUND) {
		cluster_task_set_status(c, t, TASK_RUNNING, cluster_node_get(c, STR_LIT("node")));
	}
	return t;
}

static const char *run(struct core_fixture *sf)
{
	core_fixture_open(sf);
	moves_run(sf->s);
	return core_fixture_decisions(sf);
}

/* Queues a and b lie in top; b allows 2 cpu, one of which is taken. */
static void begin(struct core_fixture *sf, int64_t top)
{
	struct cluster *c;

	core_fixture_init(sf, NULL);
	c = sf->f.cluster;
	cluster_fixture_queue(c, "top", NULL, top);
	cluster_fixture_queue(c, "a", "top", 9000);
	cluster_fixture_queue(c, "b", "top", 2000);
	cluster_fixture_queue(c, "other", NULL, 9000);
	charged(sf, "victim", "b", cluster_fixture_podgroup(c, "v", "b", 1), CHARGE_PUBLISHED);
}

static void a_charge_follows_within_the_limits(void **state)
{
	static const struct {
		const char *from, *to;
		int64_t top;
		enum charge_state charge;
		unsigned pods;
		const char *expected;
	} rows[] = {
		{ "a", "b", 9000, CHARGE_BOUND, 1, "Move p0" },
		{ "a", "b", 9000, CHARGE_BOUND, 2, "Move p0; Stay p1" },
		{ "a", "b", 9000, CHARGE_PUBLISHED, 1, "Move p0" },
		{ "a", "b", 9000, CHARGE_UNGATED, 2, "Move p0; Revoke p1" },
		{ "a", "b", 9000, CHARGE_PUBLISHED, 2, "Move p0; Revoke p1; Withdraw p1" },
		/* In flight: its outcome comes first. */
		{ "a", "b", 9000, CHARGE_PATCHING, 1, "" },
		{ "a", "b", 9000, CHARGE_ASSUMED, 1, "" },
		{ "a", "b", 9000, CHARGE_WITHDRAWING, 1, "" },
		/* The common ancestor is full, and carries the charge already. */
		{ "a", "b", 2000, CHARGE_BOUND, 1, "Move p0" },
		/* From elsewhere it would carry one more. */
		{ "other", "b", 1000, CHARGE_BOUND, 1, "Stay p0" },
		{ "other", "b", 2000, CHARGE_BOUND, 1, "Move p0" },
		{ "b", "b", 9000, CHARGE_BOUND, 2, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct podgroup *g;

		unit_row(rows[i].from);
		begin(&sf, rows[i].top);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", rows[i].to, 1);
		charged(&sf, "p0", rows[i].from, g, rows[i].charge);
		if (rows[i].pods > 1) {
			charged(&sf, "p1", rows[i].from, g, rows[i].charge);
		}
		assert_string_equal(run(&sf), rows[i].expected);
		core_fixture_finish(&sf);
	}
}

/* The first event; NULL: none. */
static const struct decision *event_of(const struct core_fixture *sf)
{
	const struct decisions *list = session_decisions(sf->s);

	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i].kind == DECISION_EVENT) {
			return &list->v[i];
		}
	}
	return NULL;
}

static void expect_refusal(const struct core_fixture *sf, const char *message)
{
	const struct decision *d = event_of(sf);

	assert_non_null(d);
	assert_true(d->warning);
	assert_string_equal(d->reason, "QuotaMoveRefused");
	assert_string_equal(d->message, message);
}

static void queues_that_take_no_pods_take_no_charges(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	begin(&sf, 9000);
	queue_find(sf.f.cluster, STR_LIT("b"))->state = QUEUE_CLOSED;
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "b", 1);
	charged(&sf, "p0", "a", g, CHARGE_BOUND);
	assert_string_equal(run(&sf), "Stay p0");
	expect_refusal(&sf, "the PodGroup names queue b now, which accepts no pods: it is not "
			    "open: its quota stays charged to queue a");
	core_fixture_finish(&sf);
}

/* The text names the object to look at: a pod without a PodGroup names its queue itself. */
static void a_pod_alone_names_its_queue(void **state)
{
	static const struct {
		enum podgroup_kind kind;
		const char *namer;
	} rows[] = { { PODGROUP_VOLCANO, "PodGroup" }, { PODGROUP_ALONE, "pod" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(xmalloc_freep)
		char *text = xmalloc_printf("the %s names queue b now, which has no room for this "
					    "pod",
					    rows[i].namer);
		struct core_fixture sf;
		struct podgroup *g;

		unit_row(rows[i].namer);
		begin(&sf, 9000);
		g = cluster_fixture_podgroup(sf.f.cluster, "j", "b", 1);
		g->kind = rows[i].kind;
		charged(&sf, "p0", "a", g, CHARGE_UNGATED);
		charged(&sf, "p1", "a", g, CHARGE_UNGATED);
		assert_string_equal(run(&sf), "Move p0; Revoke p1");
		assert_string_equal(event_of(&sf)->reason, "QuotaRevoked");
		assert_string_equal(event_of(&sf)->message, text);
		core_fixture_finish(&sf);
	}
}

static void the_rest_of_a_gang_is_revoked_with_it(void **state)
{
	struct core_fixture sf;
	struct podgroup *g;

	(void)state;
	begin(&sf, 9000);
	g = cluster_fixture_podgroup(sf.f.cluster, "j", "b", 2);
	charged(&sf, "p0", "a", g, CHARGE_UNGATED);
	charged(&sf, "p1", "a", g, CHARGE_UNGATED);
	assert_string_equal(run(&sf), "Move p0; Revoke p1; Revoke p0");
	core_fixture_finish(&sf);
}

static void a_refusal_is_reported_once(void **state)
{
	struct core_fixture sf;
	struct task *t;

	(void)state;
	begin(&sf, 9000);
	charged(&sf, "p0", "b", cluster_fixture_podgroup(sf.f.cluster, "w", "b", 1), CHARGE_BOUND);
	t = charged(&sf, "p1", "a", cluster_fixture_podgroup(sf.f.cluster, "j", "b", 1),
		    CHARGE_BOUND);
	assert_string_equal(run(&sf), "Stay p1");
	expect_refusal(&sf, "the PodGroup names queue b now, which has no room for this pod (1 cpu "
			    "requested, 0 of 2 left in queue b): its quota stays charged to queue "
			    "a");
	cycle_assume(sf.f.cluster, session_decisions(sf.s), sf.f.now);
	assert_int_equal(t->refused_queue, queue_find(sf.f.cluster, STR_LIT("b"))->id);
	assert_null(ledger_verify(sf.f.cluster));
	session_close(sf.s);
	assert_string_equal(run(&sf), "");
	core_fixture_finish(&sf);
}

static void growth_beyond_a_limit_is_reported_once(void **state)
{
	static const struct {
		int64_t top;
		uint32_t flags;
		enum charge_state charge;
		const char *expected;
	} rows[] = {
		{ 9000, TASK_GREW, CHARGE_BOUND, "" },
		{ 2000, TASK_GREW, CHARGE_BOUND, "Stay p0" },
		{ 2000, 0, CHARGE_BOUND, "" }, /* the limit was lowered */
		{ 2000, TASK_GREW, CHARGE_PUBLISHED, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct task *t;

		unit_row_number(i);
		begin(&sf, rows[i].top);
		charged(&sf, "q0", "a", cluster_fixture_podgroup(sf.f.cluster, "w", "a", 1),
			CHARGE_BOUND);
		t = charged(&sf, "p0", "a", cluster_fixture_podgroup(sf.f.cluster, "j", "a", 1),
			    rows[i].charge);
		t->flags |= rows[i].flags;
		assert_string_equal(run(&sf), rows[i].expected);
		assert_int_equal(event_of(&sf) != NULL, rows[i].expected[0] != '\0');
		if (event_of(&sf) != NULL) {
			assert_true(event_of(&sf)->warning);
			assert_string_equal(event_of(&sf)->reason, "ResizedBeyondQuota");
			assert_non_null(
				strstr(event_of(&sf)->message, "queue top is over its limit"));
		}
		cycle_assume(sf.f.cluster, session_decisions(sf.s), sf.f.now);
		session_close(sf.s);
		assert_string_equal(run(&sf), "");
		core_fixture_finish(&sf);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_charge_follows_within_the_limits),
		cmocka_unit_test(queues_that_take_no_pods_take_no_charges),
		cmocka_unit_test(a_pod_alone_names_its_queue),
		cmocka_unit_test(the_rest_of_a_gang_is_revoked_with_it),
		cmocka_unit_test(a_refusal_is_reported_once),
		cmocka_unit_test(growth_beyond_a_limit_is_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
