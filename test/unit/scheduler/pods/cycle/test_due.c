#include "scheduler/pods/cycle/due.h"

#include "base/strbuf.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

#define NOW CYCLE_FIXTURE_START

static struct cycle_fixture f;
static struct queue *q;
static struct podgroup *runs, *waits;

/* Nothing is left to be decided: "runs" has its pod on a node, "waits" has one without. */
static int setup(void **state)
{
	struct task *t;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "p", NULL, -1);
	q = cluster_fixture_queue(f.cluster, "q", "p", -1);
	waits = cluster_fixture_podgroup(f.cluster, "waits", "q", 1);
	runs = cluster_fixture_podgroup(f.cluster, "runs", "q", 1);
	cluster_fixture_task(f.cluster, "w", waits, 1000);
	t = cluster_fixture_task(f.cluster, "r", runs, 1000);
	cluster_task_set_status(f.cluster, t, TASK_RUNNING,
				cluster_fixture_node(f.cluster, "n", 1000));
	ledger_charge(f.cluster, t, q, CHARGE_BOUND);
	cluster_podgroup_set_phase(f.cluster, runs, PODGROUP_RUNNING);
	q->scan = (struct queue_scan){ .done = true,
				       .podgroups_gen = q->podgroups_gen,
				       .chain_gen = cluster_chain_gen(f.cluster, q),
				       .queues_gen = f.cluster->queues_gen,
				       .nodes_gen = f.cluster->nodes_gen,
				       .demand_gen = f.cluster->demand_gen,
				       .timer_at = NOW + 1 };
	cluster_podgroup_drop_changed(f.cluster, q, q->changed.n);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_null(cluster_verify(f.cluster));
	cycle_fixture_finish(&f);
	return 0;
}

static enum due_part part(void)
{
	return due_part_of(f.cluster, q, NOW);
}

static void nothing_is_due_without_a_change(void **state)
{
	(void)state;
	assert_int_equal(part(), DUE_NOTHING);
	/* These matter only where the last scan depended on them. */
	f.cluster->nodes_gen++;
	f.cluster->demand_gen++;
	assert_int_equal(part(), DUE_NOTHING);
}

static void what_changed_is_due_alone(void **state)
{
	(void)state;
	cluster_podgroup_changed(f.cluster, runs);
	assert_int_equal(part(), DUE_CHANGED);
}

static void whatever_may_give_room_wakes_those_that_wait(void **state)
{
	uint64_t gen = f.cluster->nodes_gen;

	(void)state;
	q->scan.waits_nodes = true;
	assert_int_equal(part(), DUE_NOTHING);
	f.cluster->nodes_gen++;
	assert_int_equal(part(), DUE_OPEN);
	f.cluster->nodes_gen = gen;
	q->scan.waits_podgroups = true;
	assert_int_equal(part(), DUE_NOTHING);
	f.cluster->demand_gen++;
	assert_int_equal(part(), DUE_OPEN);
	q->scan.waits_podgroups = false;
	assert_int_equal(due_part_of(f.cluster, q, NOW + 1), DUE_OPEN);
	/* A charge shrinks in a queue above. */
	f.cluster->queues.v[q->parent]->room_gen++;
	assert_int_equal(part(), DUE_OPEN);
}

static void all_is_due_when_queues_change_and_at_first(void **state)
{
	(void)state;
	f.cluster->queues_gen++;
	assert_int_equal(part(), DUE_ALL);
	f.cluster->queues_gen--;
	q->scan.done = false;
	assert_int_equal(part(), DUE_ALL);
}

/* "waits runs": the PodGroups of q that a session looks at. */
static const char *listed(bool all, struct core_fixture *sf, struct strbuf *out)
{
	const struct podgroup_list *l;

	arena_reset(sf->s->arena);
	due_list(sf->s, f.cluster, NOW, all);
	session_open(sf->s, f.cluster, NOW);
	l = session_podgroups(sf->s, q);
	strbuf_reset(out);
	strbuf_add_c(out, "");
	for (size_t i = 0; i < l->n; i++) {
		strbuf_printf(out, "%s%s", i == 0 ? "" : " ", l->v[i]->name);
		assert_true(session_podgroup_is_due(sf->s, l->v[i]));
	}
	return out->p;
}

static void the_list_has_each_in_the_order_of_the_queue(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	assert_string_equal(listed(false, &sf, &out), "");
	assert_string_equal(listed(true, &sf, &out), "waits runs");
	cluster_podgroup_changed(f.cluster, runs);
	assert_string_equal(listed(false, &sf, &out), "runs");
	assert_false(session_podgroup_is_due(sf.s, waits));
	/* It is open, and changed besides. */
	cluster_podgroup_changed(f.cluster, waits);
	q->scan.timer_at = NOW;
	assert_string_equal(listed(false, &sf, &out), "waits runs");
	/* One that left is not listed by the queue that it left. */
	cluster_podgroup_set_queue(f.cluster, runs, STR_LIT("p"));
	assert_string_equal(listed(false, &sf, &out), "waits");
	core_fixture_finish(&sf);
}

/* A gang that is held has no room but what each session counts for it. */
static void held_gangs_are_listed_with_any_other(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	q->scan.holds = true;
	/* The other queue has never been looked at. */
	assert_string_equal(listed(false, &sf, &out), "waits");
	cluster_podgroup_changed(f.cluster, runs);
	assert_string_equal(listed(false, &sf, &out), "waits runs");
	core_fixture_finish(&sf);
}

static void those_not_looked_at_go_on_waiting(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct core_fixture sf;
	struct queue_scan scan;

	(void)state;
	core_fixture_init(&sf, NULL);
	q->scan.waits_nodes = q->scan.waits_podgroups = true;
	q->scan.timer_at = NOW + 7;
	cluster_podgroup_changed(f.cluster, runs);
	(void)listed(false, &sf, &out);
	session_wait_until(sf.s, q, NOW + 9);
	due_scan(sf.s, q, &scan);
	assert_true(scan.waits_nodes && scan.waits_podgroups && scan.done && !scan.holds);
	assert_true(scan.timer_at == NOW + 7);
	assert_int_equal(scan.changed, 1);
	/* All were looked at: they wait for nothing any more. */
	q->scan.timer_at = NOW;
	(void)listed(false, &sf, &out);
	session_note_held(sf.s, waits);
	due_scan(sf.s, q, &scan);
	assert_true(!scan.waits_nodes && !scan.waits_podgroups && scan.holds);
	assert_true(scan.timer_at == INT64_MAX);
	core_fixture_finish(&sf);
}

/* Its PodGroup was moved to a queue that had no room: its charge is to follow when there is some.
 */
static void a_charge_that_was_refused_waits_for_room(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf out = STRBUF_INIT;
	struct task *r = f.cluster->tasks.v[runs->tasks.v[0]];
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	cluster_task_set_refused(f.cluster, r, q->id);
	cluster_podgroup_drop_changed(f.cluster, q, q->changed.n);
	q->scan.podgroups_gen = q->podgroups_gen;
	assert_string_equal(listed(false, &sf, &out), "");
	q->room_gen++;
	assert_string_equal(listed(false, &sf, &out), "waits runs");
	cluster_task_set_refused(f.cluster, r, MODEL_NONE);
	cluster_podgroup_drop_changed(f.cluster, q, q->changed.n);
	assert_string_equal(listed(false, &sf, &out), "waits");
	core_fixture_finish(&sf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_due_without_a_change),
		TEST(what_changed_is_due_alone),
		TEST(whatever_may_give_room_wakes_those_that_wait),
		TEST(all_is_due_when_queues_change_and_at_first),
		TEST(the_list_has_each_in_the_order_of_the_queue),
		TEST(held_gangs_are_listed_with_any_other),
		TEST(those_not_looked_at_go_on_waiting),
		TEST(a_charge_that_was_refused_waits_for_room),
	};

	return cmocka_run_group_tests_name("due", tests, NULL, NULL);
}
