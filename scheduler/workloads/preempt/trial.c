#include "scheduler/workloads/preempt/trial.h"

#include <assert.h>

#include "base/arena.h"
#include "scheduler/workloads/forest/amount.h"
#include "scheduler/workloads/model/quota_store.h"

/* Available quota of a queue grows at most by what is taken away, wherever in the tree that is. */
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
	struct quota_amounts usage = candidates_usage(c);

	t->missing_before = t->missing;
	if (t->missing > 0) {
		t->missing -= quota_amounts_get(&usage, t->r->need->v[t->blocked].id);
	}
	forest_remove(t->r->forest, c->holds, &usage);
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

/* Gives back one victim, unless the request would not fit then. Pairs have nothing to do with each
 * other, so that of what did not fit last alone is given back first: mostly it does not fit. */
static bool give_back(struct trial *t, const struct candidate *c, bool may_borrow)
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

bool trial_fill_back(struct trial *t, bool may_borrow)
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

void trial_end(struct trial *t)
{
	forest_undo(t->r->forest, t->mark);
}

void trial_result(const struct trial *t, struct victims *ret)
{
	struct victim *v = arena_alloc(t->arena, (t->taken.n + 1) * sizeof(*v));

	for (size_t i = 0; i < t->taken.n; i++) {
		v[i] = (struct victim){ .workload = t->taken.v[i]->id,
					.reason = (enum victim_reason)t->taken.v[i]->reason };
	}
	*ret = (struct victims){ .v = v, .n = t->taken.n };
}
