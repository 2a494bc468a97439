/* common/api/kueue/kueue.h: kueue.x-k8s.io/v1beta2 as far as quota needs it: ResourceFlavor,
 * ClusterQueue, Cohort, LocalQueue, WorkloadPriorityClass, AdmissionCheck, Topology. Workload:
 * kueue_workload.h. Plain data in an arena. Decoding keeps absence (field.h): its meaning is up to
 * the code that reads the field. Values of enumerations are in kueue_keys.h. */
#ifndef COMMON_API_KUEUE_KUEUE_H
#define COMMON_API_KUEUE_KUEUE_H

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/meta/meta.h"
#include "api/meta/selector.h"
#include "enc/field.h"

struct api_resource_quota {
	const char *name;
	const struct quantity *nominal;         /* nominalQuota; NULL: absent, which is invalid */
	const struct quantity *borrowing_limit; /* NULL: as much as there is */
	const struct quantity *lending_limit;   /* NULL: everything */
};
struct api_flavor_quotas {
	const char *name;
	struct FIELD_LIST(struct api_resource_quota) resources;
};
struct api_resource_group {
	struct field_strs covered_resources;
	struct FIELD_LIST(struct api_flavor_quotas) flavors; /* in order of preference */
};
struct api_resource_groups FIELD_LIST(struct api_resource_group);

struct api_fair_sharing {
	const struct quantity *weight; /* default 1 */
};
struct api_fair_sharing_status {
	int64_t weighted_share; /* FIELD_NO_I64 */
};

struct api_flavor_fungibility {
	const char *when_can_borrow;  /* default MayStopSearch */
	const char *when_can_preempt; /* default TryNextFlavor */
	const char *preference;       /* NULL: as BorrowingOverPreemption */
};
struct api_borrow_within_cohort {
	const char *policy;             /* default Never */
	int32_t max_priority_threshold; /* FIELD_NO_I32: none */
};
struct api_queue_preemption {
	const char *reclaim_within_cohort; /* default Never */
	struct api_borrow_within_cohort borrow_within_cohort;
	const char *within_cluster_queue; /* default Never */
};
struct api_check_rule {
	const char *name;
	struct field_strs on_flavors; /* empty: on all of them */
};
struct api_check_strategy {
	struct FIELD_LIST(struct api_check_rule) checks;
};
struct api_admission_scope {
	const char *mode; /* UsageBasedAdmissionFairSharing, NoAdmissionFairSharing */
};
struct api_concurrent_migration {
	const char *mode; /* TryPreferredFlavors, RetainFirstAdmission */
	struct str constraints;
};
struct api_concurrent_admission {
	struct api_concurrent_migration migration;
};

struct api_cluster_queue_spec {
	struct api_resource_groups resource_groups;
	const char *cohort;                            /* cohortName; NULL: none */
	const char *queueing_strategy;                 /* default BestEffortFIFO */
	struct api_label_selector *namespace_selector; /* NULL: no namespace at all */
	struct api_flavor_fungibility flavor_fungibility;
	struct api_queue_preemption preemption;
	struct api_check_strategy admission_checks;
	const char *stop_policy; /* default None */
	struct api_fair_sharing fair_sharing;
	struct api_admission_scope *admission_scope;           /* NULL: none */
	struct api_concurrent_admission *concurrent_admission; /* concurrentAdmissionPolicy */
};

/* flavorsReservation, flavorsUsage */
struct api_resource_usage {
	const char *name;
	const struct quantity *total;
	const struct quantity *borrowed; /* not of LocalQueues */
};
struct api_flavor_usage {
	const char *name;
	struct FIELD_LIST(struct api_resource_usage) resources;
};
struct api_flavor_usages FIELD_LIST(struct api_flavor_usage);

/* Members that ClusterQueues and LocalQueues have in their status. */
struct api_queue_totals {
	int32_t pending, reserving, admitted; /* Workloads; FIELD_NO_I32 */
	struct api_flavor_usages flavors_reservation, flavors_usage;
};
struct api_cluster_queue_status {
	struct api_conditions conditions;
	struct api_queue_totals totals;
	struct api_fair_sharing_status *fair_sharing;
};
struct api_cluster_queue {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_cluster_queue_spec spec;
	struct api_cluster_queue_status status;
};

struct api_cohort_spec {
	const char *parent; /* parentName; NULL: a root */
	struct api_resource_groups resource_groups;
	struct api_fair_sharing fair_sharing;
};
struct api_cohort_status {
	struct api_fair_sharing_status *fair_sharing;
};
struct api_cohort {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_cohort_spec spec;
	struct api_cohort_status status;
};

struct api_local_queue_spec {
	const char *cluster_queue;
	const char *stop_policy; /* default None */
	struct api_fair_sharing fair_sharing;
};
struct api_admission_usage { /* admissionFairSharingStatus */
	struct field_resources consumed;
	int64_t last_update; /* FIELD_NO_TIME */
};
struct api_local_fair_sharing_status {
	int64_t weighted_share;                /* FIELD_NO_I64 */
	struct api_admission_usage *admission; /* NULL: none */
};
struct api_local_queue_status {
	struct api_conditions conditions;
	struct api_queue_totals totals;
	struct api_local_fair_sharing_status *fair_sharing;
};
struct api_local_queue {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_local_queue_spec spec;
	struct api_local_queue_status status;
};

struct api_resource_flavor_spec {
	struct field_map node_labels;
	struct FIELD_LIST(struct api_taint) node_taints;
	struct FIELD_LIST(struct api_toleration) tolerations;
	const char *topology_name; /* NULL: not aware of topology */
};
struct api_resource_flavor {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_resource_flavor_spec spec;
};

struct api_workload_priority_class {
	const char *api_version, *kind;
	struct api_meta meta;
	int32_t value; /* FIELD_NO_I32: absent, which is invalid */
	const char *description;
};

struct api_check_parameters {
	const char *api_group, *kind, *name;
};
struct api_admission_check_spec {
	const char *controller_name;
	struct api_check_parameters *parameters; /* NULL: none */
};
struct api_admission_check_status {
	struct api_conditions conditions;
};
struct api_admission_check {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_admission_check_spec spec;
	struct api_admission_check_status status;
};

struct api_topology_level {
	const char *node_label;
};
struct api_topology_spec {
	struct FIELD_LIST(struct api_topology_level) levels; /* outermost first */
};
struct api_topology {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_topology_spec spec;
};

extern const struct field_table kueue_cluster_queue_fields;
extern const struct field_table kueue_cohort_fields;
extern const struct field_table kueue_local_queue_fields;
extern const struct field_table kueue_resource_flavor_fields;
extern const struct field_table kueue_workload_priority_class_fields;
extern const struct field_table kueue_admission_check_fields;
extern const struct field_table kueue_topology_fields;

/* The quotas of a flavor in any group; NULL: not there. */
const struct api_flavor_quotas *kueue_find_flavor(const struct api_resource_groups *groups,
						  const char *flavor);

#endif
