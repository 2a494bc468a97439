#include "scheduler/pods/actions/allocate_gate.h"

#include <stdio.h>

#include "lib/pods/core_fixture.h"
#include "lib/unit.h"

static void which_gates_need_no_quota(void **state)
{
	static const struct {
		const char *what;
		uint32_t add, remove;
		int64_t cpu;
		bool closed, expected;
	} rows[] = {
		{ "opted in", 0, 0, 100, false, false },
		{ "annotation gone", 0, TASK_OPTED_IN, 100, false, true },
		{ "annotation gone, closed queue", 0, TASK_OPTED_IN, 100, true, true },
		{ "best effort", 0, 0, 0, false, true },
		{ "best effort, closed queue", 0, 0, 0, true, false },
		{ "best effort, other gate", TASK_FOREIGN_GATE, 0, 0, false, false },
		{ "under way", TASK_UNGATING, 0, 0, false, false },
		{ "parked", TASK_PARKED, 0, 0, false, false },
		{ "no gate", 0, TASK_OUR_GATE, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct core_fixture sf;
		struct allocate_run run = { .reserves = true };
		struct queue *q;
		struct task *t;

		print_message("%s\n", rows[i].what);
		core_fixture_init(&sf, NULL);
		q = cluster_fixture_queue(sf.f.cluster, "q", NULL, 1000);
		q->state = rows[i].closed ? QUEUE_CLOSED : QUEUE_OPEN;
		t = cycle_fixture_gated(&sf.f, "p",
					cluster_fixture_podgroup(sf.f.cluster, "j", "q", 1),
					rows[i].cpu);
		t->flags = (t->flags | rows[i].add) & ~rows[i].remove;
		core_fixture_open(&sf);
		run.session = sf.s;
		assert_int_equal(allocate_gate_remove_uncharged(&run, q, t), rows[i].expected);
		assert_string_equal(core_fixture_decisions(&sf),
				    rows[i].expected ? "Ungate p uncharged" : "");
		run.reserves = false;
		assert_false(allocate_gate_remove_uncharged(&run, q, t));
		core_fixture_finish(&sf);
	}
}

struct gate_case {
	const char *what;
	int64_t limit;
	int32_t min;
	const char *pods; /* one letter each: s(mall 1000), b(ig 3000) */
	const char *expected;
};

static void run_case(const struct gate_case *row)
{
	struct core_fixture sf;
	struct cluster *c;
	struct allocate_run run = { .reserves = true };
	struct allocate_work w = { .need = { 0 } };
	const struct task *reserve[8], *place[8];
	struct podgroup *g;

	print_message("%s\n", row->what);
	core_fixture_init(&sf, NULL);
	c = sf.f.cluster;
	w.queue = cluster_fixture_queue(c, "q", NULL, row->limit);
	w.podgroup = g = cluster_fixture_podgroup(c, "j", "q", row->min);
	w.reserve.v = reserve;
	w.place.v = place;
	for (size_t i = 0; row->pods[i] != '\0'; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p%zu", i);
		reserve[w.reserve.n++] =
			cycle_fixture_gated(&sf.f, name, g, row->pods[i] == 'b' ? 3000 : 1000);
	}
	core_fixture_open(&sf);
	run.session = sf.s;
	run.refused = arena_zero(sf.s->arena, c->queues.n, sizeof(*run.refused));
	gang_need(sf.s, g, GANG_RESERVED, &w.need);
	/* Never said of a PodGroup that then gets something. */
	if (allocate_gate_has_no_room(&run, &w)) {
		assert_string_equal(row->expected, "");
	}
	while (allocate_gate_step(&run, &w)) {
	}
	assert_int_equal(w.reserve.next, w.reserve.n);
	assert_string_equal(core_fixture_decisions(&sf), row->expected);
	core_fixture_finish(&sf);
}

static void gangs_and_single_pods(void **state)
{
	static const struct gate_case rows[] = {
		{ "single pods as far as quota goes", 2500, 0, "sss", "Ungate p0; Ungate p1" },
		{ "a gang that fits", 2500, 2, "ss", "Ungate p0; Ungate p1" },
		{ "a gang that does not", 1500, 2, "ss", "" },
		{ "the minimum, then single pods", 3500, 2, "ssss",
		  "Ungate p0; Ungate p1; Ungate p2" },
		{ "a smaller member may do", 2500, 2, "bss", "Ungate p1; Ungate p2" },
		{ "a member that fits first, not last", 4000, 2, "bss", "Ungate p0; Ungate p1" },
		{ "no limit", -1, 3, "bbb", "Ungate p0; Ungate p1; Ungate p2" },
		{ "nothing fits at all", 500, 0, "sbs", "" },
		{ "fewer pods than the gang needs", -1, 4, "sss", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		run_case(&rows[i]);
	}
}

static void the_drain_ungates_all(void **state)
{
	struct core_fixture sf;

	(void)state;
	core_fixture_init(&sf, NULL);
	cycle_fixture_gated(&sf.f, "alone", NULL, 100);
	cycle_fixture_gated(&sf.f, "lost",
			    cluster_fixture_podgroup(sf.f.cluster, "j", "missing", 1), 100);
	cluster_fixture_task(sf.f.cluster, "plain", NULL, 100);
	core_fixture_open(&sf);
	allocate_gate_drain(sf.s);
	assert_string_equal(core_fixture_decisions(&sf),
			    "Ungate alone uncharged; Ungate lost uncharged");
	core_fixture_finish(&sf);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_gates_need_no_quota),
		cmocka_unit_test(gangs_and_single_pods),
		cmocka_unit_test(the_drain_ungates_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
