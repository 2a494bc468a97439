/* scheduler/pods/ingest/cache_priv.h: shared by the files of the cache. Owner: sched thread. */
#ifndef SCHEDULER_PODS_INGEST_CACHE_PRIV_H
#define SCHEDULER_PODS_INGEST_CACHE_PRIV_H

#include "scheduler/pods/ingest/cache.h"
#include "scheduler/pods/model/cluster.h"

struct api_node;
struct api_pod;
struct api_pod_group;
struct arena;
struct metric_cell;
struct err;
struct strmap;

struct cache {
	struct cluster *cluster;
	char **scheduler_names, **gate_schedulers; /* NULL-terminated */
	char *default_queue;
	int64_t found_age_max_ns, attempt_least_ns, attempt_held_ns;
	struct strmap *shapes; /* of nodes that were seen: cache_shapes.c */
	struct cache_listener listener;
	struct metric_cell *drift, *resource_names; /* NULL without a registry */
	size_t resources;             /* names that were reported last, those left out included */
	struct arena *scratch;        /* for one message */
	int64_t reports_foreign_from; /* wall ns of the last rebuild, MODEL_TIME_NONE: none yet */
	struct strmap *foreign_podgroups; /* keys of PodGroups that another program made, until a
					     pod of ours is in them; values mean nothing */
	bool synced[SCHED_RESOURCE_COUNT_];
	bool dirty;
	bool queues_stale; /* queue_topology_changed is still to be called */
};

/* For each kind of object, where m->object is of that kind:
 * upsert returns -ERR_INVALID for an object that cannot be used, and has changed nothing then;
 * remove ignores unknown keys;
 * keep is called for an object that cannot be used, or did not decode completely. */
int cache_pod_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
		     struct err *err);
void cache_pod_remove(struct cache *c, const struct sched_msg *m);
/* The pod keeps what it holds, as far as it can be read. Nothing new is decided for it before it
 * changes. */
void cache_pod_keep(struct cache *c, const struct sched_msg *m, struct cache_time time);
int cache_node_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
		      struct err *err);
void cache_node_remove(struct cache *c, const struct sched_msg *m);
/* No pod is placed on a node that is known and cannot be read any more. */
void cache_node_keep(struct cache *c, const struct sched_msg *m, struct cache_time time);
int cache_queue_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
		       struct err *err);
void cache_queue_remove(struct cache *c, const struct sched_msg *m);
int cache_podgroup_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
			  struct err *err);
void cache_podgroup_remove(struct cache *c, const struct sched_msg *m);
void cache_podgroup_keep(struct cache *c, const struct sched_msg *m, struct cache_time time);
int cache_kube_podgroup_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
			       struct err *err);
void cache_kube_podgroup_remove(struct cache *c, const struct sched_msg *m);
void cache_kube_podgroup_keep(struct cache *c, const struct sched_msg *m, struct cache_time time);
int cache_priority_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
			  struct err *err);
void cache_priority_remove(struct cache *c, const struct sched_msg *m);
int cache_budget_upsert(struct cache *c, const struct sched_msg *m, struct cache_time time,
			struct err *err);
void cache_budget_remove(struct cache *c, const struct sched_msg *m);
int cache_volumes_upsert_claim(struct cache *c, const struct sched_msg *m, struct cache_time time,
			       struct err *err);
void cache_volumes_remove_claim(struct cache *c, const struct sched_msg *m);
int cache_volumes_upsert_volume(struct cache *c, const struct sched_msg *m, struct cache_time time,
				struct err *err);
void cache_volumes_remove_volume(struct cache *c, const struct sched_msg *m);
/* The volume counts as absent: no pod is placed by its last known version. */
void cache_volumes_keep_volume(struct cache *c, const struct sched_msg *m, struct cache_time time);
int cache_volumes_upsert_storage_class(struct cache *c, const struct sched_msg *m,
				       struct cache_time time, struct err *err);
void cache_volumes_remove_storage_class(struct cache *c, const struct sched_msg *m);
void cache_volumes_keep_storage_class(struct cache *c, const struct sched_msg *m,
				      struct cache_time time);
int cache_volumes_upsert_csi_node(struct cache *c, const struct sched_msg *m,
				  struct cache_time time, struct err *err);
void cache_volumes_remove_csi_node(struct cache *c, const struct sched_msg *m);
int cache_volumes_upsert_driver(struct cache *c, const struct sched_msg *m, struct cache_time time,
				struct err *err);
void cache_volumes_remove_driver(struct cache *c, const struct sched_msg *m);
int cache_volumes_upsert_capacity(struct cache *c, const struct sched_msg *m,
				  struct cache_time time, struct err *err);
void cache_volumes_remove_capacity(struct cache *c, const struct sched_msg *m);
/* The class counts as one without free storage. */
void cache_volumes_keep_capacity(struct cache *c, const struct sched_msg *m,
				 struct cache_time time);

/* Reports to the listener that something about the object cannot be used. */
void cache_report_bad(struct cache *c, enum sched_resource r, struct str key, const char *text);
/* Call it after a change of a node or a Queue, which may have new names of resources. */
void cache_resources_changed(struct cache *c);
/* True: the node has a shape that no node had so far. */
bool cache_shapes_add(struct cache *c, const struct api_node *node);
/* Brings topology, sums and the charges of PodGroups that wait for queues up to date if need be. */
void cache_queue_reconcile(struct cache *c);

/* Reports a bind by another program: before an update of a known pod is applied. */
void cache_foreign_bind(struct cache *c, const struct task *t, const struct api_pod *pod);
/* The same for PodGroups that another program made. podgroup: g was not known before; member: t may
 * belong to such a PodGroup; forget: it is gone. */
void cache_foreign_podgroup(struct cache *c, const struct podgroup *g,
			    const struct api_pod_group *group);
void cache_foreign_member(struct cache *c, const struct task *t);
void cache_foreign_forget(struct cache *c, struct str key);

/* The outcome of a write. */
void cache_request_done(struct cache *c, const struct sched_msg *m, int64_t now);

/* Makes the charge of a task agree with what is known of the pod and of its PodGroup: pods with a
 * node are charged, finished and foreign ones are not. A charge stays on its queue. A pod on a node
 * is charged to the default queue if its PodGroup does not exist, or is of a queue that its
 * namespace may not use. */
void cache_charge_reconcile(struct cache *c, struct task *t);
/* Gives the charge back, if there is one. A queue that was deleted is forgotten with its last one.
 */
void cache_charge_release(struct cache *c, struct task *t);
/* Whether a pod with a node occupies anything: spec.nodeName is the creator's to choose, so the
 * Node must exist and, unless we have granted the pod quota or bound it, be large enough, or the
 * phase be beyond Pending, which tenants cannot write (the pod outlives its Node). A charge that
 * was given while the Node existed stays without it. */
bool cache_charge_is_real(const struct cluster *c, const struct task *t);
bool cache_charge_is_barred(const struct cluster *c, const struct task *t);
void cache_charge_reconcile_podgroup(struct cache *c, struct podgroup *g);

#endif
