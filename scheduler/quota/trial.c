#include "quota/trial.h"

#include <assert.h>

#include "base/arena.h"
#include "model/quota_store.h"
#include "quota/amount.h"

/* Available quota of a queue grows at most by what is taken away, wherever in the tree that is. */
static bool could_cover(const struct quota_amount *a, int64_t available,
			const struct candidates *all)
{
	for (size_t i = 0; i < all->n && available < a->value; i++) {
		if (i + CANDIDATES_AHEAD < all->n) {
			candidates_fetch(all->v[i + CANDIDATES_AHEAD]);
		}
		available = amount_add(available, quota_amounts_get(&all->v[i]->w->usage, a->id));
	}
	return available >= a->value;
}

bool trial_is_hopeful(const struct victims_request *r, const struct candidates *all)
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

void trial_begin(struct trial *t, const struct victims_request *r, struct arena *arena)
{
	*t = (struct trial){ .r = r, .arena = arena, .mark = forest_mark(r->forest) };
}

void trial_take(struct trial *t, struct candidate *c)
{
	t->missing_before = t->missing;
	if (t->missing > 0) {
		t->missing -= quota_amounts_get(&c->w->usage, t->r->need->v[t->blocked].id);
	}
	forest_remove(t->r->forest, c->w->holds, &c->w->usage);
	candidates_push(&t->taken, c, t->arena);
}

void trial_take_back(struct trial *t, size_t mark)
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

static bool fits_now(struct trial *t, bool may_borrow)
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

bool trial_may_fit(const struct trial *t)
{
	return t->missing <= 0;
}

/* Available quota grows at most by what is taken: until what lacks now is taken, there is no need
 * to look again. */
bool trial_fits(struct trial *t, bool may_borrow)
{
	const struct quota_amount *a;

	if (!trial_may_fit(t)) {
		return false;
	}
	if (fits_now(t, may_borrow)) {
		return true;
	}
	a = &t->r->need->v[t->blocked];
	t->missing = amount_sub(a->value, forest_available(t->r->forest, t->r->node, a->id));
	t->missing = t->missing == QUOTA_UNLIMITED ? 0 : t->missing;
	t->missing_before = t->missing;
	return false;
}

bool trial_fill_back(struct trial *t, bool may_borrow)
{
	struct candidates *taken = &t->taken;
	size_t kept = taken->n - 1; /* taken[kept ..] stay */

	assert(taken->n > 0);
	for (size_t i = taken->n - 1; i-- > 0;) {
		struct candidate *c = taken->v[i];
		size_t mark = forest_mark(t->r->forest);

		if (i >= CANDIDATES_AHEAD) {
			candidates_fetch(taken->v[i - CANDIDATES_AHEAD]);
		}
		forest_add(t->r->forest, c->w->holds, &c->w->usage);
		if (fits_now(t, may_borrow)) {
			continue;
		}
		forest_undo(t->r->forest, mark);
		taken->v[--kept] = c;
	}
	taken->v += kept;
	taken->n -= kept;
	taken->cap -= kept;
	return kept > 0;
}

void trial_end(struct trial *t)
{
	forest_undo(t->r->forest, t->mark);
}

void trial_result(const struct trial *t, struct victims *ret)
{
	struct victim *v = arena_alloc(t->arena, (t->taken.n + 1) * sizeof(*v));

	for (size_t i = 0; i < t->taken.n; i++) {
		v[i] = (struct victim){ .workload = t->taken.v[i]->w->id,
					.reason = (enum victim_reason)t->taken.v[i]->reason };
	}
	*ret = (struct victims){ .v = v, .n = t->taken.n };
}
