/* The arithmetic of the forest against one that recomputes all from what is configured and what the
 * queues use, written from the definitions; random trees, and random changes that are undone. */
#include "scheduler/workloads/forest/forest.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/quota/quota_naive.h"
#include "lib/quota/quota_world.h"

#define WORLDS 400
#define STEPS 60
#define COHORTS_MAX 6
#define NODES_MAX 14
#define MARKS_MAX 8
#define NONE QUOTA_NAIVE_NONE

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void name_of(const struct quota_naive *t, int i, char out[32])
{
	snprintf(out, 32, "%c%d", t->v[i].is_queue ? 'q' : 'c', i);
}

static void describe(const struct quota_naive *t, int i, struct strbuf *out)
{
	char name[32], parent[32];
	bool is_queue = t->v[i].is_queue;

	name_of(t, i, name);
	strbuf_printf(out, "%s %s", is_queue ? "queue" : "cohort", name);
	if (t->v[i].parent != NONE) {
		name_of(t, t->v[i].parent, parent);
		strbuf_printf(out, " %s=%s", is_queue ? "cohort" : "parent", parent);
	}
	strbuf_printf(out, "\nquota %s%s default gpu nominal=%d", is_queue ? "" : "cohort/", name,
		      (int)t->v[i].nominal);
	if (t->v[i].borrow != NONE) {
		strbuf_printf(out, " borrow=%d", (int)t->v[i].borrow);
	}
	if (t->v[i].lend != NONE) {
		strbuf_printf(out, " lend=%d", (int)t->v[i].lend);
	}
	strbuf_add_c(out, "\n");
}

static void make(struct quota_naive *t, struct rng *r, struct strbuf *out)
{
	*t = (struct quota_naive){ .ncohorts = 1 + (int)rng_below(r, COHORTS_MAX) };
	t->n = t->ncohorts + 1 + (int)rng_below(r, NODES_MAX - COHORTS_MAX - 1);
	for (int i = 0; i < t->n; i++) {
		int above = i < t->ncohorts ? i : t->ncohorts;
		bool is_root = above == 0 || rng_below(r, 6) == 0;

		t->v[i].is_queue = i >= t->ncohorts;
		t->v[i].parent = is_root ? NONE : (int)rng_below(r, (uint64_t)above);
		t->v[i].nominal = (int64_t)rng_below(r, 10);
		t->v[i].borrow = is_root || rng_below(r, 3) > 0 ? NONE : (int64_t)rng_below(r, 8);
		t->v[i].lend = is_root || rng_below(r, 3) > 0 ? NONE : (int64_t)rng_below(r, 10);
		describe(t, i, out);
	}
}

static void check(const struct quota_world *w, const struct quota_naive *t, uint32_t pair)
{
	for (int i = 0; i < t->n; i++) {
		char name[32];
		uint32_t id;

		name_of(t, i, name);
		id = quota_world_id(w, name);
		assert_true(quota_naive_is(t, i, w->f, id, pair));
	}
}

/* Uses more or less of a random queue. */
static void change(const struct quota_world *w, struct quota_naive *t, uint32_t pair, struct rng *r)
{
	int i = t->ncohorts + (int)rng_below(r, (uint64_t)(t->n - t->ncohorts));
	struct quota_amount one = { .id = pair, .value = (int64_t)rng_below(r, 9) };
	struct quota_amounts usage = { .v = &one, .n = 1 };
	char name[32];

	name_of(t, i, name);
	if (rng_below(r, 5) < 3) {
		t->v[i].used += one.value;
		forest_add(w->f, quota_world_id(w, name), &usage);
	} else {
		one.value = least(one.value, t->v[i].used);
		t->v[i].used -= one.value;
		forest_remove(w->f, quota_world_id(w, name), &usage);
	}
}

static void run(uint64_t seed)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	CLEANUP(quota_world_finish) struct quota_world w;
	struct quota_naive t, before[MARKS_MAX];
	size_t marks[MARKS_MAX], n = 0;
	struct rng r;
	uint32_t pair;

	rng_init(&r, seed);
	make(&t, &r, &text);
	quota_world_init(&w, text.p);
	pair = quota_world_pair(&w, "default", "gpu");
	check(&w, &t, pair);
	for (int i = 0; i < STEPS; i++) {
		if (n < MARKS_MAX && rng_below(&r, 4) == 0) {
			before[n] = t;
			marks[n++] = forest_mark(w.f);
		}
		if (n > 0 && rng_below(&r, 6) == 0) {
			t = before[--n];
			forest_undo(w.f, marks[n]);
		} else {
			change(&w, &t, pair, &r);
		}
		check(&w, &t, pair);
	}
	forest_undo(w.f, 0);
	for (int i = 0; i < t.n; i++) {
		t.v[i].used = 0;
	}
	check(&w, &t, pair);
}

static void test_random_trees(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		run(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
