#include "api/kueue/kueue_cost.h"

#include "api/kueue/kueue_keys.h"
#include "base/err.h"

struct kueue_cost kueue_cost_default(void)
{
	return (struct kueue_cost){ quantity_of(0, QUANTITY_DECIMAL_SI),
				    quantity_of(1, QUANTITY_DECIMAL_SI) };
}

int kueue_cost_read(const struct field_map *annotations, const char *key, struct quantity *ret,
		    struct err *err)
{
	const struct kueue_cost absent = kueue_cost_default();
	const char *text = field_map_get(annotations, key);
	bool is_weight = str_streq(key, KUEUE_COST_WEIGHT);
	struct quantity most = quantity_of(KUEUE_COST_MAX, QUANTITY_DECIMAL_SI), value;
	struct quantity least = quantity_of(is_weight ? 0 : -KUEUE_COST_MAX, QUANTITY_DECIMAL_SI);

	if (text == NULL) {
		*ret = is_weight ? absent.weight : absent.base;
		return 0;
	}
	if (quantity_parse(str_of(text), &value, err) < 0) {
		return -ERR_INVALID;
	}
	if (quantity_cmp(value, least) < 0 || quantity_cmp(value, most) > 0) {
		return err_set(err, ERR_INVALID, "\"%s\": must be between %s and %d", text,
			       is_weight ? "0" : "-1000000000", KUEUE_COST_MAX);
	}
	*ret = value;
	return 0;
}

struct quantity kueue_cost_of(const struct kueue_cost *c, int32_t preemptions)
{
	struct quantity q = c->base;

	/* Within the bounds of KUEUE_COST_MAX this neither overflows nor exceeds a quantity. */
	q.nano += c->weight.nano * preemptions;
	q.format = QUANTITY_DECIMAL_SI;
	return q;
}

int32_t kueue_cost_preemptions(const struct api_workload_status *status)
{
	const struct api_scheduling_stats *stats = status->scheduling_stats;
	int64_t n = 0;

	for (size_t i = 0; stats != NULL && i < stats->evictions.n; i++) {
		const struct api_eviction_count *e = &stats->evictions.v[i];

		if (str_streq(e->reason, KUEUE_PREEMPTED) && e->count > 0) {
			n += e->count;
		}
	}
	return n > INT32_MAX ? INT32_MAX : (int32_t)n;
}
