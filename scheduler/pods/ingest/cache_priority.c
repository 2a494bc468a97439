#include "base/err.h"
#include "collections/strmap.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"

int cache_priority_upsert(struct cache *c, const struct api_priority_class *pc, struct err *err)
{
	if (from_api_priority_class(c->cluster, pc, err) < 0) {
		return -ERR_INVALID;
	}
	from_api_podgroup_priorities(c->cluster);
	c->dirty = true;
	return 0;
}

void cache_priority_remove(struct cache *c, struct str name)
{
	if (strmap_remove(c->cluster->priority_classes, name)) {
		from_api_podgroup_priorities(c->cluster);
		c->dirty = true;
	}
}
