#include "scheduler/pods/cycle/cycle.h"

#include <string.h>

#include "base/err.h"
#include "lib/pods/cycle_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/session/session.h"

static void gated_pod_is_ungated_then_bound(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	cluster_fixture_node(f.cluster, "n1", 4000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 1);
	cycle_fixture_gated(&f, "p1", g, 1000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate p1; JobPhase j Inqueue");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "Bind p1 n1; JobCondition j Scheduled");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f), "JobPhase j Running");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_finish(&f);
}

static void a_gang_without_nodes_is_published_once(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 2);
	cycle_fixture_gated(&f, "p1", g, 1000);
	cycle_fixture_gated(&f, "p2", g, 1000);
	cycle_fixture_gated(&f, "p3", g, 1000);
	assert_string_equal(cycle_fixture_run(&f), "Ungate p1; Ungate p2; JobPhase j Inqueue");
	cycle_fixture_acknowledge(&f);
	assert_string_equal(cycle_fixture_run(&f),
			    "JobCondition j Unschedulable; Publish p1; Publish p2");
	assert_string_equal(cycle_fixture_run(&f), "");
	cluster_fixture_node(f.cluster, "n1", 4000);
	assert_string_equal(cycle_fixture_run(&f), "Bind p1 n1; Bind p2 n1; "
						   "JobCondition j Scheduled");
	cycle_fixture_finish(&f);
}

static void the_next_timer_is_the_earliest(void **state)
{
	struct cycle_fixture f;
	struct podgroup *g;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	g = cluster_fixture_podgroup(f.cluster, "j", "q", 1);
	cycle_fixture_gated(&f, "p1", g, 1000)->retry_at = f.now + 5 * CYCLE_FIXTURE_S;
	cycle_fixture_gated(&f, "p2", g, 1000)->retry_at = f.now + 3 * CYCLE_FIXTURE_S;
	assert_string_equal(cycle_fixture_run(&f), "JobPhase j Inqueue");
	assert_string_equal(cycle_fixture_run(&f), "");
	assert_true(cycle_last_stats(f.cycle).next_timer ==
		    CYCLE_FIXTURE_START + 3 * CYCLE_FIXTURE_S);
	f.now = CYCLE_FIXTURE_START + 3 * CYCLE_FIXTURE_S;
	assert_string_equal(cycle_fixture_run(&f), "Ungate p2");
	cycle_fixture_finish(&f);
}

static void unknown_actions_are_refused(void **state)
{
	char bad[] = "frobnicate";
	struct conf_action action = { .name = bad };
	struct sched_conf conf = { .actions = &action, .nactions = 1 };
	struct err err = ERR_INIT;
	struct cycle *c = NULL;

	(void)state;
	assert_int_equal(cycle_create(&conf, &c, &err), -ERR_INVALID);
	assert_null(c);
	assert_non_null(strstr(err.text, bad));
}

static void on_phase(void *ctx, const char *name, bool begin)
{
	strbuf_printf(ctx, "%s%s", begin ? "(" : ")", begin ? name : "");
}

static void phases_are_traced(void **state)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const struct cycle_trace trace = { on_phase, &text };
	struct cycle_fixture f;

	(void)state;
	cycle_fixture_init(&f, NULL);
	cycle_run(f.cycle, f.cluster, f.now, &trace);
	assert_string_equal(text.p, "(open)(revoke)(enqueue)(allocate)(backfill)(status)");
	assert_true(cycle_last_stats(f.cycle).has_quota_plugin);
	cycle_fixture_finish(&f);
}

static void the_session_of_a_cycle_can_be_read(void **state)
{
	struct cycle_fixture f;
	struct task *t;

	(void)state;
	cycle_fixture_init(&f, NULL);
	assert_null(cycle_last_session(f.cycle));
	cluster_fixture_queue(f.cluster, "q", NULL, 2000);
	t = cycle_fixture_gated(&f, "p1", cluster_fixture_podgroup(f.cluster, "j", "q", 1), 1000);
	cycle_run(f.cycle, f.cluster, f.now, NULL);
	assert_int_equal(session_task_charge(cycle_last_session(f.cycle), t), CHARGE_PATCHING);
	assert_int_equal(t->charge, CHARGE_NONE);
	(void)cycle_fixture_run(&f);
	(void)cycle_fixture_run(&f);
	cycle_run(f.cycle, f.cluster, f.now, NULL);
	assert_null(cycle_last_session(f.cycle)); /* nothing had changed */
	cycle_fixture_finish(&f);
}

/* No queue lists them, so none is due for them. */
static void stranded_pods_are_withdrawn_though_no_queue_changed(void **state)
{
	struct cycle_fixture f;
	struct task *waits, *t;

	(void)state;
	cycle_fixture_init(&f, NULL);
	(void)cycle_fixture_run(&f);
	waits = cluster_fixture_task(f.cluster, "waits", NULL, 1000);
	waits->flags |= TASK_OPTED_IN;
	waits->cond = POD_COND_OTHER;
	waits->write_failures = 1;
	waits->retry_at = f.now + 2 * CYCLE_FIXTURE_S;
	cluster_task_note_stranded(f.cluster, waits);
	assert_string_equal(cycle_fixture_run(&f), "");
	assert_true(cycle_last_stats(f.cycle).next_timer == waits->retry_at);
	t = cluster_fixture_task(f.cluster, "p1", NULL, 1000);
	t->flags |= TASK_OPTED_IN;
	t->cond = POD_COND_OTHER;
	cluster_task_note_stranded(f.cluster, t);
	/* The cycle that the other one causes respects the backoff, and keeps its timer. */
	assert_string_equal(cycle_fixture_run(&f), "Withdraw p1");
	assert_true(cycle_last_stats(f.cycle).next_timer == waits->retry_at);
	f.now = waits->retry_at;
	assert_string_equal(cycle_fixture_run(&f), "Withdraw waits");
	assert_string_equal(cycle_fixture_run(&f), "");
	cycle_fixture_finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gated_pod_is_ungated_then_bound),
		cmocka_unit_test(a_gang_without_nodes_is_published_once),
		cmocka_unit_test(the_next_timer_is_the_earliest),
		cmocka_unit_test(stranded_pods_are_withdrawn_though_no_queue_changed),
		cmocka_unit_test(unknown_actions_are_refused),
		cmocka_unit_test(phases_are_traced),
		cmocka_unit_test(the_session_of_a_cycle_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
