/* scheduler/workloads/model/quota_model.h: the model of the Workload engine: flavors, the forest of
 * Cohorts and ClusterQueues, LocalQueues, Workloads. Plain data. Owner: the sched thread.
 * The structs are changed only through workloads/model/quota_store.h (objects),
 * workloads/forest/forest.h (held quota) and workloads/pending/pending.h (pending Workloads). Ids
 * are dense indices into the arrays of struct quota_model, re-used after removal; names are
 * interned in struct quota_model and live as long as an object in it has them.
 *
 * Amounts are int64: cpu in milli-CPU, everything else in whole units, requests and limits both
 * rounded up (Kueue's rule). QUOTA_UNLIMITED is a quota too large to count.
 * workloads/forest/amount.h has the arithmetic. */
#ifndef SCHEDULER_WORKLOADS_MODEL_QUOTA_MODEL_H
#define SCHEDULER_WORKLOADS_MODEL_QUOTA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/slots.h"
#include "collections/vec.h"
#include "scheduler/base/match.h"
#include "scheduler/base/sentinel.h"

#define QUOTA_UNLIMITED INT64_MAX
#define QUOTA_NO_LIMIT (-1) /* borrowing or lending limit that is not set */

struct intern;
struct strmap;
struct tree;
struct tree_sums;

/* One amount of one thing: of a resource (id in model->resources), or of a flavor-resource pair (id
 * in model->pairs). */
struct quota_amount {
	uint32_t id;
	int64_t value;
};

struct quota_amounts VEC(struct quota_amount); /* sorted by id, without duplicates */

/* A flavor-resource pair; the id of a pair is its index in model->pairs. Never removed. */
struct flavor_resource {
	uint32_t flavor, resource;
};

/* A ResourceFlavor; exists = false: only named by another object. */
struct flavor {
	uint32_t id;
	const char *name;
	bool exists;
	struct label *labels; /* nodeLabels, sorted by key */
	size_t nlabels;
	struct taint *taints;
	size_t ntaints;
	struct toleration *tolerations;
	size_t ntolerations;
	const char *topology; /* topologyName; NULL: none */
};

/* The quota that a node of the forest configures for one pair. */
struct quota_cell {
	uint32_t pair;
	int64_t nominal;
	int64_t borrowing, lending; /* QUOTA_NO_LIMIT: not set */
};

/* A resource group: one flavor serves all its resources together. */
struct resource_group {
	uint32_t *resources;
	size_t nresources;
	uint32_t *flavors; /* in the order of preference */
	size_t nflavors;
};

enum quota_policy { /* which Workloads may be preempted (Kueue: preemption policies) */
		    QUOTA_NEVER,
		    QUOTA_LOWER_PRIORITY,
		    QUOTA_LOWER_OR_NEWER_EQUAL, /* withinClusterQueue only */
		    QUOTA_ANY,                  /* reclaimWithinCohort only */
};

enum quota_strategy { QUOTA_BEST_EFFORT_FIFO, QUOTA_STRICT_FIFO };
enum quota_stop { QUOTA_RUN, QUOTA_HOLD, QUOTA_HOLD_AND_DRAIN };
enum quota_search { QUOTA_MAY_STOP_SEARCH, QUOTA_TRY_NEXT_FLAVOR };
enum quota_preference { QUOTA_BORROWING_OVER_PREEMPTION, QUOTA_PREEMPTION_OVER_BORROWING };

/* Why a ClusterQueue is not active; the reasons of its Active condition. */
enum quota_inactive {
	QUOTA_ACTIVE,
	QUOTA_TERMINATING,
	QUOTA_STOPPED,
	QUOTA_FLAVOR_NOT_FOUND,
	QUOTA_CHECK_NOT_FOUND,
	QUOTA_CHECK_INACTIVE,
	QUOTA_CHECK_TWO_MULTIKUEUE,
	QUOTA_CHECK_MULTIKUEUE_OF_FLAVORS,
	QUOTA_CHECK_MULTIKUEUE_AND_PROVISIONING,
	QUOTA_TOPOLOGY_NOT_FOUND,
	QUOTA_COHORT_CYCLE,
	QUOTA_UNREADABLE_WORKLOAD, /* holds quota of it, and how much cannot be read */
};

/* A label selector (namespaceSelector). absent: selects nothing; without terms: everything. */
struct namespace_selector {
	bool absent;
	struct match_expr *exprs; /* matchLabels are written as MATCH_IN with one value */
	size_t nexprs;
};

struct quota_check { /* an AdmissionCheck that a ClusterQueue asks for */
	const char *name;
	uint32_t *flavors; /* only when one of these is assigned */
	size_t nflavors;   /* 0: always */
};

/* A ClusterQueue or a Cohort: a node of the forest; its id is its index in the trees of the store.
 * One name may stand for a queue and for a cohort. */
struct quota_node {
	uint32_t id;
	const char *name;
	bool is_queue;
	bool exists;        /* a Cohort that is only named exists without quota, exists = false */
	const char *parent; /* cohortName or parentName; NULL: root */
	uint32_t parent_id; /* MODEL_NONE for a root; a node of a cycle keeps its parent and is not
			       placed in the tree */
	double weight;      /* fairSharing.weight, 1 where absent */
	uint64_t released;  /* of a root: grows when a workload of its tree gives quota back without
			       having been preempted */
	struct VEC(struct quota_cell) cells; /* sorted by pair */
	struct VEC(struct resource_group) groups;
	/* Only of ClusterQueues: */
	struct cluster_queue *queue; /* owned; NULL for a Cohort */
};

/* How far a scan over the flavors came (Kueue: LastAssignment), per pod set and resource of a
 * workload. -1: start at the first flavor. */
struct last_assignment {
	uint32_t podset, resource;
	int32_t flavor;
};

enum quota_where {                /* of a pending workload */
		   QUOTA_NOWHERE, /* not pending: holds quota, finished, inactive, gated, queue
				     unknown, ... */
		   QUOTA_HEAP,
		   QUOTA_INADMISSIBLE,
		   QUOTA_IN_FLIGHT, /* popped by the running cycle */
};

/* Why an entry goes back to the pending workloads of its queue. */
enum quota_requeue {
	QUOTA_REQUEUE_NONE,
	QUOTA_REQUEUE_NO_FIT,
	QUOTA_REQUEUE_NO_CANDIDATES,
	QUOTA_REQUEUE_PENDING_PREEMPTION,
	QUOTA_REQUEUE_PREEMPTION_FAILED,
	QUOTA_REQUEUE_GATED,
	QUOTA_REQUEUE_PENDING_MIGRATION,
	QUOTA_REQUEUE_NAMESPACE_MISMATCH,
	QUOTA_REQUEUE_FAILED_AFTER_NOMINATION,
};

/* The reasons of QuotaReserved=False. */
enum nofit_reason {
	QUOTA_REASON_NONE,
	QUOTA_NO_MATCHING_FLAVOR,
	QUOTA_WAITING_FOR_QUOTA,
	QUOTA_EXCEEDS_MAX_QUOTA,
	QUOTA_TOPOLOGY_PLACEMENT_FAILED,
	QUOTA_WAITING_FOR_PREEMPTED,
	QUOTA_MISCONFIGURED,
	QUOTA_SUSPENDED,
	QUOTA_PENDING_EVALUATION,
	QUOTA_WAITING_FOR_PODS_READY,
	QUOTA_ADMISSION_GATED,
	QUOTA_ON_HOLD,
	QUOTA_DEACTIVATED,
};

struct workload;

/* A workload that holds quota, with copies of what does not change meanwhile. */
struct quota_holder {
	struct workload *w;
	uint64_t pairs;             /* of its usage: quota_amounts_mask */
	struct quota_amount *usage; /* w->usage */
	uint32_t nusage;
	uint32_t id; /* of w */
};

/* The keys by which pending workloads are ordered, copied into the heap because workloads are
 * spread over the memory. */
struct quota_rank {
	int64_t priority, time; /* workload_priority, workload_queue_time */
	uint32_t local;         /* LocalQueue, for admission fair sharing */
};

struct cluster_queue {
	enum quota_strategy strategy;
	enum quota_search when_can_borrow, when_can_preempt;
	enum quota_preference preference;
	enum quota_policy within_queue, reclaim,
		borrow_within; /* borrow_within: NEVER = forbidden */
	bool has_threshold;
	int32_t threshold; /* borrowWithinCohort.maxPriorityThreshold */
	enum quota_stop stop;
	enum quota_inactive inactive;
	const char *inactive_what; /* the flavor, check, Workload, ... that is the cause; NULL */
	struct namespace_selector namespaces;
	struct VEC(struct quota_check) checks;
	bool covers_pods; /* a group covers the resource "pods" */
	bool usage_based; /* admissionScope: LocalQueues that used less go first (Kueue: admission
			     fair sharing) */
	bool terminating; /* deletionTimestamp is set */

	struct VEC(struct quota_holder) holders; /* the workloads that hold quota here */
	/* workloads/pending/pending.h: */
	struct VEC(uint32_t) heap; /* pending workloads, a binary heap; position in workload.pos */
	struct VEC(struct quota_rank) ranks; /* of those, at the same index */
	struct VEC(uint32_t) inadmissible;
	struct VEC(uint64_t) blocked; /* equivalence hashes that are known not to fit */
	uint64_t pop_cycle;
	int64_t inadmissible_cycle; /* of the last flush; -1 at first */
	uint32_t preemptor;         /* workload that waits for its victims; MODEL_NONE */
	int64_t preemptor_generation;
	uint64_t allocatable_gen; /* from 1; grows when quota may have become free */
};

struct quota_consumed { /* of a resource, on average over the time gone by */
	uint32_t resource;
	__int128 nano; /* of its unit (of one cpu) */
};

struct local_queue {
	uint32_t id;
	char *key; /* "namespace/name", owned */
	const char *namespace_, *name;
	const char *queue; /* name of its ClusterQueue */
	uint32_t node;     /* its id, if it is still there: quota_local_queue */
	enum quota_stop stop;
	double weight;
	/* Admission fair sharing (workloads/pending/usage.h): */
	struct VEC(struct quota_consumed) consumed;
	int64_t sampled_at; /* wall ns; MODEL_TIME_NONE: never */
	double usage;       /* consumed, weighted; 0 when not known */
};

enum quota_check_kind { /* by its controller */
			QUOTA_CHECK_OTHER,
			QUOTA_CHECK_MULTIKUEUE,
			QUOTA_CHECK_PROVISIONING
};

struct quota_admission_check { /* an AdmissionCheck object */
	bool active;           /* its Active condition is True */
	enum quota_check_kind kind;
};

struct quota_namespace {
	char *name;
	struct label *labels;
	size_t nlabels;
};

enum quota_check_state {
	QUOTA_CHECK_PENDING,
	QUOTA_CHECK_READY,
	QUOTA_CHECK_RETRY,
	QUOTA_CHECK_REJECTED
};

struct podset {
	const char *name;
	int32_t count; /* after reclaimable pods are taken off */
	int32_t spec_count;
	int32_t min_count;            /* 0: no partial admission */
	struct quota_amounts request; /* of one pod, by resource, after adjustment; not scaled */
	struct label *selector;
	size_t nselector;
	struct match_term *required; /* node affinity; empty terms kept */
	size_t nrequired;
	bool has_required;
	struct toleration *tolerations;
	size_t ntolerations;
	const char *group;   /* topologyRequest.podSetGroupName, interned: pod sets of one group get
				the same flavors; NULL: alone */
	bool wants_topology; /* topologyRequest asks for more than a group: refused with a message
			      */
	const char *invalid; /* requests beyond limits or outside a LimitRange; NULL: fine; owned by
				the workload's arena */
	uint64_t shape;      /* hash of all of the above, for equivalence */
};

/* One resource of an assigned pod set; total for the pod set. */
struct quota_assigned {
	uint32_t podset, resource, flavor;
	int64_t amount;
};

/* In a workload: another one goes before it. workloads/forest/precedence.h. */
struct quota_precedence {
	uint32_t by;        /* id of the other one */
	uint32_t root;      /* node, of their tree */
	uint32_t reversals; /* how often they had turned on each other */
	uint32_t times;     /* preemptions while last_released was the same */
	uint64_t last_released;
	uint64_t cycle; /* of the last one */
	/* The state at that time: */
	uint64_t by_serial, forest_gen, released;
	int64_t by_generation, by_priority, generation, priority;
};

struct quota_assignments VEC(struct quota_assigned); /* of all pod sets */

/* The quota that a workload holds. */
struct workload_holding {
	struct quota_assignments assigned;
	struct quota_amounts usage; /* by pair */
	uint32_t node;              /* at which `usage` is charged; MODEL_NONE: it holds nothing */
	uint32_t pos;               /* in queue->holders of `node` */
};

/* Derived from its status by workload_status_flags of workloads/status/workload_status_flags.h. */
struct workload_flags {
	bool requeued_false, on_hold, waits_replacement;
	bool preemption_gated;            /* a gate of spec.preemptionGates is not Open in status */
	int64_t evicted_at, preempted_at; /* transition times; MODEL_TIME_NONE */
	int64_t requeue_at;               /* status.requeueState.requeueAt; MODEL_TIME_NONE */
	int64_t reserved_at;              /* of QuotaReserved=True; MODEL_TIME_NONE */
	bool evicted;
	bool evicted_by_timeout, evicted_by_check; /* reason of Evicted */
	bool reclaimed_while_borrowing; /* Preempted=True, InCohortReclaimWhileBorrowing */
	bool finished, admitted, pods_ready;
	bool check_blocks; /* a check is in Retry or Rejected */
};

/* The rest of the object; replaced as a whole when it is read. */
struct workload_object {
	int32_t priority;      /* spec.priority */
	bool has_cost;         /* there is a cost */
	bool unwritable;       /* its status was refused: for now no victim */
	bool unreadable;       /* only what it holds was read: nothing is written to it */
	bool usage_unknown;    /* not all that it holds could be read: its queue admits no more */
	int64_t created;       /* wall ns, whole seconds */
	__int128 cost;         /* status.preemptionCost in nano units; 0 where absent (KEP-7990) */
	int64_t boost;         /* kueue.x-k8s.io/priority-boost; counts when its gate is on */
	int32_t preemptions;   /* how many, by status.schedulingStats */
	int32_t max_execution; /* spec.maximumExecutionTimeSeconds; 0: no limit */
	bool active;           /* spec.active */
	bool deleting;         /* metadata.deletionTimestamp: it may hold quota, and gets none */
	bool admission_gated;  /* gated_by is not empty, and the feature is on */
	bool has_owner;
	bool has_finalizer;      /* ours: kueue.x-k8s.io/resource-in-use */
	const char *gated_by;    /* annotation kueue.x-k8s.io/admission-gated-by; NULL: none */
	const char **finalizers; /* all but ours, NULL behind; NULL: none */
	const char *namespace_, *uid, *local_queue;
	const char *job_uid;        /* label kueue.x-k8s.io/job-uid; NULL: none */
	const char *priority_class; /* name of priorityClassRef, interned; NULL: none */
	struct arena *arena;        /* pod sets, texts */
	int64_t generation;
	const char *unsupported; /* message about a feature that this engine lacks; NULL: none */
	struct podset *podsets;  /* none when it is finished */
	const char **gates;      /* names of spec.preemptionGates, NULL behind; NULL: none */
	const uint32_t *allowed; /* flavors; NULL: any (Kueue: concurrent admission) */
	uint32_t npodsets, nallowed;
};

/* Where it waits: workloads/pending/pending.h and the scan over flavors. */
struct workload_pending {
	uint32_t queue; /* node id of the ClusterQueue its LocalQueue names; MODEL_NONE */
	uint32_t local; /* id of that LocalQueue, if it is still there: quota_local_of */
	enum quota_where where;
	uint32_t pos; /* in queue->heap or queue->inadmissible */
	enum quota_requeue last_requeue;
	enum nofit_reason last_reason;
	bool timed;          /* in model->timers */
	bool scan_lost_turn; /* another entry of the cycle took the quota of a flavor that was
				tried; enough for fewer pods may be left */
	int64_t evaluated_generation;
	uint64_t hash; /* equivalence class */
	struct VEC(struct last_assignment) tried;
	uint64_t tried_gen;   /* allocatable_gen when the scan stopped */
	uint64_t tried_cycle; /* cycle of it */
	uint64_t tried_hash;
	uint64_t scan_cycle; /* queue->pop_cycle when the scan began, at the first flavor */
	struct VEC(struct quota_precedence) preempted_by; /* workloads/forest/precedence.h */
};

/* When workloads/engine/reconciler.h reconciles it next. */
struct workload_due {
	int64_t at;  /* wall ns; INT64_MAX: not before a change */
	bool listed; /* it is in the list for the next step */
};

struct workload_state;

struct workload {
	uint32_t id;
	/* The search for victims reads the end of `flags` and the beginning of `object` of each
	 * candidate, and `holding` of each victim; so they are side by side. */
	struct workload_holding holding;
	struct workload_flags flags;
	struct workload_object object;
	struct workload_pending pending;
	struct workload_due due;
	struct workload_state *state; /* of workloads/ingest/workload_cache_priv.h; may be NULL */
	const char *key;              /* "namespace/name", of model->workload_of */
	uint64_t serial;              /* no two workloads have had the same one */
};

struct quota_usage_weight { /* admissionFairSharing.resourceWeights */
	const char *resource;
	double weight; /* resources that are not named weigh 1 */
};

/* How the use of LocalQueues is remembered (Kueue: admissionFairSharing). */
struct quota_usage_rules {
	int64_t half_life_ns; /* 0: nothing is remembered */
	int64_t sampling_ns;
	const struct quota_usage_weight *weights; /* borrowed from the configuration */
	size_t nweights;
};

/* The part of the configuration file that the engine reads (Kueue: Configuration). */
struct quota_options {
	bool fair_sharing;
	bool lte_final, lt_initial; /* preemptionStrategies, in that order */
	bool admission_fair_sharing;
	struct quota_usage_rules usage;
	bool ignore_undeclared;  /* resources.quotaCheckStrategy */
	bool timestamp_creation; /* waitForPodsReady.requeuingStrategy.timestamp */
	bool block_admission;    /* waitForPodsReady.blockAdmission: one after the other */
	/* Feature gates: */
	bool partial_admission, flavor_fungibility, priority_sorting, preempt_within_nominal,
		prioritize_non_borrowing, recompute_on_overlap, preserve_scan_progress,
		prioritize_preemptors, equivalence_hashing, priority_boost, preemption_gates,
		observability;
	bool nominal_first; /* workloads/cycle/nominal_reserve.h */
	/* Off, the fields of the feature are ignored: topologies of flavors and pod sets,
	 * reclaimable pods, the annotation of admission gates. */
	bool topology, reclaimable_pods, admission_gates;
	bool concurrent_admission; /* on: allowed flavors count; variants are refused with a message
				    */
	unsigned gate_fields;      /* of status.preemptionGates[] that are written, and */
	const char *gate_signal;   /* the type of the condition (api/kueue/preemption_gate.h) */
	unsigned heads;            /* taken per ClusterQueue and cycle; 1 decides as Kueue does */
};

/* How long Workloads may take and how long they are kept (Kueue: waitForPodsReady,
 * objectRetentionPolicies). */
struct quota_times {
	bool wait_pods_ready;
	int64_t ready_ns; /* until the pods of an admitted Workload are ready for the first time */
	int64_t recovery_ns; /* until they are ready again */
	int64_t backoff_base_ns, backoff_max_ns;
	int32_t backoff_limit;       /* evictions before deactivation; -1: no limit */
	int64_t keep_finished_ns;    /* -1: forever */
	int64_t keep_deactivated_ns; /* the Job of one that the engine deactivated; -1: forever */
	bool explicit_status;        /* a new Workload gets reason PendingEvaluation at once (gate
					UnadmittedWorkloadsExplicitStatus) */
};

struct quota_model {
	struct intern *names; /* all names but keys; what tenants write is swept: quota_names.c */
	struct intern *resources; /* swept, too */
	struct VEC(struct flavor_resource) pairs;
	struct VEC(uint32_t) pairs_sorted;   /* ids by (flavor, resource), to find them */
	struct VEC(struct flavor *) flavors; /* by id, as the next three; never removed */
	struct SLOTS(struct quota_node) nodes;
	struct SLOTS(struct local_queue) locals;
	struct SLOTS(struct workload) workloads;
	struct strmap *flavor_of, *queue_of, *cohort_of, *local_of, *workload_of, *namespace_of;
	struct strmap *check_of;    /* struct quota_admission_check, of those that exist */
	struct strmap *topology_of; /* the interned name, of Topologies that exist */
	struct quota_options options;
	struct VEC(uint32_t) timers; /* workloads that wait for the end of a backoff */
	uint64_t cycle;              /* number of cycles run */
	uint64_t serials;            /* the last one of a workload */
	uint64_t forest_gen;         /* changes with nodes, parents, cells, weights */
};

#endif
