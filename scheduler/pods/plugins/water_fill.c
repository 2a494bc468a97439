#include "scheduler/pods/plugins/water_fill.h"

#include <stdbool.h>

#include "base/saturating.h"

/* Amounts in between have 20 binary digits behind the point, so that a share which comes out even
 * is not a unit short after several rounds: a pod of exactly that size is to fit. */
#define UNIT ((__int128)1 << 20)
#define ALMOST_ONE (UNIT - 1024)

static __int128 fine(int64_t amount)
{
	return amount * UNIT;
}

static void set_share(struct water_fill *w, __int128 share)
{
	w->share = (int64_t)(share / UNIT);
	w->fraction = (int64_t)(share % UNIT);
}

static __int128 share_of(const struct water_fill *w)
{
	return fine(w->share) + w->fraction;
}

static int64_t weight_of(const struct water_fill *w)
{
	return w->weight > 0 ? w->weight : 0;
}

/* Their part of all of it, once: only then is a guarantee compared with it. Guarantees come
 * first, so others may have less left than their part. Returns what is left. */
static __int128 first_round(struct water_fill *v, size_t n, __int128 total)
{
	__int128 left = total;
	int64_t weights = 0;

	for (size_t i = 0; i < n; i++) {
		weights = saturating_add(weights, weight_of(&v[i]));
	}
	for (size_t i = 0; i < n; i++) {
		__int128 share = weights > 0 ? total * weight_of(&v[i]) / weights : 0;

		share = share < fine(v[i].want) ? share : fine(v[i].want);
		share = share > fine(v[i].guarantee) ? share : fine(v[i].guarantee);
		set_share(&v[i], share);
		left = left > share ? left - share : 0;
	}
	return left;
}

/* Returns the amount that was handed out. */
static __int128 further_round(struct water_fill *v, size_t n, __int128 left)
{
	int64_t weights = 0;
	__int128 given = 0;

	for (size_t i = 0; i < n; i++) {
		weights = saturating_add(weights,
					 share_of(&v[i]) < fine(v[i].want) ? weight_of(&v[i]) : 0);
	}
	for (size_t i = 0; i < n && weights > 0; i++) {
		__int128 more = left * weight_of(&v[i]) / weights;
		__int128 lacks = fine(v[i].want) - share_of(&v[i]);

		if (lacks > 0) {
			more = more < lacks ? more : lacks;
			set_share(&v[i], share_of(&v[i]) + more);
			given += more;
		}
	}
	return given;
}

void water_fill(struct water_fill *v, size_t n, int64_t total)
{
	__int128 left = first_round(v, n, fine(total)), given = left;

	while (left > 0 && given > 0) {
		given = further_round(v, n, left);
		left -= given;
	}
	for (size_t i = 0; i < n; i++) {
		v[i].share += v[i].fraction >= ALMOST_ONE && v[i].share < INT64_MAX;
	}
}
