#include <assert.h>
#include <stdlib.h>

#include "api/core/namespace.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "obs/metric.h"
#include "scheduler/pods/ingest/cache_priv.h"
#include "scheduler/pods/ledger/offers.h"
#include "scheduler/pods/model/access.h"
#include "scheduler/pods/model/budgets.h"

/* names: NULL: none. */
static char **copy_names(const char *const *names)
{
	size_t n = 0;
	char **copy;

	while (names != NULL && names[n] != NULL) {
		n++;
	}
	copy = xmalloc_zero(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++) {
		copy[i] = xmalloc_dup(names[i]);
	}
	return copy;
}

static void free_names(char **names)
{
	for (char **name = names; *name != NULL; name++) {
		free(*name);
	}
	free(names);
}

struct cache *cache_create(const struct cache_options *opt)
{
	struct cache *c = xmalloc_zero(1, sizeof(*c));

	c->cluster = cluster_create();
	c->scheduler_names = copy_names(opt->scheduler_names);
	c->gate_schedulers = copy_names(opt->gate_schedulers);
	c->default_queue = xmalloc_dup(opt->default_queue);
	/* A placeholder until the object is seen: PodGroups without a queue can name it at once. */
	c->cluster->default_queue = queue_get(c->cluster, str_of(opt->default_queue))->id;
	c->found_age_max_ns = opt->found_age_max_ns;
	c->attempt_least_ns = opt->attempt_least_ns;
	c->attempt_held_ns = opt->attempt_held_ns;
	c->shapes = strmap_create(NULL);
	c->cluster->annotation_decides = opt->annotation_decides;
	c->cluster->implies_podgroups = opt->implies_podgroups;
	if (opt->reads_budgets) {
		budgets_begin(c->cluster);
	}
	c->listener = opt->listener;
	c->scratch = arena_create(0);
	c->reports_foreign_from = MODEL_TIME_NONE;
	c->foreign_podgroups = strmap_create(NULL);
	if (opt->counters != NULL) {
		c->drift = metric_cell(
			metric_register(
				opt->counters, "headgate_cache_accounting_drift",
				"Times that a sum of charges would have become negative: a bug.",
				METRIC_GAUGE, NULL),
			NULL);
		c->resource_names =
			metric_cell(metric_register(opt->counters, "headgate_resource_names",
						    "Different resource names on nodes and Queues.",
						    METRIC_GAUGE, NULL),
				    NULL);
	}
	return c;
}

void cache_destroy(struct cache *c)
{
	if (c == NULL) {
		return;
	}
	free_names(c->scheduler_names);
	free_names(c->gate_schedulers);
	free(c->default_queue);
	arena_destroy(c->scratch);
	strmap_destroy(c->foreign_podgroups);
	strmap_destroy(c->shapes);
	cluster_destroy(c->cluster);
	free(c);
}

/* While the first lists come in, each Queue would change the topology: that waits until the cluster
 * is asked for. */
struct cluster *cache_cluster(struct cache *c)
{
	if (c->queues_stale) {
		cache_queue_reconcile(c);
	}
	return c->cluster;
}

void cache_resources_changed(struct cache *c)
{
	const struct res_names *names = c->cluster->res;
	size_t left_out = res_names_left_out(names), all = res_names_count(names) + left_out;

	offers_resolve(c->cluster);
	if (all == c->resources) {
		return;
	}
	c->resources = all;
	if (c->resource_names != NULL) {
		metric_cell_set(c->resource_names, (double)all);
	}
	if (c->listener.on_resources != NULL) {
		c->listener.on_resources(c->listener.ctx, res_names_count(names), left_out);
	}
}

void cache_report_bad(struct cache *c, enum sched_resource r, struct str key, const char *text)
{
	if (c->listener.on_bad_object != NULL) {
		c->listener.on_bad_object(c->listener.ctx, r, key, text);
	}
}

/* ns: NULL when it was deleted. Its labels decide which queues its pods may use. A pod on a node is
 * charged elsewhere where its namespace may not use the queue: so charges are reconciled. */
static void set_namespace(struct cache *c, struct str name, const struct api_namespace *ns)
{
	if (!access_set_namespace(c->cluster, name, ns == NULL ? NULL : &ns->meta.labels)) {
		return;
	}
	c->queues_stale = true;
	c->dirty = true;
	if (c->synced[SCHED_QUEUES]) {
		cache_queue_reconcile(c);
	}
}

static int upsert_namespace(struct cache *c, const struct sched_msg *m,
			    struct cache_time time UNUSED, struct err *err UNUSED)
{
	set_namespace(c, m->key, m->object);
	return 0;
}

static void remove_namespace(struct cache *c, const struct sched_msg *m)
{
	set_namespace(c, m->key, NULL);
}

/* Kinds without keep stay as they were last read. */
static const struct {
	int (*upsert)(struct cache *c, const struct sched_msg *m, struct cache_time time,
		      struct err *err);
	void (*remove)(struct cache *c, const struct sched_msg *m);
	void (*keep)(struct cache *c, const struct sched_msg *m, struct cache_time time);
} rows[SCHED_RESOURCE_COUNT_] = {
	[SCHED_PODS] = { cache_pod_upsert, cache_pod_remove, cache_pod_keep },
	[SCHED_NODES] = { cache_node_upsert, cache_node_remove, cache_node_keep },
	[SCHED_QUEUES] = { cache_queue_upsert, cache_queue_remove, NULL },
	[SCHED_PODGROUPS] = { cache_podgroup_upsert, cache_podgroup_remove, cache_podgroup_keep },
	[SCHED_KUBE_PODGROUPS] = { cache_kube_podgroup_upsert, cache_kube_podgroup_remove,
				   cache_kube_podgroup_keep },
	[SCHED_PRIORITY_CLASSES] = { cache_priority_upsert, cache_priority_remove, NULL },
	[SCHED_NAMESPACES] = { upsert_namespace, remove_namespace, NULL },
	[SCHED_CLAIMS] = { cache_volumes_upsert_claim, cache_volumes_remove_claim, NULL },
	[SCHED_VOLUMES] = { cache_volumes_upsert_volume, cache_volumes_remove_volume,
			    cache_volumes_keep_volume },
	[SCHED_STORAGE_CLASSES] = { cache_volumes_upsert_storage_class,
				    cache_volumes_remove_storage_class,
				    cache_volumes_keep_storage_class },
	[SCHED_CSI_NODES] = { cache_volumes_upsert_csi_node, cache_volumes_remove_csi_node, NULL },
	[SCHED_CSI_DRIVERS] = { cache_volumes_upsert_driver, cache_volumes_remove_driver, NULL },
	[SCHED_STORAGE_CAPACITIES] = { cache_volumes_upsert_capacity, cache_volumes_remove_capacity,
				       cache_volumes_keep_capacity },
	[SCHED_BUDGETS] = { cache_budget_upsert, cache_budget_remove, NULL },
};

/* An object that cannot be read keeps its accounting. */
static void keep(struct cache *c, const struct sched_msg *m, struct cache_time time)
{
	if (m->object != NULL && rows[m->resource].keep != NULL) {
		rows[m->resource].keep(c, m, time);
	}
}

static void on_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time)
{
	struct err err = ERR_INIT;

	if (rows[m->resource].upsert != NULL && rows[m->resource].upsert(c, m, time, &err) < 0) {
		cache_report_bad(c, m->resource, m->key, err.text);
		keep(c, m, time);
	}
}

static void on_delete(struct cache *c, const struct sched_msg *m)
{
	if (rows[m->resource].remove != NULL) {
		rows[m->resource].remove(c, m);
	}
}

void cache_apply(struct cache *c, const struct sched_msg *m, struct cache_time time)
{
	switch (m->kind) {
	case SCHED_MSG_UPSERT:
		on_upsert(c, m, time);
		break;
	case SCHED_MSG_DELETE:
		on_delete(c, m);
		break;
	case SCHED_MSG_BAD_OBJECT:
		cache_report_bad(c, m->resource, m->key, m->text);
		keep(c, m, time);
		break;
	case SCHED_MSG_SYNCED:
		c->synced[m->resource] = true;
		c->dirty = true;
		break;
	case SCHED_MSG_REQUEST_DONE:
		cache_request_done(c, m, time.now);
		break;
	case SCHED_MSG_REFRESHED:
	case SCHED_MSG_LEASE:
	case SCHED_MSG_CONF:
	case SCHED_MSG_SNAPSHOT:
	case SCHED_MSG_GATE_FIELDS:
	case SCHED_MSG_WATCH:
	case SCHED_MSG_RESOURCE:
	case SCHED_MSG_SURVEY:
	case SCHED_MSG_STOP:
	case SCHED_MSG_KIND_COUNT_:
		assert(!"a message that is not the cache's");
	}
	/* Between two messages nothing holds a name or a vector but the cluster, so that unused
	 * ones may go. */
	arena_reset(c->scratch);
	cluster_names_sweep(c->cluster);
}

bool cache_is_synced(const struct cache *c)
{
	unsigned kinds = sched_kinds_watched(false);

	for (unsigned i = 0; i < kinds; i++) {
		if (!c->synced[i]) {
			return false;
		}
	}
	return c->cluster->budget_index == NULL || c->synced[SCHED_BUDGETS];
}

bool cache_take_dirty(struct cache *c)
{
	bool dirty = c->dirty;

	if (c->drift != NULL) {
		metric_cell_set(c->drift, (double)c->cluster->drift);
	}
	c->dirty = false;
	return dirty;
}
