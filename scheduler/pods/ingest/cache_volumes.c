#include "base/attrs.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ingest/from_api.h"
#include "scheduler/pods/model/storage_capacity.h"
#include "scheduler/pods/model/volumes.h"

int cache_volumes_upsert_claim(struct cache *c, const struct sched_msg *m,
			       struct cache_time time UNUSED, struct err *err)
{
	bool changed = false;
	int r = from_api_volumes_claim(c->cluster, m->object, c->scratch, &changed, err);

	/* Of most changes of a claim, such as those of its status, nothing follows. */
	c->dirty |= changed;
	return r;
}

void cache_volumes_remove_claim(struct cache *c, const struct sched_msg *m)
{
	c->dirty |= volumes_remove_claim(c->cluster, m->key);
}

int cache_volumes_upsert_volume(struct cache *c, const struct sched_msg *m,
				struct cache_time time UNUSED, struct err *err)
{
	c->dirty = true;
	return from_api_volumes_volume(c->cluster, m->object, c->scratch, err);
}

void cache_volumes_remove_volume(struct cache *c, const struct sched_msg *m)
{
	c->dirty |= volumes_remove_volume(c->cluster, m->key);
}

/* A pod with a volume that cannot be read is put on no node rather than on a wrong one. */
void cache_volumes_keep_volume(struct cache *c, const struct sched_msg *m,
			       struct cache_time time UNUSED)
{
	cache_volumes_remove_volume(c, m);
}

int cache_volumes_upsert_storage_class(struct cache *c, const struct sched_msg *m,
				       struct cache_time time UNUSED, struct err *err)
{
	c->dirty = true;
	return from_api_volumes_storage_class(c->cluster, m->object, c->scratch, err);
}

void cache_volumes_remove_storage_class(struct cache *c, const struct sched_msg *m)
{
	c->dirty |= volumes_remove_class(c->cluster, m->key);
}

void cache_volumes_keep_storage_class(struct cache *c, const struct sched_msg *m,
				      struct cache_time time UNUSED)
{
	cache_volumes_remove_storage_class(c, m);
}

int cache_volumes_upsert_csi_node(struct cache *c, const struct sched_msg *m,
				  struct cache_time time UNUSED, struct err *err)
{
	uint64_t before = c->cluster->nodes_gen;
	int r = from_api_volumes_csi_node(c->cluster, m->object, c->scratch, err);

	c->dirty |= c->cluster->nodes_gen != before;
	return r;
}

void cache_volumes_remove_csi_node(struct cache *c, const struct sched_msg *m)
{
	volumes_set_limits(c->cluster, m->key, NULL, 0);
	c->dirty = true;
}

int cache_volumes_upsert_driver(struct cache *c, const struct sched_msg *m,
				struct cache_time time UNUSED, struct err *err)
{
	bool changed = false;
	int r = from_api_volumes_driver(c->cluster, m->object, &changed, err);

	c->dirty |= changed;
	return r;
}

void cache_volumes_remove_driver(struct cache *c, const struct sched_msg *m)
{
	c->dirty |= storage_capacity_set_driver(c->cluster, m->key, false);
}

/* Drivers write it anew with every volume that they make: it starts a cycle only where it has more
 * room than before. */
int cache_volumes_upsert_capacity(struct cache *c, const struct sched_msg *m,
				  struct cache_time time UNUSED, struct err *err)
{
	bool changed = false;
	int r = from_api_volumes_capacity(c->cluster, m->object, c->scratch, &changed, err);

	c->dirty |= changed;
	return r;
}

void cache_volumes_remove_capacity(struct cache *c, const struct sched_msg *m)
{
	(void)storage_capacity_remove(c->cluster, m->key);
}

void cache_volumes_keep_capacity(struct cache *c, const struct sched_msg *m,
				 struct cache_time time UNUSED)
{
	cache_volumes_remove_capacity(c, m);
}
