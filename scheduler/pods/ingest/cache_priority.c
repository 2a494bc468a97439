#include "base/attrs.h"
#include "base/err.h"
#include "collections/strmap.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"

int cache_priority_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time UNUSED,
			  struct err *err)
{
	const struct api_priority_class *pc = m->object;
	if (from_api_priority_class(c->cluster, pc, err) < 0) {
		return -ERR_INVALID;
	}
	/* PodGroups name their class, and the default class counts for those that name none. */
	from_api_podgroup_priorities(c->cluster);
	c->dirty = true;
	return 0;
}

void cache_priority_remove(struct cache *c, const struct sched_msg *m)
{
	if (strmap_remove(c->cluster->priority_classes, m->key)) {
		from_api_podgroup_priorities(c->cluster);
		c->dirty = true;
	}
}
