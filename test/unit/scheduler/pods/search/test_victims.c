#include "scheduler/pods/search/victims.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/xmalloc.h"
#include "lib/pods/core_fixture.h"
#include "lib/unit.h"
#include "scheduler/pods/ledger/ledger.h"

static const char conf[] = "actions: preempt\n"
			   "tiers:\n"
			   "- plugins:\n"
			   "  - name: priority\n"
			   "  - name: conformance\n"
			   "- plugins:\n"
			   "  - name: predicates\n"
			   "  - name: capacity\n"
			   "    enableHierarchy: true\n";

struct fixture {
	struct core_fixture core;
	struct cluster *c;
	struct queue *q;
	struct victims *v;
};

static void start(struct fixture *f)
{
	core_fixture_init(&f->core, conf);
	f->c = f->core.f.cluster;
	f->q = cluster_fixture_queue(f->c, "q", NULL, -1);
	f->v = NULL;
}

static void finish(struct fixture *f)
{
	victims_finish(f->v);
	core_fixture_finish(&f->core);
}

static struct podgroup *podgroup(struct fixture *f, const char *name, int32_t priority)
{
	struct podgroup *g = cluster_fixture_podgroup(f->c, name, "q", 1);

	g->priority = priority;
	return g;
}

static struct task *running(struct fixture *f, const char *name, struct podgroup *g, int64_t cpu,
			    struct node *n)
{
	struct task *t = cluster_fixture_task(f->c, name, g, cpu);

	t->flags |= TASK_PREEMPTABLE;
	ledger_charge(f->c, t, f->c->queues.v[g->queue], CHARGE_BOUND);
	cluster_task_set_status(f->c, t, TASK_RUNNING, n);
	return t;
}

static void open_queue(struct fixture *f)
{
	core_fixture_open(&f->core);
	f->v = victims_of_queue(f->core.s, f->q);
}

/* "node: Evict ..." */
static const char *search(struct fixture *f, const struct task *t)
{
	static char text[300];
	struct statement st = statement_begin(f->core.s);
	const struct node *n = victims_make_room(f->v, f->q, t);

	snprintf(text, sizeof(text), "%s: %s", n == NULL ? "none" : n->name,
		 core_fixture_decisions(&f->core));
	statement_discard(f->core.s, st);
	victims_restored(f->v);
	return text;
}

static void the_least_harm(void **state)
{
	struct podgroup *low, *mid, *high;
	struct node *a, *b, *c;
	struct fixture f;
	struct task *t;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	mid = podgroup(&f, "mid", 5);
	high = podgroup(&f, "high", 9);
	a = cluster_fixture_node(f.c, "a", 2000);
	b = cluster_fixture_node(f.c, "b", 2000);
	c = cluster_fixture_node(f.c, "c", 2000);
	running(&f, "a1", mid, 2000, a);
	running(&f, "b1", low, 1000, b);
	running(&f, "b2", low, 1000, b);
	running(&f, "c1", high, 2000, c);
	t = cluster_fixture_task(f.c, "t", high, 2000);
	open_queue(&f);
	/* Two of the lowest priority rather than one of a higher one. */
	assert_string_equal(search(&f, t), "b: Evict b2; Evict b1");
	finish(&f);
}

static void what_protects_a_pod(void **state)
{
	static const struct {
		const char *what;
		uint32_t clear, set;
		int32_t priority;
		bool evicted;
	} rows[] = {
		{ "nothing", 0, 0, 1, true },
		{ "preemptable: false", TASK_PREEMPTABLE, 0, 1, false },
		{ "conformance", 0, TASK_CRITICAL, 1, false },
		{ "an equal priority", 0, 0, 9, false },
		{ "parked", 0, TASK_PARKED, 1, false },
		{ "another scheduler", TASK_OURS, 0, 1, false },
		{ "gated for another scheduler", 0, TASK_GATE_ONLY | TASK_OPTED_IN, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup *low, *high;
		struct fixture f;
		struct task *t, *victim;

		print_message("%s\n", rows[i].what);
		start(&f);
		low = podgroup(&f, "low", rows[i].priority);
		high = podgroup(&f, "high", 9);
		victim = running(&f, "p", low, 1000, cluster_fixture_node(f.c, "n", 1000));
		victim->flags = (victim->flags & ~rows[i].clear) | rows[i].set;
		t = cluster_fixture_task(f.c, "t", high, 1000);
		open_queue(&f);
		assert_string_equal(search(&f, t), rows[i].evicted ? "n: Evict p" : "none: ");
		finish(&f);
	}
}

/* The small one comes first in the order of victims, but the large one makes room alone. */
static void superfluous_victims_are_spared(void **state)
{
	struct podgroup *low, *high;
	struct fixture f;
	struct node *n;
	struct task *t;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	high = podgroup(&f, "high", 9);
	n = cluster_fixture_node(f.c, "n", 4000);
	running(&f, "large", low, 3000, n);
	running(&f, "small", low, 1000, n)->priority = -5;
	t = cluster_fixture_task(f.c, "t", high, 3000);
	open_queue(&f);
	assert_string_equal(search(&f, t), "n: Evict large");
	finish(&f);
}

/* Of equal priority, on one node and between nodes. */
static void the_cheaper_goes_first(void **state)
{
	static const struct {
		int32_t a, b; /* costs of the victims */
		bool apart;   /* on nodes of their own */
		const char *chosen;
	} rows[] = {
		{ 1, 2, false, "n: Evict a" },  { 2, 1, false, "n: Evict b" },
		{ -1, 0, false, "n: Evict a" }, { 1, 2, true, "n: Evict a" },
		{ 2, 1, true, "m: Evict b" },   { 0, -1, true, "m: Evict b" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct podgroup *low, *high;
		struct fixture f;
		struct node *n;
		struct task *t;

		start(&f);
		low = podgroup(&f, "low", 1);
		high = podgroup(&f, "high", 9);
		n = cluster_fixture_node(f.c, "n", rows[i].apart ? 1000 : 2000);
		running(&f, "a", low, 1000, n)->deletion_cost = rows[i].a;
		n = rows[i].apart ? cluster_fixture_node(f.c, "m", 1000) : n;
		running(&f, "b", low, 1000, n)->deletion_cost = rows[i].b;
		t = cluster_fixture_task(f.c, "t", high, 1000);
		open_queue(&f);
		assert_string_equal(search(&f, t), rows[i].chosen);
		finish(&f);
	}
}

/* Resources would do, the port does not: it belongs to a pod that may not be evicted. */
static void no_eviction_where_a_predicate_refuses(void **state)
{
	struct podgroup *low, *high;
	struct fixture f;
	struct node *n;
	struct task *t;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	high = podgroup(&f, "high", 9);
	n = cluster_fixture_node(f.c, "n", 1000);
	n->allocatable.v[RES_PODS] = 1;
	running(&f, "p", low, 1000, n);
	cluster_task_set_status(f.c, cluster_fixture_task(f.c, "system", NULL, 0), TASK_RUNNING, n);
	t = cluster_fixture_task(f.c, "t", high, 1000);
	open_queue(&f);
	assert_string_equal(search(&f, t), "none: ");
	finish(&f);
}

/* A PodGroup for which pods were evicted loses none to the one that they belonged to, nor to others
 * that lost pods to that one. */
static void no_evictions_in_turn(void **state)
{
	struct podgroup *low, *mid, *high;
	struct fixture f;
	struct task *t;

	(void)state;
	for (int way = 0; way < 4; way++) {
		bool edited = way % 2 == 1, circle = way >= 2;

		start(&f);
		low = podgroup(&f, "low", 1);
		mid = podgroup(&f, "mid", 5);
		high = podgroup(&f, "high", 9);
		low->uid = xmalloc_dup("uid-low");
		mid->uid = xmalloc_dup("uid-mid");
		running(&f, "p", low, 1000, cluster_fixture_node(f.c, "n", 1000));
		t = cluster_fixture_task(f.c, "t", high, 1000);
		cluster_podgroup_note_rival(f.c, high, circle ? mid : low);
		cluster_podgroup_note_rival(f.c, mid, low);
		f.c->queues_gen += (uint64_t)edited;
		open_queue(&f);
		assert_string_equal(search(&f, t), edited ? "n: Evict p" : "none: ");
		finish(&f);
	}
}

/* A search that finds nothing for a PodGroup with rivals holds for no other PodGroup. */
static void rivals_are_those_of_one_podgroup(void **state)
{
	struct podgroup *low, *high, *other;
	struct task *t, *u;
	struct fixture f;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	high = podgroup(&f, "high", 9);
	other = podgroup(&f, "other", 9);
	low->uid = xmalloc_dup("uid-low");
	running(&f, "p", low, 1000, cluster_fixture_node(f.c, "n", 1000));
	t = cluster_fixture_task(f.c, "t", high, 1000);
	u = cluster_fixture_task(f.c, "u", other, 1000);
	cluster_podgroup_note_rival(f.c, high, low);
	open_queue(&f);
	assert_string_equal(search(&f, t), "none: ");
	assert_string_equal(search(&f, u), "n: Evict p");
	assert_string_equal(search(&f, t), "none: ");
	finish(&f);
}

/* Any tenant may name any class in a PodGroup; that of a pod is granted. */
static void no_priority_beyond_what_the_pod_was_granted(void **state)
{
	static const struct {
		int32_t preemptor, victim;
		bool evicted;
	} rows[] = {
		{ 9, 1, true }, { 0, 1, false },        { 1, 1, false },
		{ 9, 0, true }, { INT32_MAX, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct task *t;

		unit_row_number(i);
		start(&f);
		running(&f, "p", podgroup(&f, "low", 1), 1000, cluster_fixture_node(f.c, "n", 1000))
			->granted_priority = rows[i].victim;
		t = cluster_fixture_task(f.c, "t", podgroup(&f, "high", 9), 1000);
		t->granted_priority = rows[i].preemptor;
		open_queue(&f);
		assert_string_equal(search(&f, t), rows[i].evicted ? "n: Evict p" : "none: ");
		finish(&f);
	}
}

static void within_a_podgroup(void **state)
{
	struct podgroup *g;
	struct fixture f;
	struct task *t;

	(void)state;
	start(&f);
	g = podgroup(&f, "g", 1);
	running(&f, "p", g, 1000, cluster_fixture_node(f.c, "n", 1000))->priority = 3;
	t = cluster_fixture_task(f.c, "t", g, 1000);
	t->priority = 4;
	core_fixture_open(&f.core);
	f.v = victims_of_podgroup(f.core.s, g);
	assert_string_equal(search(&f, t), "n: Evict p");
	finish(&f);
	start(&f);
	g = podgroup(&f, "g", 1);
	running(&f, "p", g, 1000, cluster_fixture_node(f.c, "n", 1000))->priority = 4;
	t = cluster_fixture_task(f.c, "t", g, 1000);
	t->priority = 4;
	core_fixture_open(&f.core);
	f.v = victims_of_podgroup(f.core.s, g);
	assert_string_equal(search(&f, t), "none: ");
	finish(&f);
}

/* Each one evicts from another node; what is kept is not offered again, and what is taken back is.
 */
static void one_after_the_other(void **state)
{
	struct podgroup *low, *high;
	struct statement st;
	struct fixture f;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	high = podgroup(&f, "high", 9);
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		running(&f, name + 1, low, 1000, cluster_fixture_node(f.c, name, 1000));
		snprintf(name, sizeof(name), "t%d", i);
		cluster_fixture_task(f.c, name, high, 1000);
	}
	open_queue(&f);
	st = statement_begin(f.core.s);
	for (int i = 0; i < 3; i++) {
		const struct task *t = f.c->tasks.v[2 * i + 1];

		statement_pipeline(f.core.s, t, victims_make_room(f.v, f.q, t));
	}
	assert_string_equal(core_fixture_decisions(&f.core), "Evict 0; Evict 1; Evict 2");
	assert_null(victims_make_room(f.v, f.q, cluster_task_find(f.c, STR_LIT("ns/0"))));
	statement_discard(f.core.s, st);
	victims_restored(f.v);
	assert_string_equal(search(&f, f.c->tasks.v[1]), "n0: Evict 0");
	finish(&f);
}

/* A queue that has given all that it gives is passed over, until pods of it are placed again. */
static void a_queue_that_gives_again(void **state)
{
	struct podgroup *from, *to;
	struct task *t0, *t1, *elsewhere;
	struct fixture f;
	struct node *n;

	(void)state;
	start(&f);
	f.q->deserved.v[RES_CPU] = 1000;
	from = podgroup(&f, "from", 1);
	for (int i = 0; i < 2; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		running(&f, name + 1, from, 1000, cluster_fixture_node(f.c, name, 1000));
	}
	f.q = cluster_fixture_queue(f.c, "other", NULL, -1);
	f.q->deserved.v[RES_CPU] = 2000;
	to = cluster_fixture_podgroup(f.c, "to", "other", 1);
	t0 = cluster_fixture_task(f.c, "t0", to, 1000);
	t1 = cluster_fixture_task(f.c, "t1", to, 1000);
	n = cluster_fixture_node(f.c, "n2", 1000);
	elsewhere = cluster_fixture_task(f.c, "elsewhere", from, 1000);
	elsewhere->flags &= ~(uint32_t)TASK_PREEMPTABLE;
	core_fixture_open(&f.core);
	f.v = victims_of_all_queues(f.core.s);
	statement_pipeline(f.core.s, t0, victims_make_room(f.v, f.q, t0));
	assert_null(victims_make_room(f.v, f.q, t1));
	statement_pipeline(f.core.s, elsewhere, n);
	assert_non_null(victims_make_room(f.v, f.q, t1));
	assert_string_equal(core_fixture_decisions(&f.core), "Evict 0; Evict 1");
	finish(&f);
}

/* The plugins agree to each pod after those before it, the gang loses all that are left. */
static void podgroups_as_a_whole(void **state)
{
	struct podgroup *low, *high;
	struct statement st;
	struct fixture f;
	struct task *t;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	high = podgroup(&f, "high", 9);
	running(&f, "a", low, 1000, cluster_fixture_node(f.c, "n0", 1000));
	running(&f, "b", low, 1000, cluster_fixture_node(f.c, "n1", 1000));
	running(&f, "c", high, 1000, cluster_fixture_node(f.c, "n2", 1000));
	t = cluster_fixture_task(f.c, "t", high, 1000);
	open_queue(&f);
	victims_spare_gangs(f.v);
	assert_ptr_equal(victims_podgroup(f.v, 0), low);
	assert_ptr_equal(victims_podgroup(f.v, 1), high);
	assert_null(victims_podgroup(f.v, 2));
	st = statement_begin(f.core.s);
	assert_true(victims_evict_podgroup(f.v, f.q, t, low));
	assert_string_equal(core_fixture_decisions(&f.core), "Evict a; Evict b");
	assert_false(victims_evict_podgroup(f.v, f.q, t, low));
	assert_false(victims_evict_podgroup(f.v, f.q, t, high));
	statement_discard(f.core.s, st);
	victims_restored(f.v);
	/* A gang of one that needs its pod cannot spare it. */
	assert_string_equal(search(&f, t), "n0: Evict a");
	low->min_member = 2;
	assert_string_equal(search(&f, t), "none: ");
	finish(&f);
}

/* When the cheap victim of a node is gone, its dearer one is tried after those of other nodes. */
static void the_dearer_one_of_a_node_comes_later(void **state)
{
	struct podgroup *low, *mid, *high;
	struct fixture f;
	struct node *a;

	(void)state;
	start(&f);
	low = podgroup(&f, "low", 1);
	mid = podgroup(&f, "mid", 5);
	high = podgroup(&f, "high", 9);
	a = cluster_fixture_node(f.c, "a", 2000);
	running(&f, "a-low", low, 1000, a);
	running(&f, "a-mid", mid, 1000, a);
	running(&f, "b-low", low, 1000, cluster_fixture_node(f.c, "b", 1000));
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%d", i);
		cluster_fixture_task(f.c, name, high, 1000);
	}
	open_queue(&f);
	for (int i = 0; i < 3; i++) {
		const struct task *t = f.c->tasks.v[3 + i];

		statement_pipeline(f.core.s, t, victims_make_room(f.v, f.q, t));
	}
	assert_string_equal(core_fixture_decisions(&f.core),
			    "Evict a-low; Evict b-low; Evict a-mid");
	finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_least_harm),
		cmocka_unit_test(what_protects_a_pod),
		cmocka_unit_test(superfluous_victims_are_spared),
		cmocka_unit_test(the_cheaper_goes_first),
		cmocka_unit_test(no_eviction_where_a_predicate_refuses),
		cmocka_unit_test(no_evictions_in_turn),
		cmocka_unit_test(rivals_are_those_of_one_podgroup),
		cmocka_unit_test(no_priority_beyond_what_the_pod_was_granted),
		cmocka_unit_test(within_a_podgroup),
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(the_dearer_one_of_a_node_comes_later),
		cmocka_unit_test(a_queue_that_gives_again),
		cmocka_unit_test(podgroups_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
