/* The children that are over quota, compared with a check of every child, while quota is
 * configured, charged, released and undone. */
#include "scheduler/workloads/forest/forest_over.h"

#include "lib/unit.h"

#include <stdio.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/quota/quota_world.h"

#define WORLDS 100
#define STEPS 60
#define COHORTS 4
#define QUEUES 8
#define WORKLOADS 12

static void make(struct rng *r, struct strbuf *out)
{
	for (unsigned i = 1; i < COHORTS; i++) {
		strbuf_printf(out, "cohort c%u parent=c%u\n", i, (unsigned)rng_below(r, i));
	}
	for (unsigned i = 0; i < QUEUES; i++) {
		strbuf_printf(out,
			      "queue q%u cohort=c%u\n"
			      "quota q%u default cpu nominal=%u\n"
			      "quota q%u default memory nominal=%u\n",
			      i, (unsigned)rng_below(r, COHORTS), i, (unsigned)rng_below(r, 4), i,
			      (unsigned)rng_below(r, 4));
	}
	for (unsigned i = 0; i < WORKLOADS; i++) {
		strbuf_printf(out, "workload ns/w%u queue=q%u cpu=%u memory=%u holds=default\n", i,
			      (unsigned)rng_below(r, QUEUES), (unsigned)rng_below(r, 3),
			      (unsigned)rng_below(r, 3));
	}
}

static bool contains(const struct forest_over_list *l, uint32_t node)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i] == node) {
			return true;
		}
	}
	return false;
}

static void check_cohort(struct forest *f, uint32_t cohort, const uint32_t *pairs, size_t npairs)
{
	struct forest_over_list list = VEC_INIT;
	size_t n, over = 0;
	const uint32_t *children = forest_children(f, cohort, &n);

	forest_over_collect(f, cohort, pairs, npairs, &list);
	for (size_t i = 0; i < n; i++) {
		bool is = forest_model(f)->nodes.v[children[i]]->is_queue &&
			  !forest_within_nominal(f, children[i], pairs, npairs);

		assert_int_equal(contains(&list, children[i]), is);
		over += is;
	}
	assert_int_equal(list.n, over);
	vec_finish(&list);
}

static void check(const struct quota_world *w, struct forest *f)
{
	const uint32_t pairs[] = { quota_world_pair(w, "default", "cpu"),
				   quota_world_pair(w, "default", "memory") };

	for (unsigned i = 0; i < COHORTS; i++) {
		char name[8];
		uint32_t id;

		snprintf(name, sizeof(name), "c%u", i);
		id = quota_world_id(w, name);
		check_cohort(f, id, pairs, 0);
		check_cohort(f, id, &pairs[0], 1);
		check_cohort(f, id, &pairs[1], 1);
		check_cohort(f, id, pairs, 2);
	}
}

static struct workload *any(const struct quota_world *w, struct rng *r)
{
	char key[8];

	snprintf(key, sizeof(key), "ns/w%u", (unsigned)rng_below(r, WORKLOADS));
	return quota_world_workload(w, key);
}

static void hold_or_release(struct quota_world *w, struct rng *r)
{
	struct workload *wl = any(w, r);
	char name[8];

	snprintf(name, sizeof(name), "q%u", (unsigned)rng_below(r, QUEUES));
	if (wl->holding.node == MODEL_NONE) {
		forest_hold(w->f, wl, quota_world_id(w, name));
	} else {
		forest_release(w->f, wl);
	}
}

/* As a cycle does: charges, checks, undoes; and the same in a fork. */
static void charge(struct quota_world *w, struct rng *r)
{
	const struct workload *wl = any(w, r);
	struct forest *fork;
	size_t mark = forest_mark(w->f);

	if (wl->holding.node == MODEL_NONE) {
		return;
	}
	fork = forest_fork(w->f);
	forest_remove(fork, wl->holding.node, &wl->holding.usage);
	check(w, fork);
	forest_destroy(fork);
	forest_remove(w->f, wl->holding.node, &wl->holding.usage);
	check(w, w->f);
	forest_undo(w->f, mark);
}

static void test_as_every_child_looked_at(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		CLEANUP(quota_world_finish) struct quota_world w;
		struct rng r;

		rng_init(&r, seed);
		make(&r, &text);
		quota_world_init(&w, text.p);
		check(&w, w.f);
		for (int i = 0; i < STEPS; i++) {
			if (rng_below(&r, 2) == 0) {
				hold_or_release(&w, &r);
			} else {
				charge(&w, &r);
			}
			check(&w, w.f);
		}
	}
}

static void test_after_a_change_of_the_tree(void **state)
{
	CLEANUP(quota_world_finish) struct quota_world w;

	(void)state;
	quota_world_init(&w, "queue q0 cohort=c\n"
			     "quota q0 default cpu nominal=1\n"
			     "workload ns/a queue=q0 cpu=2 holds=default\n");
	check_cohort(w.f, quota_world_id(&w, "c"),
		     (uint32_t[]){ quota_world_pair(&w, "default", "cpu") }, 1);
	quota_world_add(&w, "queue q1 cohort=c\n"
			    "quota q1 default cpu nominal=1\n"
			    "quota q0 default cpu nominal=3\n"
			    "workload ns/b queue=q1 cpu=2 holds=default\n");
	check_cohort(w.f, quota_world_id(&w, "c"),
		     (uint32_t[]){ quota_world_pair(&w, "default", "cpu") }, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_every_child_looked_at),
		cmocka_unit_test(test_after_a_change_of_the_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
