#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/intern.h"
#include "lib/pods/cluster_fixture.h"
#include "lib/unit.h"

static void test_get_find_prune(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j"));
	uint32_t id = g->id;

	(void)state;
	assert_ptr_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j")), g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("other"), STR_LIT("j")), g);
	assert_int_equal(g->queue_name, MODEL_NONE);
	g->exists = true;
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	g->exists = false;
	cluster_podgroup_prune(c, g);
	assert_null(cluster_podgroup_find(c, STR_LIT("ns/j")));
	assert_int_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("k"))->id, id);
	cluster_destroy(c);
}

static void test_lives_as_long_as_its_pods(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("j"));
	struct task *t = cluster_fixture_task(c, "t", g, 1);

	(void)state;
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("ns/j")), g);
	cluster_task_remove(c, t);
	assert_null(cluster_podgroup_find(c, STR_LIT("ns/j")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* It exists for its one pod, goes with it, and no pod can name it. */
static void test_one_that_is_alone(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("t"));
	struct task *t = cluster_fixture_task(c, "t", g, 1);

	(void)state;
	assert_true(g->kind == PODGROUP_ALONE && g->exists);
	assert_int_equal(g->min_member, 1);
	assert_ptr_equal(cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("t")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("t")), g);
	assert_ptr_not_equal(cluster_podgroup_get(c, STR_LIT("ns"), STR_LIT("/ns/t")), g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("/ns/t")), g);
	cluster_podgroup_prune(c, g);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("/ns/t")), g);
	cluster_task_remove(c, t);
	assert_null(cluster_podgroup_find(c, STR_LIT("/ns/t")));
	cluster_destroy(c);
}

/* One PodGroup of Kubernetes: a part for each queue, gone with its last pod. */
static void test_parts(void **state)
{
	static const char *const queues[] = { "a", "b", "c" };
	struct cluster *c = cluster_create();
	struct podgroup *whole, *parts[3];
	struct task *tasks[3];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		parts[i] = cluster_podgroup_get_part(c, STR_LIT("ns"), STR_LIT("g"),
						     str_of(queues[i]));
		tasks[i] = cluster_fixture_task(c, queues[i], parts[i], 1);
	}
	assert_ptr_equal(cluster_podgroup_get_part(c, STR_LIT("ns"), STR_LIT("g"), STR_LIT("b")),
			 parts[1]);
	whole = cluster_podgroup_find(c, STR_LIT("//ns/g"));
	assert_ptr_equal(cluster_podgroup_get_kube(c, STR_LIT("ns"), STR_LIT("g")), whole);
	assert_int_equal(parts[0]->queue_name, MODEL_NONE);
	whole->exists = true;
	whole->min_member = 2;
	cluster_podgroup_kube_changed(c, whole);
	for (size_t i = 0; i < 3; i++) {
		assert_true(parts[i]->exists);
		assert_int_equal(parts[i]->min_member, 2);
		assert_string_equal(intern_name(c->names, parts[i]->queue_name), queues[i]);
	}
	assert_null(cluster_verify(c));
	/* The one in the middle of the list, then its ends. */
	cluster_task_remove(c, tasks[1]);
	assert_null(cluster_podgroup_find(c, STR_LIT("//ns/g/b")));
	assert_null(cluster_verify(c));
	cluster_task_remove(c, tasks[2]);
	assert_null(cluster_verify(c));
	whole->exists = false;
	cluster_podgroup_kube_changed(c, whole);
	cluster_podgroup_prune(c, whole);
	assert_ptr_equal(cluster_podgroup_find(c, STR_LIT("//ns/g")), whole);
	cluster_task_remove(c, tasks[0]);
	assert_null(cluster_podgroup_find(c, STR_LIT("//ns/g")));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_moves_between_queues_bump_both(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *a = cluster_fixture_queue(c, "a", NULL, -1);
	struct queue *b = cluster_fixture_queue(c, "b", NULL, -1);
	struct podgroup *j1 = cluster_fixture_podgroup(c, "j1", "a", 1);
	struct podgroup *j2 = cluster_fixture_podgroup(c, "j2", "a", 1);
	uint64_t gen_a = a->podgroups_gen, gen_b = b->podgroups_gen;

	(void)state;
	cluster_podgroup_set_queue(c, j1, STR_LIT("a")); /* no change */
	assert_int_equal(a->podgroups_gen, gen_a);
	cluster_podgroup_set_queue(c, j1, STR_LIT("b"));
	assert_true(a->podgroups_gen > gen_a);
	assert_true(b->podgroups_gen > gen_b);
	assert_int_equal(j1->queue, b->id);
	assert_int_equal(j2->queue_pos, 0);
	assert_null(cluster_verify(c));
	cluster_podgroup_set_queue(c, j1, str_of(""));
	assert_int_equal(j1->queue, MODEL_NONE);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* Whether g is among the open PodGroups and among the changed ones of q, each once. */
static bool is_open(const struct queue *q, const struct podgroup *g)
{
	size_t n = 0;

	for (size_t i = 0; i < q->open.n; i++) {
		n += q->open.v[i] == g->id;
	}
	assert_true(n <= 1);
	return n == 1;
}

static void test_open_podgroups_are_listed(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *q = cluster_fixture_queue(c, "q", NULL, -1);
	struct node *n = cluster_fixture_node(c, "n", 4000);
	struct podgroup *other = cluster_fixture_podgroup(c, "other", "q", 1);
	struct podgroup *g = cluster_fixture_podgroup(c, "g", "q", 1);
	struct task *t;

	(void)state;
	assert_true(is_open(q, g)); /* waits to be enqueued */
	cluster_podgroup_set_phase(c, other, PODGROUP_RUNNING);
	cluster_podgroup_set_phase(c, g, PODGROUP_INQUEUE);
	assert_false(is_open(q, g));
	t = cluster_fixture_task(c, "t", g, 1000);
	assert_true(is_open(q, g) && !is_open(q, other));
	cluster_task_set_status(c, t, TASK_BINDING, n);
	assert_false(is_open(q, g));
	cluster_task_set_status(c, t, TASK_PENDING, NULL);
	/* In a queue that does not exist, too. */
	cluster_podgroup_set_queue(c, g, STR_LIT("none"));
	assert_true(!is_open(q, g) && is_open(queue_find(c, STR_LIT("none")), g));
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

static void test_changed_podgroups_are_listed_once_until_dropped(void **state)
{
	struct cluster *c = cluster_create();
	struct queue *q = cluster_fixture_queue(c, "q", NULL, -1);
	struct podgroup *a = cluster_fixture_podgroup(c, "a", "q", 1);
	struct podgroup *b = cluster_fixture_podgroup(c, "b", "q", 1);

	(void)state;
	assert_int_equal(q->changed.n, 2);
	cluster_podgroup_drop_changed(c, q, 2);
	assert_int_equal(q->changed.n, 0);
	cluster_podgroup_changed(c, b);
	cluster_podgroup_changed(c, b);
	cluster_podgroup_changed(c, a);
	assert_int_equal(q->changed.n, 2);
	/* Only the first was looked at. */
	cluster_podgroup_drop_changed(c, q, 1);
	assert_int_equal(q->changed.n, 1);
	assert_int_equal(q->changed.v[0], a->id);
	cluster_podgroup_changed(c, b);
	assert_int_equal(q->changed.n, 2);
	assert_null(cluster_verify(c));
	cluster_destroy(c);
}

/* Whether the change bumps demand_gen. */
#define CHANGES_DEMAND(c, change)                                                                  \
	({                                                                                         \
		uint64_t gen_ = (c)->demand_gen;                                                   \
		change;                                                                            \
		(c)->demand_gen != gen_;                                                           \
	})

static void test_demand_changes_with_what_pods_hold_and_ask_for(void **state)
{
	struct cluster *c = cluster_create();
	struct node *n = cluster_fixture_node(c, "n", 4000);
	struct podgroup *g;
	struct task *t;

	(void)state;
	cluster_fixture_queue(c, "q", NULL, -1);
	g = cluster_fixture_podgroup(c, "g", "q", 1);
	t = cluster_fixture_task(c, "t", NULL, 1000);
	assert_true(CHANGES_DEMAND(c, cluster_task_set_podgroup(c, t, g)));
	assert_true(CHANGES_DEMAND(c, cluster_podgroup_set_phase(c, g, PODGROUP_INQUEUE)));
	assert_true(CHANGES_DEMAND(c, cluster_task_set_status(c, t, TASK_BINDING, n)));
	/* Nothing that follows from a bind gives room to others. */
	assert_false(CHANGES_DEMAND(c, cluster_task_set_status(c, t, TASK_BOUND, n)));
	assert_false(CHANGES_DEMAND(c, cluster_task_set_status(c, t, TASK_RUNNING, n)));
	assert_false(CHANGES_DEMAND(c, cluster_podgroup_set_phase(c, g, PODGROUP_RUNNING)));
	assert_true(CHANGES_DEMAND(c, cluster_task_set_status(c, t, TASK_RELEASING, n)));
	assert_true(CHANGES_DEMAND(c, cluster_task_remove(c, t)));
	assert_true(CHANGES_DEMAND(c, cluster_podgroup_set_queue(c, g, str_of(""))));
	cluster_destroy(c);
}

static void test_each_unsupported_field_is_named(void **state)
{
	static const struct {
		enum podgroup_unsupported what;
		const char *field;
	} rows[] = {
		{ PODGROUP_HARD_TOPOLOGY, "spec.networkTopology" },
		{ PODGROUP_SUB_GROUPS, "spec.subGroupPolicy" },
	};
	struct podgroup g = { .unsupported = PODGROUP_SUPPORTED };

	(void)state;
	assert_null(cluster_podgroup_unsupported(&g));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unit_row_number(i);
		g.unsupported = (uint8_t)rows[i].what;
		assert_non_null(cluster_podgroup_unsupported(&g));
		assert_non_null(strstr(cluster_podgroup_unsupported(&g), rows[i].field));
	}
}

static struct podgroup *with_uid(struct cluster *c, const char *name)
{
	struct podgroup *g = cluster_fixture_podgroup(c, name, "q", 1);

	g->exists = true;
	g->uid = xmalloc_dup(name);
	return g;
}

/* "r1 r2": the rivals that still have an effect. */
static void rivals_are(const struct cluster *c, const struct podgroup *g, const char *expected)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < g->rivals.n; i++) {
		const struct podgroup *rival = cluster_podgroup_rival(c, &g->rivals.v[i]);

		if (rival != NULL) {
			strbuf_printf(&text, "%s%s", text.len > 0 ? " " : "", rival->name);
		}
	}
	assert_string_equal(text.len > 0 ? text.p : "", expected);
}

static void test_rivals_and_their_end(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = with_uid(c, "g"), *a = with_uid(c, "a"), *b = with_uid(c, "b");

	(void)state;
	cluster_podgroup_note_rival(c, g, a);
	cluster_podgroup_note_rival(c, g, b);
	/* Its own pods, and those of a PodGroup that will not come back. */
	cluster_podgroup_note_rival(c, g, g);
	cluster_podgroup_note_rival(c, g,
				    cluster_podgroup_get_alone(c, STR_LIT("ns"), STR_LIT("alone")));
	assert_int_equal(g->rivals.n, 2);
	rivals_are(c, g, "a b");
	/* The latest is the last one. */
	cluster_podgroup_note_rival(c, g, a);
	rivals_are(c, g, "b a");
	/* Another one of this name. */
	free(b->uid);
	b->uid = xmalloc_dup("b2");
	rivals_are(c, g, "a");
	/* It is gone; another one may have its id. */
	a->exists = false;
	cluster_podgroup_prune(c, a);
	rivals_are(c, g, "");
	a = with_uid(c, "c");
	rivals_are(c, g, "");
	cluster_podgroup_note_rival(c, g, a);
	assert_int_equal(g->rivals.n, 1);
	(void)cluster_fixture_queue(c, "edited", NULL, -1);
	rivals_are(c, g, "");
	cluster_destroy(c);
}

static void test_so_many_rivals_are_remembered(void **state)
{
	struct cluster *c = cluster_create();
	struct podgroup *g = with_uid(c, "g"), *first = NULL;
	char name[16];

	(void)state;
	for (int i = 0; i < PODGROUP_RIVALS_MAX; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		cluster_podgroup_note_rival(c, g, with_uid(c, name));
		first = i == 0 ? cluster_podgroup_find(c, STR_LIT("ns/r0")) : first;
	}
	assert_ptr_equal(cluster_podgroup_rival(c, &g->rivals.v[0]), first);
	cluster_podgroup_note_rival(c, g, with_uid(c, "one-more"));
	assert_int_equal(g->rivals.n, PODGROUP_RIVALS_MAX);
	assert_string_equal(cluster_podgroup_rival(c, &g->rivals.v[0])->name, "r1");
	/* One that has no effect any more goes before the oldest. */
	first = cluster_podgroup_find(c, STR_LIT("ns/r7"));
	first->exists = false;
	cluster_podgroup_prune(c, first);
	cluster_podgroup_note_rival(c, g, with_uid(c, "another"));
	assert_int_equal(g->rivals.n, PODGROUP_RIVALS_MAX);
	assert_string_equal(cluster_podgroup_rival(c, &g->rivals.v[0])->name, "r1");
	cluster_destroy(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_podgroups_are_listed),
		cmocka_unit_test(test_changed_podgroups_are_listed_once_until_dropped),
		cmocka_unit_test(test_demand_changes_with_what_pods_hold_and_ask_for),
		cmocka_unit_test(test_each_unsupported_field_is_named),
		cmocka_unit_test(test_get_find_prune),
		cmocka_unit_test(test_one_that_is_alone),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_rivals_and_their_end),
		cmocka_unit_test(test_so_many_rivals_are_remembered),
		cmocka_unit_test(test_lives_as_long_as_its_pods),
		cmocka_unit_test(test_moves_between_queues_bump_both),
	};

	return cmocka_run_group_tests_name("pods/model/cluster_podgroup", tests, NULL, NULL);
}
