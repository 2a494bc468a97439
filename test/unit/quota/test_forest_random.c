/* The arithmetic of the forest against one that recomputes all from what is configured and what the
 * queues use, written from the definitions; random trees, and random changes that are undone. */
#include "quota/forest.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "lib/quota_world.h"

#define WORLDS 400
#define STEPS 60
#define COHORTS_MAX 6
#define NODES_MAX 14
#define MARKS_MAX 8
#define NONE (-1)

struct naive {
	struct {
		int parent; /* NONE: a root */
		bool is_queue;
		int64_t nominal, borrow, lend; /* NONE: no limit */
		int64_t used;                  /* by what holds quota in it */
	} v[NODES_MAX];
	int n, ncohorts;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t above_zero(int64_t a)
{
	return a > 0 ? a : 0;
}

static int64_t local_quota(const struct naive *t, int i);

static int64_t subtree(const struct naive *t, int i)
{
	int64_t sum = t->v[i].nominal;

	for (int c = 0; c < t->n; c++) {
		if (t->v[c].parent == i) {
			sum += subtree(t, c) - local_quota(t, c);
		}
	}
	return sum;
}

static int64_t local_quota(const struct naive *t, int i)
{
	return t->v[i].lend == NONE ? 0 : above_zero(subtree(t, i) - t->v[i].lend);
}

static int64_t used(const struct naive *t, int i)
{
	int64_t sum = t->v[i].used;

	for (int c = 0; c < t->n; c++) {
		if (t->v[c].parent == i) {
			sum += above_zero(used(t, c) - local_quota(t, c));
		}
	}
	return sum;
}

static int64_t available(const struct naive *t, int i)
{
	int64_t local = local_quota(t, i), a;

	if (t->v[i].parent == NONE) {
		return subtree(t, i) - used(t, i);
	}
	a = available(t, t->v[i].parent);
	if (t->v[i].borrow != NONE) {
		a = least(a,
			  subtree(t, i) - local - above_zero(used(t, i) - local) + t->v[i].borrow);
	}
	return above_zero(local - used(t, i)) + a;
}

static int64_t potential(const struct naive *t, int i)
{
	int64_t p;

	if (t->v[i].parent == NONE) {
		return subtree(t, i);
	}
	p = local_quota(t, i) + potential(t, t->v[i].parent);
	return t->v[i].borrow == NONE ? p : least(p, subtree(t, i) + t->v[i].borrow);
}

static void name_of(const struct naive *t, int i, char out[32])
{
	snprintf(out, 32, "%c%d", t->v[i].is_queue ? 'q' : 'c', i);
}

static void describe(const struct naive *t, int i, struct strbuf *out)
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

static void make(struct naive *t, struct rng *r, struct strbuf *out)
{
	*t = (struct naive){ .ncohorts = 1 + (int)rng_below(r, COHORTS_MAX) };
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

static void check(const struct quota_world *w, const struct naive *t, uint32_t pair)
{
	for (int i = 0; i < t->n; i++) {
		char name[32];
		uint32_t id;

		name_of(t, i, name);
		id = quota_world_id(w, name);
		assert_int_equal(forest_subtree(w->f, id, pair), subtree(t, i));
		assert_int_equal(forest_usage(w->f, id, pair), used(t, i));
		assert_int_equal(forest_local_available(w->f, id, pair),
				 above_zero(local_quota(t, i) - used(t, i)));
		assert_int_equal(forest_available(w->f, id, pair), available(t, i));
		assert_int_equal(forest_potential(w->f, id, pair), potential(t, i));
	}
}

/* Uses more or less of a random queue. */
static void change(const struct quota_world *w, struct naive *t, uint32_t pair, struct rng *r)
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
	struct naive t, before[MARKS_MAX];
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
