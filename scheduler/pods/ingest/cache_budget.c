#include "api/core/disruption_budget.h"
#include "base/attrs.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/model/budgets.h"

/* Where no plugin needs budgets, a caller may give them all the same: they are not kept. */
int cache_budget_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED,
			struct err *err)
{
	const struct api_disruption_budget *object = m->object;

	if (c->cluster->budget_index == NULL) {
		return 0;
	}
	c->dirty = true;
	return budgets_set(c->cluster, object, err);
}

void cache_budget_remove(struct cache *c, const struct sched_msg *m)
{
	if (c->cluster->budget_index != NULL && budgets_remove(c->cluster, m->key)) {
		c->dirty = true;
	}
}
