/* scheduler/pods/ingest/from_api.h: from decoded API objects to the model. Amounts: requests are
 * rounded up, limits and capacities down; a negative or absurd amount is an error that names its
 * path. Every function checks its whole input before it changes anything but the tables of names:
 * after an error the cluster is as it was. Quota charges are the caller's business. Owner: the
 * sched thread. Pure. */
#ifndef SCHEDULER_PODS_INGEST_FROM_API_H
#define SCHEDULER_PODS_INGEST_FROM_API_H

#include "base/str.h"
#include "scheduler/pods/model/cluster.h"

/* More than this of anything on one node or in one pod is taken for an error. */
#define FROM_API_MAX_AMOUNT (INT64_C(1) << 50)

struct api_csi_driver_object;
struct api_csi_node;
struct api_kube_pod_group;
struct api_disruption_budget;
struct api_node;
struct api_persistent_claim;
struct api_persistent_volume;
struct api_pod;
struct api_pod_group;
struct api_priority_class;
struct api_queue;
struct api_storage_capacity;
struct api_storage_class;
struct arena;
struct err;
struct field_resources;

/* Names in spec.schedulerName; each list ends with NULL. A name in both is ours. */
struct from_api_schedulers {
	const char *const *ours;
	const char *const *gated; /* pods that another scheduler places; NULL: none */
};

/* A pod as it was read, before it becomes (part of) a task. Texts point into the API object, the
 * class into the scratch arena. */
struct from_api_pod {
	struct str namespace_, name, uid;
	struct str group;      /* PodGroup it names; absent: none (yet), or not our pod */
	struct str kube_group; /* PodGroup of Kubernetes that a TASK_GATE_ONLY pod names; absent */
	/* It is a group of its own. Either it names no PodGroup and none is made for it, as it is
	 * TASK_GATE_ONLY, or plain (neither opted in nor gated by us) and without controller; or it
	 * names one of each kind (names_both), so that neither counts. */
	bool alone;
	bool names_both;
	struct str queue;   /* of a pod that is alone or has a kube_group; the default queue if it
			       names no queue */
	int32_t min_member; /* of a pod without PodGroup that is ours to place */
	struct str node, nominated; /* absent: none */
	struct str reserved;        /* value of headgate.io/reserved; absent: none */
	struct pod_class *klass;    /* normalised, not interned */
	struct label *labels;       /* by key, interned */
	size_t nlabels;
	uint32_t role;
	uint32_t reserved_name; /* id of `reserved` in cluster->names; MODEL_NONE: absent */
	int32_t priority;
	int32_t class_priority; /* spec.priority, which follows from the PriorityClass; absent: 0 */
	int32_t granted_priority;
	int32_t deletion_cost; /* 0: absent */
	uint32_t flags;        /* enum task_flag, those that can be read off the object */
	uint8_t gate_row;
	enum task_status status;
	enum pod_cond cond;
	uint64_t cond_message;
	int64_t created, deleted, published_at, resource_version;
	uint32_t attempts;   /* reservations that timed out, by its annotation; 0: none */
	int64_t attempts_at; /* wall ns of the end of the last one */
	/* By the clock of the process, set by from_api_pod_times; MODEL_TIME_NONE: none. */
	int64_t ends_by, cools_until;
	int64_t cooldown;  /* ns after it was placed during which it asks not to be evicted */
	int64_t placed_at; /* wall ns; MODEL_TIME_NONE: it does not run, or that is not known */
	bool bad_cooldown; /* the text of its cooldown is no duration, and has no effect */
	int64_t retry_at;  /* set by cache_pod.c for a pod that has a time-out behind it when it is
			      first seen; else MODEL_TIME_NONE */
};

/* A pod of another scheduler gets a class with its request and ports only. */
int from_api_pod_read(struct cluster *c, const struct api_pod *pod,
		      const struct from_api_schedulers *names, struct arena *scratch,
		      struct from_api_pod *ret, struct err *err);
/* The same without class and role: fails only without a name. */
int from_api_pod_plain(struct cluster *c, const struct api_pod *pod,
		       const struct from_api_schedulers *names, struct from_api_pod *ret,
		       struct err *err);
/* Sets ends_by and cools_until. now and wall: the present time by both clocks (struct cache_time).
 * A grace period counts for an hour at most, so that an endless one keeps nothing waiting. */
void from_api_pod_times(struct from_api_pod *p, int64_t now, int64_t wall);
/* For a pod that from_api_pod_read refuses, or that decode_partial could not decode as a whole:
 * reads what can be read, and takes the rest from the last known version of the pod (known; NULL:
 * there is none), so that the pod goes on holding what it held. An amount that cannot be read, or
 * is out of range, is the known one, or else FROM_API_MAX_AMOUNT; no amount is less than the known
 * one. The class fits no node (POD_CLASS_UNREADABLE). Fails only without a name. */
int from_api_pod_keep(struct cluster *c, const struct api_pod *pod,
		      const struct from_api_schedulers *names, const struct task *known,
		      struct arena *scratch, struct from_api_pod *ret);
/* The same for a PodGroup that is not known yet: it gets its queue, and a minimum that is never
 * met, so that members that run stay charged and no other member starts. Fails without a name. */
int from_api_podgroup_keep(struct cluster *c, const struct api_pod_group *group,
			   struct str default_queue, struct err *err);
/* Sets class, PodGroup, nomination and plain members of an existing task. Not: status and node (the
 * ledger must record RELEASING first), charge, TASK_PARKED, TASK_UNGATING, retry_at; nor the
 * PodGroup of a task that is TASK_ADOPTED and names none. */
void from_api_pod_apply(struct cluster *c, const struct from_api_pod *p, struct task *t);

/* The status of t that follows from the pod. One that terminates and is TASK_STUCK is TASK_UNKNOWN:
 * it counts as a pod that stays. */
enum task_status from_api_pod_status(const struct from_api_pod *p, const struct task *t);

/* Adds or updates; node accounts and generations follow. A change of its images alone is none of
 * those. */
int from_api_node(struct cluster *c, const struct api_node *node, struct err *err);
/* Adds or updates; *ret_changed: something that decisions depend on changed (the caller then calls
 * queue_topology_changed), as opposed to the status alone. */
int from_api_queue(struct cluster *c, const struct api_queue *queue, bool *ret_changed,
		   struct err *err);
/* Adds or updates the PodGroup; an empty queue name means default_queue. Charges of its tasks stay
 * on the queue they were on. Phase and counts are taken as the object has them. */
int from_api_podgroup(struct cluster *c, const struct api_pod_group *group,
		      struct str default_queue, struct err *err);
/* Makes or updates the PODGROUP_ALONE of a task, after its class was set. */
struct podgroup *from_api_podgroup_alone(struct cluster *c, const struct from_api_pod *p,
					 const struct task *t);
/* Adds or updates the PODGROUP_KUBE and its parts. A minimum below 1 is an error. */
int from_api_kube_podgroup(struct cluster *c, const struct api_kube_pod_group *group,
			   struct err *err);
/* As from_api_podgroup_keep. */
int from_api_kube_podgroup_keep(struct cluster *c, const struct api_kube_pod_group *group,
				struct err *err);
/* Adds or updates; priorities of PodGroups follow by from_api_podgroup_priorities. */
int from_api_priority_class(struct cluster *c, const struct api_priority_class *pc,
			    struct err *err);
/* Works out the priority of every PodGroup again: its class, else the global default class, else 0.
 */
void from_api_podgroup_priorities(struct cluster *c);

/* Adds or updates, as budgets_set does (pods/model/budgets.h); where budgets are read. */
int from_api_budget(struct cluster *c, const struct api_disruption_budget *budget, struct err *err);

/* Add or update, as pods/model/volumes.h says. *ret_changed: placements depend on it. */
#define FROM_API_SELECTOR_MAX 64 /* requirements of a claim, or of a CSIStorageCapacity */
int from_api_volumes_claim(struct cluster *c, const struct api_persistent_claim *claim,
			   struct arena *scratch, bool *ret_changed, struct err *err);
int from_api_volumes_volume(struct cluster *c, const struct api_persistent_volume *volume,
			    struct arena *scratch, struct err *err);
int from_api_volumes_storage_class(struct cluster *c, const struct api_storage_class *k,
				   struct arena *scratch, struct err *err);
int from_api_volumes_csi_node(struct cluster *c, const struct api_csi_node *node,
			      struct arena *scratch, struct err *err);
/* *ret_changed: pods may find room that they did not find before. */
int from_api_volumes_driver(struct cluster *c, const struct api_csi_driver_object *driver,
			    bool *ret_changed, struct err *err);
int from_api_volumes_capacity(struct cluster *c, const struct api_storage_capacity *capacity,
			      struct arena *scratch, bool *ret_changed, struct err *err);

/* Amounts that a node has or a Queue limits, into *ret (the caller fills it before with what absent
 * names mean). Rounded down. New names become dimensions, for good: only administrators write these
 * objects; the caller then calls offers_resolve (pods/ledger/offers.h). max: largest amount that is
 * not an error. */
int from_api_offered(struct cluster *c, const struct field_resources *r, int64_t max,
		     struct res *ret, struct err *err);
/* Amounts that a pod or a PodGroup asks for, rounded up. Adds no name: amounts above 0 of names
 * without a dimension are appended to *ret_unoffered, with names that point into r. The caller has
 * made room in its v for r->n more. */
int from_api_requested(const struct cluster *c, const struct field_resources *r, int64_t max,
		       struct res *ret, struct unoffered *ret_unoffered, struct err *err);
/* An interned copy of text ("" for NULL). */
int from_api_text(struct cluster *c, const char *text, const char **ret, struct err *err);
/* The selector, affinity, tolerations, ports and refusals of a pod that is ours, and the images of
 * one without a node. */
int from_api_class_read(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			struct pod_class *k, struct err *err);
/* The terms about other pods, by kind. places false: another scheduler places the pod, and only
 * those are read that keep others away from it. Those after the first POD_CLASS_TERMS_MAX are left
 * out, and k->unsupported says so. */
int from_api_terms_read(struct cluster *c, const struct api_pod *pod, bool places,
			struct arena *scratch, struct pod_class *k, struct err *err);
/* The claims of its volumes, POD_CLASS_CLAIMS_MAX at most: with more it is refused. */
int from_api_class_claims(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			  struct pod_class *k, struct err *err);
/* Host ports only. */
int from_api_class_ports(struct cluster *c, const struct api_pod *pod, struct arena *scratch,
			 struct pod_class *k, struct err *err);

#endif
