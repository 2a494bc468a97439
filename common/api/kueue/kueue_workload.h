/* common/api/kueue/kueue_workload.h: kueue.x-k8s.io/v1beta2 Workload. Plain data in an arena.
 * Absent and zero stay distinguishable (field.h). */
#ifndef COMMON_API_KUEUE_KUEUE_WORKLOAD_H
#define COMMON_API_KUEUE_KUEUE_WORKLOAD_H

#include "api/core/pod.h"
#include "api/meta/meta.h"
#include "enc/field.h"

struct api_topology_slice {
	const char *topology;
	int32_t size;
};
struct api_topology_request {
	const char *required, *preferred;
	int8_t unconstrained; /* FIELD_TRI_ABSENT */
	const char *pod_index_label, *sub_group_index_label;
	int32_t sub_group_count; /* FIELD_NO_I32 */
	const char *group_name;  /* podSetGroupName: pod sets of one group share flavors */
	const char *slice_required;
	int32_t slice_size; /* FIELD_NO_I32 */
	struct FIELD_LIST(struct api_topology_slice) slice_constraints;
};
struct api_pod_set {
	const char *name; /* default "main" */
	struct api_pod_template template_;
	int32_t count;     /* FIELD_NO_I32: absent, default 1 */
	int32_t min_count; /* FIELD_NO_I32: no partial admission */
	struct api_topology_request *topology_request;
};
struct api_priority_ref { /* priorityClassRef */
	const char *group, *kind, *name;
};
struct api_preemption_gate {
	const char *name;
};
struct api_workload_spec {
	struct FIELD_LIST(struct api_pod_set) pod_sets;
	const char *queue_name;
	struct api_priority_ref *priority_class_ref;
	int32_t priority;           /* FIELD_NO_I32: absent, counts as 0 */
	int8_t active;              /* FIELD_TRI_ABSENT, default true */
	int32_t max_execution_time; /* seconds; FIELD_NO_I32: no limit */
	struct FIELD_LIST(struct api_preemption_gate) preemption_gates;
};

struct api_pod_set_assignment {
	const char *name;               /* default "main" */
	struct field_map flavors;       /* by resource */
	struct field_resources usage;   /* of all pods together */
	int32_t count;                  /* FIELD_NO_I32: as the pod set says */
	struct str topology_assignment; /* as text; .p NULL: absent */
	const char *delayed_topology;   /* delayedTopologyRequest: Pending, Ready */
};
struct api_workload_admission {
	const char *cluster_queue;
	struct FIELD_LIST(struct api_pod_set_assignment) assignments;
};
struct api_requeue_state {
	int32_t count;      /* FIELD_NO_I32 */
	int64_t requeue_at; /* FIELD_NO_TIME */
};
struct api_reclaimable_pod {
	const char *name;
	int32_t count;
};
struct api_pod_set_update {
	const char *name;
	struct field_map labels, annotations, node_selector;
	struct FIELD_LIST(struct api_toleration) tolerations;
};
struct api_check_state {
	const char *name, *state, *message;
	int64_t last_transition; /* FIELD_NO_TIME */
	int32_t requeue_after;   /* seconds; FIELD_NO_I32 */
	int32_t retry_count;     /* FIELD_NO_I32 */
	struct FIELD_LIST(struct api_pod_set_update) updates;
};
struct api_pod_set_request { /* resourceRequests: the amounts counted by the scheduler */
	const char *name;
	struct field_resources resources;
};
struct api_eviction_count {
	const char *reason, *underlying_cause;
	int32_t count; /* FIELD_NO_I32: absent, counts as 0 */
};
struct api_scheduling_stats {
	struct FIELD_LIST(struct api_eviction_count) evictions;
};
struct api_unhealthy_node {
	const char *name;
};
struct api_preemption_gate_state {
	const char *name;
	const char *position; /* Open, Closed: Kueue's field */
	const char *state;    /* Open, Closed: as KEP-8303 spells it; position wins */
	int64_t last_transition;
};
struct api_workload_status {
	struct api_conditions conditions;
	struct api_workload_admission *admission; /* NULL: no quota is held */
	struct api_requeue_state *requeue_state;
	struct FIELD_LIST(struct api_reclaimable_pod) reclaimable_pods;
	struct FIELD_LIST(struct api_check_state) admission_checks;
	struct FIELD_LIST(struct api_pod_set_request) resource_requests;
	int32_t past_execution_time; /* accumulatedPastExecutionTimeSeconds, FIELD_NO_I32 */
	struct api_scheduling_stats *scheduling_stats;
	struct field_strs nominated_clusters;
	const char *cluster_name;
	struct FIELD_LIST(struct api_unhealthy_node) unhealthy_nodes;
	struct FIELD_LIST(struct api_preemption_gate_state) preemption_gates;
	const struct quantity *preemption_cost; /* KEP-7990; NULL counts as 0 */
};
struct api_workload {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_workload_spec spec;
	struct api_workload_status status;
};

extern const struct field_table kueue_workload_fields;
extern const struct field_table kueue_workload_spec_fields;
extern const struct field_table kueue_workload_pod_set_fields; /* of one in spec.podSets */

/* The stages of a Workload; each one implies those before it. */
enum kueue_workload_stage {
	KUEUE_WORKLOAD_PENDING,
	KUEUE_WORKLOAD_RESERVING, /* QuotaReserved */
	KUEUE_WORKLOAD_ADMITTED,
	KUEUE_WORKLOAD_FINISHED,
};
enum kueue_workload_stage kueue_workload_stage(const struct api_workload *w);
/* QuotaReserved is True, regardless of other conditions. */
bool kueue_workload_is_reserving(const struct api_workload *w);
/* Whether it has the condition, with status True. */
bool kueue_workload_is_true(const struct api_workload *w, const char *condition);
bool kueue_workload_is_active(const struct api_workload *w); /* spec.active, absent is true */
/* Number of reclaimable pods of a pod set (status.reclaimablePods); 0 when absent. */
int32_t kueue_workload_reclaimable(const struct api_workload *w, const char *pod_set);
/* NULL: absent. */
const struct api_pod_set_assignment *kueue_workload_assignment(const struct api_workload *w,
							       const char *pod_set);
const struct api_check_state *kueue_workload_check(const struct api_workload *w, const char *check);

#endif
