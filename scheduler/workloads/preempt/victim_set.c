#include "scheduler/workloads/preempt/victim_set.h"

#include <assert.h>

#include "base/arena.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* Available quota of a queue grows at most by what is removed, wherever in the tree that is. */
static bool could_cover(const struct quota_amount *a, int64_t available,
			const struct candidates *all)
{
	for (size_t i = 0; i < all->n && available < a->value; i++) {
		struct quota_amounts usage = candidates_usage(all->v[i]);

		if (i + CANDIDATES_AHEAD < all->n) {
			candidates_fetch(all->v[i + CANDIDATES_AHEAD]);
		}
		available = amount_add(available, quota_amounts_get(&usage, a->id));
	}
	return available >= a->value;
}

bool victim_set_could_fit(const struct victims_request *r, const struct candidates *all)
{
	for (size_t i = 0; i < r->need->n; i++) {
		const struct quota_amount *a = &r->need->v[i];

		if (a->value > 0 &&
		    !could_cover(a, forest_available(r->forest, r->node, a->id), all)) {
			return false;
		}
	}
	return all->n > 0;
}

void victim_set_begin(struct victim_set *t, const struct victims_request *r, struct arena *arena)
{
	*t = (struct victim_set){ .r = r, .arena = arena, .mark = forest_mark(r->forest) };
}

void victim_set_add(struct victim_set *t, struct candidate *c)
{
	struct quota_amounts usage = candidates_usage(c);

	t->missing_before = t->missing;
	if (t->missing > 0) {
		t->missing -= quota_amounts_get(&usage, t->r->need->v[t->blocked].id);
	}
	forest_remove(t->r->forest, c->holds, &usage);
	candidates_push(&t->taken, c, t->arena);
}

void victim_set_undo(struct victim_set *t, size_t mark)
{
	assert(t->taken.n > 0);
	forest_undo(t->r->forest, mark);
	t->taken.n--;
	t->missing = t->missing_before;
}

static bool one_fits(const struct victims_request *r, const struct quota_amount *a, bool may_borrow)
{
	int64_t available;

	if (!may_borrow && forest_borrows_with(r->forest, r->node, a->id, a->value)) {
		return false;
	}
	available = forest_available(r->forest, r->node, a->id);
	return a->value <= (available < 0 ? 0 : available);
}

/* The amount that did not fit the last time is the one most likely to fail again, so it is checked
 * first. */
static bool fits_now(struct victim_set *t, bool may_borrow)
{
	const struct quota_amounts *need = t->r->need;

	for (size_t i = 0; i < need->n; i++) {
		size_t at = t->blocked + i < need->n ? t->blocked + i : t->blocked + i - need->n;

		if (!one_fits(t->r, &need->v[at], may_borrow)) {
			t->blocked = at;
			return false;
		}
	}
	return true;
}

bool victim_set_may_fit(const struct victim_set *t)
{
	return t->missing <= 0;
}

/* Available quota grows at most by what is removed: until as much as is missing now is removed,
 * another check would fail. */
bool victim_set_fits(struct victim_set *t, bool may_borrow)
{
	const struct quota_amount *a;

	if (!victim_set_may_fit(t)) {
		return false;
	}
	if (fits_now(t, may_borrow)) {
		return true;
	}
	a = &t->r->need->v[t->blocked];
	t->missing = amount_sub(a->value, forest_available(t->r->forest, t->r->node, a->id));
	/* A difference that was cut off at the largest number is no bound. */
	t->missing = t->missing == QUOTA_UNLIMITED ? 0 : t->missing;
	/* Without the last victim at least as much is missing: the bound holds after an undo,
	 * too. */
	t->missing_before = t->missing;
	return false;
}

/* Gives back one victim, unless the request would not fit then. Pairs are independent of each
 * other, so the pair that did not fit last is tried alone first: mostly it fails. */
static bool give_back(struct victim_set *t, const struct candidate *c, bool may_borrow)
{
	const struct quota_amount *blocked = &t->r->need->v[t->blocked];
	struct quota_amounts usage = candidates_usage(c);
	struct quota_amount one = { blocked->id, quota_amounts_get(&usage, blocked->id) };
	struct forest *f = t->r->forest;
	size_t mark = forest_mark(f);
	bool fits;

	forest_add(f, c->holds, &(struct quota_amounts){ .v = &one, .n = 1, .cap = 1 });
	fits = one_fits(t->r, blocked, may_borrow);
	forest_undo(f, mark);
	if (!fits) {
		return false;
	}
	forest_add(f, c->holds, &usage);
	fits = fits_now(t, may_borrow);
	if (!fits) {
		forest_undo(f, mark);
	}
	return fits;
}

/* Victims that stay are moved to the end of the array, which keeps their order. Kueue moves the
 * last one into each gap: the same set in another order. */
bool victim_set_fill_back(struct victim_set *t, bool may_borrow)
{
	struct candidates *taken = &t->taken;
	size_t kept = taken->n - 1; /* taken[kept ..] stay */

	assert(taken->n > 0);
	for (size_t i = taken->n - 1; i-- > 0;) {
		struct candidate *c = taken->v[i];

		if (i >= CANDIDATES_AHEAD) {
			candidates_fetch(taken->v[i - CANDIDATES_AHEAD]);
		}
		if (!give_back(t, c, may_borrow)) {
			taken->v[--kept] = c;
		}
	}
	taken->v += kept;
	taken->n -= kept;
	taken->cap -= kept;
	return kept > 0;
}

void victim_set_end(struct victim_set *t)
{
	forest_undo(t->r->forest, t->mark);
}

void victim_set_result(const struct victim_set *t, struct victims *ret)
{
	struct victim *v = arena_alloc(t->arena, (t->taken.n + 1) * sizeof(*v));

	for (size_t i = 0; i < t->taken.n; i++) {
		v[i] = (struct victim){ .workload = t->taken.v[i]->id,
					.reason = (enum victim_reason)t->taken.v[i]->reason };
	}
	*ret = (struct victims){ .v = v, .n = t->taken.n };
}
