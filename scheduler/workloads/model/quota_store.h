/* scheduler/workloads/model/quota_store.h: builds and changes a struct quota_model: objects come,
 * change and go in any order; names without an object have placeholders. Which workloads hold quota
 * or are pending is not decided here: callers release a workload (workloads/forest/forest.h,
 * workloads/pending/pending.h) before they remove it (asserted). Bodies: quota*.c, cluster_queue.c,
 * namespace_selector.c, podset.c, workload.c. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_MODEL_QUOTA_STORE_H
#define SCHEDULER_WORKLOADS_MODEL_QUOTA_STORE_H

#include "base/str.h"
#include "scheduler/workloads/model/quota_model.h"

/* Empty, with default options: those of Kueue 0.20, fair sharing off, but preemptors first. */
struct quota_model *quota_create(void);
void quota_destroy(struct quota_model *q); /* NULL is fine */
void quota_options_default(struct quota_options *o);

const char *quota_name(struct quota_model *q, struct str name); /* interned for good; absent: "" */
/* Interned until a sweep finds that no object has it: for texts that tenants write. */
const char *quota_text(struct quota_model *q, struct str text);
/* So many unused names may have gathered that a sweep is worth its cost, which is a look at every
 * object. */
bool quota_names_wants_sweep(const struct quota_model *q);
/* Forgets resources, and all names but those of quota_name, that no object in the model has any
 * more. Callers mark the ids of resources that live outside of it first. */
void quota_names_mark_resource(struct quota_model *q, uint32_t resource);
void quota_names_sweep(struct quota_model *q);
uint32_t quota_resource(struct quota_model *q, struct str name);
const char *quota_resource_name(const struct quota_model *q, uint32_t resource);
uint32_t quota_pair_get(struct quota_model *q, uint32_t flavor,
			uint32_t resource); /* adds when new */
uint32_t quota_pair_find(const struct quota_model *q, uint32_t flavor,
			 uint32_t resource); /* MODEL_NONE */

/* *_get makes a placeholder (exists = false) when unknown; *_find gives NULL. Queues and cohorts
 * are different name spaces. Pointers to nodes are good until quota_nodes_changed drops them:
 * cohorts that no other node names; queues that do not exist and that no workload is in. */
struct flavor *quota_flavor_get(struct quota_model *q, struct str name);
struct flavor *quota_flavor_find(const struct quota_model *q, struct str name);
struct quota_node *quota_queue_get(struct quota_model *q, struct str name);
struct quota_node *quota_queue_find(const struct quota_model *q, struct str name);
struct quota_node *quota_cohort_get(struct quota_model *q, struct str name);
struct quota_node *quota_cohort_find(const struct quota_model *q, struct str name);

/* Makes it a placeholder, before it is filled again or because the object is gone: frees what came
 * from the object. Holders of quota and pending workloads stay. */
void quota_flavor_clear(struct flavor *f);
void quota_node_clear(struct quota_node *n);
/* Removes and frees a node; only for quota_nodes_changed and quota_destroy. */
void quota_node_drop(struct quota_model *q, struct quota_node *n);
/* Sorted by pair; replaces the cell of the same pair. */
void quota_node_set_cell(struct quota_node *n, struct quota_cell cell);
/* NULL: the node configures nothing for the pair. */
const struct quota_cell *quota_node_cell(const struct quota_node *n, uint32_t pair);
static inline bool quota_group_covers(const struct resource_group *g, uint32_t resource)
{
	for (size_t i = 0; i < g->nresources; i++) {
		if (g->resources[i] == resource) {
			return true;
		}
	}
	return false;
}
/* The resource group that covers the resource; NULL: none. */
const struct resource_group *quota_node_group(const struct quota_node *n, uint32_t resource);
/* After parent, exists, cells, groups or weight of any node changed: resolves parents (making
 * placeholder cohorts, dropping those that no node names), computes `inactive` of all queues and
 * bumps forest_gen. */
void quota_nodes_changed(struct quota_model *q);
/* Computes `inactive` of a queue from flavors, checks, stop and its cohorts. */
void cluster_queue_check(struct quota_model *q, struct quota_node *n);
/* The same for all queues: after a flavor, an AdmissionCheck or a Topology changed. */
void cluster_queue_check_all(struct quota_model *q);
/* The reason of the Active condition: "FlavorNotFound"; "Ready" when active. */
const char *cluster_queue_reason(enum quota_inactive why);

/* AdmissionChecks that exist, and Topologies. Queues are updated by cluster_queue_check_all. */
void quota_check_set(struct quota_model *q, struct str name, bool active,
		     enum quota_check_kind kind);
void quota_check_remove(struct quota_model *q, struct str name);
const struct quota_admission_check *quota_check_find(const struct quota_model *q, struct str name);
void quota_topology_set(struct quota_model *q, struct str name, bool exists);

/* LocalQueues, by "namespace/name". */
struct local_queue *quota_local_get(struct quota_model *q, struct str key);
struct local_queue *quota_local_find(const struct quota_model *q, struct str key);
/* The LocalQueue that w names; NULL: none that is known. Remembering it saves looking it up, as
 * long as it is there. */
struct local_queue *quota_local_of(const struct quota_model *q, const struct workload *w);
void quota_local_remember(const struct quota_model *q, struct workload *w);
void quota_local_remove(struct quota_model *q, struct local_queue *l);
/* The ClusterQueue that it names; NULL: there is none, or only its name. */
const struct quota_node *quota_local_queue(const struct quota_model *q,
					   const struct local_queue *l);

/* A new workload by "namespace/name", which must not be known: active, with an empty arena, without
 * quota and not pending. */
struct workload *quota_workload_add(struct quota_model *q, struct str key);
struct workload *quota_workload_find(const struct quota_model *q, struct str key);
/* It must not hold quota nor be pending. */
void quota_workload_remove(struct quota_model *q, struct workload *w);

/* The part of its key behind the namespace. */
const char *quota_workload_name(const struct workload *w);

/* Namespaces that exist; removing one that does not has no effect. */
struct quota_namespace *quota_namespace_get(struct quota_model *q, struct str name);
struct quota_namespace *quota_namespace_find(const struct quota_model *q, struct str name);
void quota_namespace_remove(struct quota_model *q, struct str name);

/* spec.priority, and the boost when its gate is on. Inline: called for every candidate. */
static inline int64_t workload_priority(const struct quota_model *q, const struct workload *w)
{
	return (int64_t)w->object.priority + (q->options.priority_boost ? w->object.boost : 0);
}
/* The time that orders equal priorities (Kueue: queue-order timestamp). */
int64_t workload_queue_time(const struct quota_model *q, const struct workload *w);
/* For podset.shape: a hash of all of its other members but spec_count. Equal on every machine
 * when resources were named in the same order. */
uint64_t podset_shape(const struct podset *p);
/* Strings of both are interned in the same table. */
bool namespace_selector_matches(const struct namespace_selector *s, const struct label *labels,
				size_t n);

/* Sorted lists of amounts. Adding saturates below QUOTA_UNLIMITED: what is used is bounded. */
int64_t quota_amounts_get(const struct quota_amounts *a, uint32_t id); /* 0 where absent */
void quota_amounts_add(struct quota_amounts *a, uint32_t id, int64_t value);
void quota_amounts_finish(struct quota_amounts *a);
/* A set of ids as bits: each of the first ones has its own, all others share one. */
#define QUOTA_MASK_OTHERS (UINT64_C(1) << 63)
uint64_t quota_amounts_bit(uint32_t id);
uint64_t quota_amounts_mask(const struct quota_amounts *a); /* of all ids in the list */

#endif
