/* scheduler/pods/model/model.h: the cluster as the scheduler sees it: queues, PodGroups,
 * tasks (pods), nodes. Plain data. Owner: the sched thread; a cycle sees it const. The structs are
 * changed only through pods/model/cluster.h (accounting that belongs together) and
 * pods/ledger/ledger.h (quota charges). Ids are dense indices into the arrays of struct cluster,
 * re-used after removal. */
#ifndef SCHEDULER_PODS_MODEL_MODEL_H
#define SCHEDULER_PODS_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/slots.h"
#include "scheduler/base/match.h"
#include "scheduler/base/sentinel.h"
#include "scheduler/pods/values/resources.h"
#include "scheduler/pods/values/unoffered.h"

struct budget_index; /* pods/model/budgets.h */
struct intern;
struct strmap;
struct pod_class;  /* pods/values/pod_class.h */
struct pod_labels; /* pods/model/selectors.h */
struct selector_index;

enum task_status {
	TASK_PENDING,   /* no node */
	TASK_ALLOCATED, /* session only: placed by this cycle */
	TASK_PIPELINED, /* session only: placed on resources that are being released */
	TASK_BINDING,   /* bind decided, not yet seen on the pod */
	TASK_BOUND,     /* spec.nodeName set, phase Pending */
	TASK_RUNNING,
	TASK_RELEASING, /* deletionTimestamp set: a terminating pod, by the name that Volcano gives
			   it */
	TASK_SUCCEEDED,
	TASK_FAILED,
	TASK_UNKNOWN,
	TASK_STATUS_COUNT_
};

/* Life of the one quota charge of a pod (the ledger). NONE holds nothing. */
enum charge_state {
	CHARGE_NONE,
	CHARGE_PATCHING,  /* reserved; the patch that removes the gate is not acknowledged yet */
	CHARGE_UNGATED,   /* reserved; gate gone; not published */
	CHARGE_PUBLISHED, /* reserved; PodScheduled=False/Unschedulable decided or seen */
	CHARGE_AWAITING_VICTIMS, /* holds the quota of its victims while they terminate: both are
				    charged until then; its gate stays on */
	CHARGE_ASSUMED,          /* bind decided */
	CHARGE_BOUND,            /* has a node; terminating pods stay here until they are gone */
	CHARGE_WITHDRAWING, /* given up, but autoscalers still see the pod: free for others when
			       the withdrawal is acknowledged */
	CHARGE_STATE_COUNT_
};

/* The PodScheduled condition at present. */
enum pod_cond {
	POD_COND_NONE,
	POD_COND_GATED,         /* SchedulingGated */
	POD_COND_UNSCHEDULABLE, /* autoscalers react to it */
	POD_COND_NOT_READY,     /* NotReadyForScheduling: withdrawn */
	POD_COND_SCHEDULABLE,   /* reason Schedulable: gang short */
	POD_COND_ERROR,         /* SchedulerError */
	POD_COND_TRUE,
	POD_COND_OTHER,
	POD_COND_COUNT_
};

enum task_flag {
	TASK_OPTED_IN = 1 << 0,     /* carries the opt-in annotation with value "true", or did when
				       it got our gate or our mark (cluster->annotation_decides) */
	TASK_OUR_GATE = 1 << 1,     /* one of our gates is on it */
	TASK_FOREIGN_GATE = 1 << 2, /* some other gate is on it */
	TASK_PREEMPTABLE = 1 << 3,
	TASK_PREEMPT_NEVER = 1 << 4, /* preemptionPolicy: Never */
	TASK_OURS = 1 << 5,          /* under the quota of a queue: its schedulerName is ours, or it
					is TASK_GATE_ONLY; else it only occupies its node */
	TASK_RESERVED_MARK = 1 << 6, /* carries headgate.io/reserved */
	TASK_PARKED = 1 << 7,        /* a permanent API failure: left alone until the pod changes */
	TASK_CRITICAL = 1 << 8, /* protected by conformance: system priority class or kube-system */
	TASK_HAS_CPU_LIMITS = 1 << 9,
	TASK_UNGATING = 1 << 10, /* the patch of an uncharged UNGATE is on its way; the cache clears
				    it with the outcome */
	TASK_ADOPTED = 1 << 11,  /* its PodGroup was made for it; the annotation that names it is
				    not written yet, the Binding will bring it */
	TASK_STARTED = 1 << 12,  /* status.phase is beyond Pending: a kubelet has it */
	TASK_GREW = 1 << 13,     /* asks for more than it did when its charge was booked, or when
				    it was bound */
	TASK_BOUND_MARK = 1 << 14,   /* carries headgate.io/bound-by */
	TASK_STAND_IN = 1 << 15,     /* charged to the default queue, until its PodGroup exists and
					names a queue that its namespace may use */
	TASK_GATE_ONLY = 1 << 16,    /* opted in, and placed by another scheduler (one of
					--gate-schedulers): it is gated and charged, and neither
					bound nor published. Once ungated it cannot be held back */
	TASK_OVERDUE = 1 << 17,      /* TASK_GATE_ONLY: reported as one that holds quota without a
					node for too long, or beyond a limit */
	TASK_CONTROLLED = 1 << 18,   /* a controller owns it, and replaces it when it is gone */
	TASK_STUCK = 1 << 19,        /* terminates, and should have been gone long ago: it counts as
					one that stays (pods/cycle/stuck.h) */
	TASK_UNREADY = 1 << 20,      /* its condition Ready is not True; only known where budgets
					are read */
	TASK_UNGATE_TRIED = 1 << 21, /* a patch that takes our gate off has failed, and may have
					had its effect all the same */
	TASK_UNGATED_ELSEWHERE = 1 << 22, /* another process than this one took our gate off, with
					     our mark: another installation, or a former leader */
	TASK_EVICTION_REFUSED = 1 << 23,  /* the API server has refused its last eviction, and it is
					     no victim before retry_at */
};

struct task {
	uint32_t id;
	uint32_t podgroup;     /* MODEL_NONE: no group annotation (or none yet) */
	uint32_t podgroup_pos; /* index in podgroup->tasks */
	uint32_t node;         /* MODEL_NONE */
	uint32_t node_pos;
	uint32_t nominated;              /* node id or MODEL_NONE */
	const struct pod_class *klass;   /* counted reference */
	const struct pod_labels *labels; /* shared by equal pods; NULL: not known */
	uint32_t labels_pos;             /* index in labels->tasks */
	uint32_t class_pos;              /* index in klass->tasks, of a class with terms */
	const char *namespace_;          /* interned */
	char *name;                      /* owned; uid lies behind it in the same allocation */
	const char *uid;
	uint32_t role; /* id in cluster->names, MODEL_NONE */
	int32_t priority;
	int32_t granted_priority; /* spec.priority, which Kubernetes' quotas of priority classes
				     limit; INT32_MAX: the pod has none */
	int32_t deletion_cost;    /* of victims of equal priority, the cheaper goes first */
	uint32_t flags;           /* enum task_flag */
	uint8_t gate_row; /* which spelling of the gate (api/volcano/gate.h row) when TASK_OUR_GATE
			   */
	uint8_t status;   /* enum task_status */
	uint8_t cond;     /* enum pod_cond */
	uint8_t charge;   /* enum charge_state */
	uint32_t charge_queue;   /* queue id the charge is booked on; MODEL_NONE when CHARGE_NONE */
	uint32_t refused_queue;  /* queue id that refused the charge of a bound pod, when that was
				    reported (charge_queue: its growth by a resize); MODEL_NONE */
	uint32_t reserved;       /* id in cluster->names: the queue in headgate.io/reserved;
				    MODEL_NONE */
	uint32_t write_failures; /* of writes to the pod in a row, for the backoff */
	uint32_t attempts;       /* reservations that ended since no node was found in time */
	int64_t created;         /* wall ns */
	/* By the clock of the process, which goes on evenly (cache_time.now): */
	int64_t published_at; /* published since, TASK_GATE_ONLY: ungated since; MODEL_TIME_NONE */
	int64_t retry_at;     /* nothing is decided for it before; MODEL_TIME_NONE: at once.
				 MODEL_TIME_NEVER: when its PodGroup changes, or a node of a new shape
				 appears */
	int64_t resource_version; /* of the object as it was last seen */
	int64_t written; /* the resourceVersion that our patch of the gate returned, 0: none. It may
			    be newer than resource_version: changes up to it are not read yet */
	uint64_t cond_message; /* str_hash of the message last written or seen, so that equal ones
				  are not repeated; 0: none */
	/* Evictions for this pod (scheduler/pods/cycle/holds.h): */
	uint32_t awaits;     /* node on which room is held for it until it is bound; MODEL_NONE */
	uint32_t awaits_pos; /* index in cluster->awaiting */
	uint32_t victims;    /* how many pods were evicted for the room or quota that it holds */
	uint32_t in_vain;    /* how often in a row such evictions were in vain */
	int64_t preempt_at;  /* no pod is evicted for it before; MODEL_TIME_NONE: at once */
	uint32_t budget;     /* id of the one PodDisruptionBudget that covers it; MODEL_NONE: none;
				TASK_BUDGETS_SEVERAL: several do, and the API server never evicts
				such a pod */
	uint32_t ending_pos; /* index in cluster->ending */
	uint32_t stranded_pos; /* index in cluster->stranded, if that is this task's entry */
	/* By the clock of the process as well: */
	int64_t ends_by;     /* terminating: when it should be gone; MODEL_TIME_NONE: not known */
	int64_t cools_until; /* it asks not to be evicted before; MODEL_TIME_NONE: it does not ask
			      */
	int64_t bind_by; /* TASK_BINDING that waits for its claims: until when. Its Binding is sent
			    when they are bound. MODEL_TIME_NONE: it waits for no claim */
	uint32_t binding_pos; /* index in cluster->binding */
};
#define TASK_BUDGETS_SEVERAL (MODEL_NONE - 1)

/* A PodDisruptionBudget. */
struct budget {
	uint32_t id;
	char *key;        /* owned, "namespace/name" */
	uint32_t allowed; /* evictions that its status allows */
	uint32_t granted; /* how many of these were decided since the status was read */
	bool unready_go;  /* pods that are not ready may be evicted without counting */
};

/* Access modes of volumes and claims. */
enum volume_access {
	VOLUME_ONCE = 1,           /* ReadWriteOnce */
	VOLUME_READ_ONLY_MANY = 2, /* ReadOnlyMany */
	VOLUME_MANY = 4,           /* ReadWriteMany */
	VOLUME_ONCE_POD = 8,       /* ReadWriteOncePod: for one pod at a time */
};

/* The form of a volume, or that of the volume for which a claim asks. */
struct volume_form {
	int64_t bytes;          /* a claim: at least */
	uint8_t access;         /* mask of enum volume_access; a claim: each of these */
	bool block;             /* volumeMode Block */
	const char *attributes; /* interned VolumeAttributesClass; NULL: none */
};

/* A StorageClass. */
struct storage_class {
	char *name;                    /* owned */
	bool exists;                   /* false: claims name it, but the object is not there */
	bool waits;                    /* volumeBindingMode WaitForFirstConsumer */
	const char *provisioner;       /* interned; NULL: it provisions nothing */
	bool restricted;               /* allowedTopologies present: a node matches one of them */
	struct match_term *topologies; /* owned */
	size_t ntopologies;
	bool tracked;  /* its provisioner is a CSIDriver with storageCapacity */
	uint32_t uses; /* claims, volumes and capacities that name it */
	/* By the label value that a node must have (pods/model/storage_capacity.c). */
	struct VEC(struct storage_capacity *) capacities;
	/* Volumes that are there and not bound, in the order of volume_match_position. */
	struct VEC(struct volume *) unclaimed;
	struct VEC(uint32_t) unbound; /* ids of the claims that name it and are not bound */
};

/* A CSIStorageCapacity: how large a volume of the class can be made for nodes. */
struct storage_capacity {
	char *key;                   /* owned, "namespace/name" */
	struct storage_class *klass; /* that it names */
	struct match_term *nodes;    /* requirements on their labels; owned; NULL: no node */
	const char *value;           /* interned: a label value that every node that it is for
					has; NULL: no single value is certain */
	int64_t bytes;               /* the largest volume; -1: none */
};

/* A PersistentVolume. */
struct volume {
	uint32_t id;
	char *name;                  /* owned */
	bool exists;                 /* false: claims name it, but the object is not there */
	bool restricted;             /* required node affinity present */
	struct match_term *affinity; /* any term; owned */
	size_t naffinity;
	struct match_term *zones; /* one term: what its labels about zone and region say; owned */
	size_t nzones;
	const char *driver;          /* interned, of a CSI volume; NULL */
	struct VEC(uint32_t) claims; /* ids of those that name it */
	struct storage_class *klass; /* that it names; NULL: none */
	struct volume_form form;
	struct VEC(struct label) labels; /* by key */
	const char
		*host; /* interned: the one host on which it is, by its affinity; NULL: not known */
	bool available; /* phase Available */
	bool deleting;
	struct claim *ref; /* that its claimRef names; NULL: none */
	char *ref_uid;     /* owned; NULL: any claim of the name */
	char *uid;         /* owned; NULL */
	int64_t resource_version;
	/* The claim for which this scheduler reserves it, until its claimRef says so. */
	struct claim *taker;
	bool writing;    /* the write of the claimRef is on its way */
	int64_t written; /* the version that this write has made, 0: none */
};

/* A PersistentVolumeClaim. Its record is made for the first pod that names it, too. */
struct claim {
	uint32_t id;
	char *key;   /* owned, "namespace/name" */
	bool exists; /* false: pods name it, but the object is not there */
	bool bound, lost, deleting;
	struct volume_form form;
	struct match_term *selector; /* of labels of the volume; owned; NULL: any */
	char *uid;                   /* owned; NULL */
	char *owner;                 /* owned: the UID of its controlling owner; NULL: none */
	struct volume *volume;       /* that it names; NULL: none */
	struct storage_class *klass;
	char *selected; /* owned: the node for which its volume is to be made; NULL: none yet */
	int64_t resource_version;
	/* The node of the tasks that wait for it while they are bound, and how many these are;
	 * MODEL_NONE: none. Of a claim that is not bound they are all on one. */
	uint32_t node, binders;
	bool writing;               /* the write of `selected` is on its way */
	int64_t written;            /* the version that this write has made, 0: none */
	struct volume *taken;       /* of which it is the taker; NULL: none */
	struct VEC(uint32_t) refs;  /* ids of the volumes with a claimRef to it */
	uint32_t unbound_pos;       /* index in klass->unbound; MODEL_NONE */
	uint32_t uses;              /* pod classes that name it */
	struct VEC(uint32_t) users; /* ids of the tasks that name it, in no order */
};

/* How many volumes of a CSI driver can be attached to a node. */
struct volume_limit {
	const char *driver; /* interned */
	uint32_t count;
};

/* A container image under one of its names, with tag or digest (pods/model/images.h). */
struct image {
	uint32_t id;
	char *name;     /* owned */
	uint32_t nodes; /* that have it */
	uint32_t uses;  /* pod classes that name it */
	int64_t bytes;  /* the largest size that was reported since a node has it */
};

enum podgroup_phase {
	PODGROUP_PENDING,
	PODGROUP_INQUEUE,
	PODGROUP_RUNNING,
	PODGROUP_UNKNOWN,
	PODGROUP_COMPLETED,
	PODGROUP_PHASE_COUNT_
};

/* A field of the PodGroup that this scheduler cannot honour. */
enum podgroup_unsupported {
	PODGROUP_SUPPORTED,
	PODGROUP_HARD_TOPOLOGY, /* spec.networkTopology with mode hard */
	PODGROUP_SUB_GROUPS,    /* spec.subGroupPolicy */
	PODGROUP_UNSUPPORTED_COUNT_
};

struct podgroup_role_min {
	uint32_t role;
	int32_t min;
};

/* One PodGroup for which pods of this one were evicted: its rival (pods/search/rivals.h), as long
 * as the Queues stay as they are. */
struct podgroup_rival {
	uint32_t podgroup; /* id of the rival */
	uint64_t name;     /* str_hash of its UID */
	uint64_t queues_gen;
};
#define PODGROUP_RIVALS_MAX 16

/* Headgate writes about those of PODGROUP_VOLCANO alone. */
enum podgroup_kind {
	PODGROUP_VOLCANO, /* a PodGroup of Volcano, which its pods name in an annotation */
	PODGROUP_ALONE,   /* for the one pod of this name, which names none: a TASK_GATE_ONLY pod,
			     or one of ours without owner. There is no object; exists is true */
	PODGROUP_KUBE,    /* a PodGroup of Kubernetes, which TASK_GATE_ONLY pods name in
			     spec.schedulingGroup. It is in no queue: its pods are in its parts */
	PODGROUP_PART, /* the pods of a PODGROUP_KUBE that name one queue: a gang of its own, since
			  quota is reserved in one queue at a time. Exists when that one does */
	PODGROUP_KIND_COUNT_
};

/* A PodGroup. Its record is made for the first pod that names it, too: exists says whether the
 * object is there. */
struct podgroup {
	uint32_t id;
	const char *namespace_; /* interned */
	char *name;             /* owned */
	char *uid;              /* owned, of the PodGroup; NULL without one */
	uint32_t queue;         /* MODEL_NONE: the queue does not exist */
	uint32_t queue_pos;  /* index in queue->podgroups, or queue->waiting while queue is NONE */
	uint32_t open_pos;   /* index in the open list of the queue that it names; MODEL_NONE */
	uint32_t queue_name; /* id in cluster->names: the queue asked for; MODEL_NONE: none */
	uint32_t barred_by;  /* id of the queue, or one above, that the namespace may not use
				(pods/model/access.h); MODEL_NONE: it may. Nothing new for it then */
	uint32_t priority_class; /* id in cluster->names, MODEL_NONE */
	uint32_t part_queue;     /* PODGROUP_PART: id in cluster->names: the queue that its pods
				    name, also before the PodGroup exists */
	uint32_t whole;          /* PODGROUP_PART: id of its PODGROUP_KUBE */
	uint32_t next_part, prev_part; /* ids, MODEL_NONE at the ends. PODGROUP_KUBE: next_part is
					  its first part */
	bool exists;
	uint8_t kind;        /* enum podgroup_kind */
	bool changed;        /* is in the changed list of the queue that it names */
	uint8_t phase;       /* enum podgroup_phase, as the PodGroup says */
	uint8_t unsupported; /* enum podgroup_unsupported. Not 0: nothing new for it */
	int32_t min_member;
	int32_t priority;
	bool has_min_resources;
	struct res min_resources;
	struct unoffered min_unoffered;                /* part of minResources, owned */
	struct VEC(struct podgroup_role_min) role_min; /* sorted by role; each above 0 */
	struct VEC(uint32_t) tasks;
	uint32_t by_status[TASK_STATUS_COUNT_];
	uint32_t refused;  /* how many of its tasks have a refused_queue */
	uint32_t unplaced; /* how many of its tasks have a retry_at of MODEL_TIME_NEVER */
	int64_t created;
	int64_t resource_version;
	int32_t status_running, status_succeeded, status_failed; /* as last written */
	uint64_t status_hash;                     /* of the conditions last written */
	struct VEC(struct podgroup_rival) rivals; /* the oldest first; at most
						     PODGROUP_RIVALS_MAX */
};

enum queue_state { QUEUE_OPEN, QUEUE_CLOSED, QUEUE_CLOSING, QUEUE_UNKNOWN };

/* The generations on which a look at a queue depended: while none has changed, the queue need not
 * be looked at. */
struct queue_scan {
	uint64_t podgroups_gen, chain_gen, queues_gen, nodes_gen, demand_gen;
	uint32_t changed;     /* only in a decision: so many of the changed list were looked at */
	bool done;            /* false: must be looked at */
	bool waits_nodes;     /* nodes_gen matters */
	bool waits_podgroups; /* demand_gen matters */
	bool holds;           /* a gang is held on nodes where pods terminate: its room is counted
				 anew in each cycle */
	int64_t timer_at;     /* by the clock of the process, INT64_MAX */
};

struct queue {
	uint32_t id;
	char *name;
	char *uid;
	bool exists;       /* false: only known by name (a child or a PodGroup named it) */
	uint32_t parent;   /* MODEL_NONE for root and in a broken chain */
	char *parent_name; /* as configured, NULL when empty */
	/* Annotations about fairness, owned; NULL: none (pods/plugins/drf_tree.h). */
	char *hierarchy, *hierarchy_weights;
	struct VEC(uint32_t) children; /* ids, sorted by name */
	struct VEC(uint32_t) podgroups;
	struct VEC(uint32_t) waiting; /* PodGroups that name this queue while it does not exist */
	/* Of podgroups or waiting, those of which something may be decided although they have not
	 * changed (cluster_podgroup_is_open), in no order. */
	struct VEC(uint32_t) open;
	/* Ids of PodGroups that have changed, come or gone since the last scan: some are not in
	 * this queue any more. */
	struct VEC(uint32_t) changed;
	uint8_t state; /* enum queue_state; an empty status.state is OPEN */
	bool reclaimable;
	int32_t weight, priority;
	int64_t created;       /* wall ns, orders queues that are equal otherwise */
	uint32_t depth;        /* root: 0 */
	const char *broken;    /* why the queue cannot be used, as a static text that is said of
				  it: "does not exist"; NULL: it can be used */
	struct res capability; /* RES_UNLIMITED where absent */
	struct res guarantee, deserved; /* 0 where absent */
	/* The ledger's sums, this queue and all below it. releasing is the part of charged that
	 * belongs to terminating pods. */
	struct res charged, releasing;
	uint64_t podgroups_gen; /* changes with any PodGroup or task of this very queue */
	uint64_t room_gen; /* changes when charged shrinks or this queue's limit may have grown */
	struct queue_scan scan;
	int64_t resource_version;
};

struct node {
	uint32_t id;
	char *name;
	bool exists; /* false: pods name it but the Node object is not there */
	bool unschedulable;
	struct VEC(struct label) labels; /* sorted by key text */
	struct VEC(struct taint) taints;
	struct res allocatable;
	struct res used; /* of all pods on it that are not finished, terminating ones included */
	struct res releasing; /* part of used */
	struct VEC(uint32_t) tasks;
	struct VEC(struct volume_limit) limits; /* of its CSINode, which may come before it; sorted
						   by driver */
	struct VEC(uint32_t) images;            /* ids of those that it has, ascending */
	uint32_t nominations; /* tasks nominated to it, or that await it: it keeps its id for them
			       */
	uint64_t spec_gen; /* changes with labels, taints, unschedulable: predicate caches key on it
			    */
	uint64_t use_gen;  /* changes with used and releasing, and so with the classes of its pods
			    */
};

struct cluster {
	struct res_names *res;
	uint64_t res_swept; /* counts sweeps: each ends the further dimensions of every struct res
			       that is not in the cluster */
	unsigned res_resolved; /* names that requests were looked through for: pods/ledger/offers.h
				*/
	struct intern *names;  /* roles, namespaces, label strings, queue names */
	struct SLOTS(struct task) tasks; /* by id, as all of these */
	struct SLOTS(struct podgroup) podgroups;
	struct SLOTS(struct queue) queues;
	struct SLOTS(struct node) nodes;
	struct strmap *task_by_key, *podgroup_by_key, *queue_by_name,
		*node_by_name;  /* lookups; never iterated in decisions */
	struct strmap *classes; /* pod classes by signature */
	struct SLOTS(struct pod_class) class_by_id;
	struct strmap *priority_classes;  /* name -> struct priority_class (pods/model/cluster.h) */
	struct access *access;            /* pods/model/access.h */
	struct selector_index *selectors; /* pods/model/selectors.h */
	struct SLOTS(struct budget) budgets;
	struct budget_index *budget_index; /* NULL: no budgets are read, and tasks have none */
	struct SLOTS(struct claim) claims;
	struct SLOTS(struct volume) volumes;
	struct strmap *claim_by_key, *volume_by_name, *storage_class_by_name;
	struct strmap *capacity_by_key;
	struct strmap *capacity_drivers; /* names of CSIDrivers with storageCapacity */
	struct SLOTS(struct image) images;
	struct strmap *image_by_name;
	uint32_t root_queue, default_queue; /* ids or MODEL_NONE */
	struct res total;                   /* sum of allocatable of existing nodes */
	struct res used;                    /* sum of used of existing nodes */
	struct VEC(uint32_t) awaiting;      /* ids of the tasks that await a node */
	struct VEC(uint32_t) ending;        /* ids of the tasks on nodes that are TASK_RELEASING */
	struct VEC(uint32_t) binding;       /* ids of the tasks with a bind_by */
	struct VEC(uint32_t) stranded;      /* ids; may be outdated: see cluster_task_stranded_at */
	size_t stranded_most;    /* outdated entries are dropped when there are so many */
	bool annotation_decides; /* --gate-sticky=false; set once, before the first pod */
	bool implies_podgroups;  /* pods without owner need no PodGroup object: they are groups of
				    their own; set once, before the first pod */
	uint64_t queues_gen, nodes_gen;
	uint64_t node_objects_gen; /* changes with Nodes and CSINodes, and not with their pods */
	uint64_t demand_gen; /* changes with all that PodGroups hold or ask for together: which
				pods wait, hold quota, are on nodes or terminate; requests,
				minMember, minResources, queues and phases of PodGroups; and with
				what budgets allow */
	uint64_t drift; /* times an account would have gone below zero (a bug, counted instead of
			   aborting) */
};

#endif
