#include "scheduler/pods/plugins/capacity_reclaim.h"

#include "lib/pods/evict_fixture.h"
#include "lib/pods/hooks_fixture.h"
#include "lib/unit.h"
#include "scheduler/base/tree.h"

/* Two branches, each with a leaf: the victim runs in "from", t waits in "to". */
struct fixture {
	struct hooks_fixture h;
	struct queue *top[2], *leaf[2];
	struct res limits[8], deserved[8];
	struct tree *tree;
	struct task *victim, *t;
	struct capacity_reclaim r;
};

static void start(struct fixture *f)
{
	struct cluster *c;

	hooks_fixture_init(&f->h, "- plugins:\n  - name: priority\n", plugin_registry,
			   plugin_registry_count);
	c = f->h.cluster;
	f->top[0] = cluster_fixture_queue(c, "from-top", NULL, -1);
	f->top[1] = cluster_fixture_queue(c, "to-top", NULL, -1);
	f->leaf[0] = cluster_fixture_queue(c, "from", "from-top", -1);
	f->leaf[1] = cluster_fixture_queue(c, "to", "to-top", -1);
	f->victim = evict_fixture_running(c, "v", evict_fixture_podgroup(c, "v", "from", 1, 1),
					  2000, cluster_fixture_node(c, "n", 2000));
	f->t = cluster_fixture_task(c, "t", evict_fixture_podgroup(c, "t", "to", 1, 1), 1000);
	for (size_t i = 0; i < ARRAY_LEN(f->limits); i++) {
		res_fill(&f->limits[i], RES_UNLIMITED);
		res_fill(&f->deserved[i], 0);
	}
	f->tree = queue_topology_tree(c);
	f->r = (struct capacity_reclaim){
		.tree = f->tree, .limits = f->limits, .deserved = f->deserved, .hierarchy = true
	};
	hooks_fixture_open(&f->h);
}

static void finish(struct fixture *f)
{
	struct cluster *c = f->h.cluster;

	evict_fixture_end(c, "v");
	tree_destroy(f->tree);
	hooks_fixture_finish(&f->h);
}

static bool may_take(struct fixture *f)
{
	return capacity_reclaim_may_take(&f->r, f->h.s, f->leaf[1], f->t, f->victim);
}

static bool is_entitled(struct fixture *f)
{
	return capacity_reclaim_is_entitled(&f->r, f->h.s, f->leaf[1], f->t);
}

static int64_t *deserved(struct fixture *f, const struct queue *q)
{
	return &f->deserved[q->id].v[RES_CPU];
}

static void up_to_what_is_deserved(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	assert_false(is_entitled(&f)); /* it deserves nothing */
	*deserved(&f, f.leaf[1]) = 1000;
	assert_true(is_entitled(&f));
	*deserved(&f, f.leaf[1]) = 999;
	assert_false(is_entitled(&f));
	f.limits[f.leaf[1]->id].v[RES_CPU] = 999;
	*deserved(&f, f.leaf[1]) = 1000;
	assert_false(is_entitled(&f));
	finish(&f);
}

static void an_ancestor_may_be_entitled(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	*deserved(&f, f.top[1]) = 1000;
	assert_false(is_entitled(&f));
	f.r.levels = 1;
	assert_true(is_entitled(&f));
	finish(&f);
}

static void from_what_is_beyond_deserved(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	assert_true(may_take(&f)); /* it deserves nothing of what it has */
	assert_true(capacity_reclaim_gives(&f.r, f.h.s, f.leaf[0]));
	*deserved(&f, f.leaf[0]) = 1999;
	assert_true(may_take(&f));
	*deserved(&f, f.leaf[0]) = 2000;
	assert_false(may_take(&f));
	assert_false(capacity_reclaim_gives(&f.r, f.h.s, f.leaf[0]));
	finish(&f);
}

static void a_guarantee_holds_on_every_level(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	f.leaf[0]->guarantee.v[RES_CPU] = 1;
	assert_false(may_take(&f));
	f.leaf[0]->guarantee.v[RES_CPU] = 0;
	f.top[0]->guarantee.v[RES_CPU] = 1;
	assert_false(may_take(&f));
	f.top[0]->guarantee.v[RES_CPU] = 0;
	assert_true(may_take(&f));
	finish(&f);
}

static void ancestors_must_give_as_far_as_asked(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	*deserved(&f, f.top[0]) = 2000;
	assert_true(may_take(&f));
	f.r.levels = 1;
	assert_false(may_take(&f));
	*deserved(&f, f.top[0]) = 1000;
	assert_true(may_take(&f));
	finish(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(up_to_what_is_deserved),
		cmocka_unit_test(an_ancestor_may_be_entitled),
		cmocka_unit_test(from_what_is_beyond_deserved),
		cmocka_unit_test(a_guarantee_holds_on_every_level),
		cmocka_unit_test(ancestors_must_give_as_far_as_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
