#include "base/saturating.h"
#include "scheduler/workloads/model/quota_store.h"

/* Index of the first entry with an id not below `id`. */
static size_t lower_bound(const struct quota_amounts *a, uint32_t id)
{
	size_t lo = 0, hi = a->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->v[mid].id < id) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

int64_t quota_amounts_get(const struct quota_amounts *a, uint32_t id)
{
	size_t at = lower_bound(a, id);

	return at < a->n && a->v[at].id == id ? a->v[at].value : 0;
}

/* A saturated sum must not turn into QUOTA_UNLIMITED. */
static int64_t add_bounded(int64_t a, int64_t b)
{
	int64_t sum = saturating_add(a, b);

	return sum == QUOTA_UNLIMITED ? QUOTA_UNLIMITED - 1 : sum;
}

void quota_amounts_add(struct quota_amounts *a, uint32_t id, int64_t value)
{
	size_t at = lower_bound(a, id);

	if (at < a->n && a->v[at].id == id) {
		a->v[at].value = add_bounded(a->v[at].value, value);
		return;
	}
	vec_push(a, ((struct quota_amount){ .id = id }));
	memmove(&a->v[at + 1], &a->v[at], (a->n - 1 - at) * sizeof(a->v[0]));
	a->v[at] = (struct quota_amount){ .id = id, .value = add_bounded(0, value) };
}

/* Ids from 63 on share the last bit. */
uint64_t quota_amounts_bit(uint32_t id)
{
	return id < 63 ? UINT64_C(1) << id : QUOTA_MASK_OTHERS;
}

uint64_t quota_amounts_mask(const struct quota_amounts *a)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < a->n; i++) {
		mask |= quota_amounts_bit(a->v[i].id);
	}
	return mask;
}

void quota_amounts_finish(struct quota_amounts *a)
{
	vec_finish(a);
}
