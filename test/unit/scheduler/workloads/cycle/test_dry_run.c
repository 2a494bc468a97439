#include "scheduler/workloads/cycle/dry_run.h"

#include "lib/unit.h"

#include "base/arena.h"
#include "base/attrs.h"
#include "lib/quota/quota_world.h"
#include "lib/workloads/victims_fixture.h"
#include "scheduler/workloads/cycle/nofit_reason.h"

static const struct row {
	const char *name, *world;
	enum entry_status status;
	const char *reason;
	size_t victims;
} rows[] = {
	{ "it fits", "quota a default cpu nominal=4\nworkload ns/p queue=a cpu=3\n", ENTRY_ASSUMED,
	  "", 0 },
	{ "it waits",
	  "quota a default cpu nominal=4\nworkload ns/p queue=a cpu=3\n"
	  "workload ns/v queue=a cpu=3 holds=default\n",
	  ENTRY_NOMINATED, "WaitingForQuota", 0 },
	{ "it preempts",
	  "queue a within=LowerPriority\nquota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=3 prio=1\nworkload ns/v queue=a cpu=3 holds=default\n",
	  ENTRY_EVICTED, "WaitingForPreemptedWorkloads", 1 },
	{ "its gate is closed",
	  "option preemption_gates=true\nqueue a within=LowerPriority\n"
	  "quota a default cpu nominal=4\n"
	  "workload ns/p queue=a cpu=3 prio=1 preemption-gated\n"
	  "workload ns/v queue=a cpu=3 holds=default\n",
	  ENTRY_GATED, "AdmissionGated", 1 },
	{ "its namespace is not selected",
	  "queue a namespaces=none\nquota a default cpu nominal=4\nworkload ns/p queue=a cpu=3\n",
	  ENTRY_NOT_NOMINATED, "Misconfigured", 0 },
	{ "it asks for more than there ever is",
	  "quota a default cpu nominal=2\nworkload ns/p queue=a cpu=3\n", ENTRY_NOMINATED,
	  "ExceedsMaxQuota", 0 },
};

static void test_its_turn_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(quota_world_finish) struct quota_world w;
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		struct workload *p;
		struct entry e;
		uint64_t before;

		quota_world_init(&w, rows[i].world);
		before = victims_fixture_usage(&w);
		p = quota_world_workload(&w, "p");
		dry_run_workload(&(struct dry_run){ .forest = w.f, .now = w.now, .arena = arena },
				 p, quota_world_id(&w, "a"), &e);
		if (e.status != rows[i].status || e.victims.n != rows[i].victims) {
			fail_msg("%s: status %d, %zu victims", rows[i].name, (int)e.status,
				 e.victims.n);
		}
		assert_string_equal(nofit_reason_name(e.reason), rows[i].reason);
		assert_true(victims_fixture_usage(&w) == before);
		assert_int_equal(p->pending.tried.n, 0);
	}
}

#define TWO_HOLDERS                                                                                \
	"queue a within=LowerPriority\nquota a default cpu nominal=4\n"                            \
	"workload ns/p queue=a cpu=2 prio=1\n"                                                     \
	"workload ns/v queue=a cpu=2 holds=default reserved=-60s\n"                                \
	"workload ns/u queue=a cpu=2 holds=default reserved=-90s\n"

static const char *only_victim(const struct quota_world *w, const struct entry *e)
{
	assert_int_equal(e->victims.n, 1);
	return w->q->workloads.v[e->victims.v[0].workload]->key;
}

/* The newest is gone: the other one is taken, and the room of the first does not count. */
static void test_gone_workloads_are_no_victims(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	uint32_t gone[2];
	struct dry_run t = { .arena = arena, .gone = gone, .ngone = 1 };
	struct workload *p;
	struct entry e;

	(void)state;
	quota_world_init(&w, TWO_HOLDERS);
	p = quota_world_workload(&w, "p");
	t.forest = w.f;
	t.now = w.now;
	gone[0] = quota_world_workload(&w, "v")->id;
	gone[1] = quota_world_workload(&w, "u")->id;
	dry_run_workload(&t, p, quota_world_id(&w, "a"), &e);
	assert_string_equal(only_victim(&w, &e), "ns/u");
	t.ngone = 2;
	dry_run_workload(&t, p, quota_world_id(&w, "a"), &e);
	assert_int_equal(e.victims.n, 0);
	assert_int_equal(e.status, ENTRY_NOMINATED);
}

static void test_labels_and_taints_of_a_flavor(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct workload *p;
	const char *why = "";
	uint32_t cpu;

	(void)state;
	quota_world_init(&w, "flavor gpu taint:gpu=yes:NoSchedule label:type=gpu\n"
			     "flavor plain label:type=plain\n"
			     "quota a plain cpu nominal=9\nquota a gpu cpu nominal=9\n"
			     "quota a lost cpu nominal=9\nflavor lost missing\n"
			     "workload ns/p queue=a cpu=2 pods=3\n"
			     "podset worker pods=2 cpu=1 selector:type=gpu "
			     "toleration:gpu=yes:NoSchedule\n");
	p = quota_world_workload(&w, "p");
	cpu = quota_world_resource(&w, "cpu");
	assert_int_equal(dry_run_asked(w.q, p, quota_world_flavor(&w, "plain"), cpu, arena, &why),
			 6000);
	assert_null(why);
	assert_int_equal(dry_run_asked(w.q, p, quota_world_flavor(&w, "gpu"), cpu, arena, &why),
			 2000);
	assert_null(why);
	assert_int_equal(dry_run_asked(w.q, p, quota_world_flavor(&w, "lost"), cpu, arena, &why),
			 0);
	assert_string_equal(why, "there is no such ResourceFlavor");
}

static void test_why_a_flavor_is_not_for_it(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const char *why = NULL;
	uint32_t cpu;

	(void)state;
	quota_world_init(&w, "flavor gpu taint:gpu=yes:NoSchedule\nflavor plain label:type=plain\n"
			     "quota a plain cpu nominal=9\nquota a gpu cpu nominal=9\n"
			     "workload ns/p queue=a cpu=2 selector:type=gpu\n");
	cpu = quota_world_resource(&w, "cpu");
	assert_int_equal(dry_run_asked(w.q, quota_world_workload(&w, "p"),
				       quota_world_flavor(&w, "gpu"), cpu, arena, &why),
			 0);
	assert_string_equal(why, "its pods do not tolerate the taint gpu");
	assert_int_equal(dry_run_asked(w.q, quota_world_workload(&w, "p"),
				       quota_world_flavor(&w, "plain"), cpu, arena, &why),
			 0);
	assert_string_equal(why, "its pods have a node selector or affinity for other labels");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_its_turn_alone),
		cmocka_unit_test(test_gone_workloads_are_no_victims),
		cmocka_unit_test(test_labels_and_taints_of_a_flavor),
		cmocka_unit_test(test_why_a_flavor_is_not_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
