/* common/api/volcano/scheduling.h: scheduling.volcano.sh/v1beta1 Queue and PodGroup,
 * scheduling.k8s.io/v1 PriorityClass. Plain data in an arena. */
#ifndef COMMON_API_VOLCANO_SCHEDULING_H
#define COMMON_API_VOLCANO_SCHEDULING_H

#include "api/meta/meta.h"
#include "api/meta/selector.h"
#include "enc/field.h"

struct api_group_affinity {
	struct field_strs required, preferred;
};
struct api_queue_affinity {
	struct api_group_affinity *node_group, *node_group_anti;
};
struct api_queue_cluster {
	const char *name;
	int32_t weight; /* FIELD_NO_I32 */
	struct field_resources capacity;
};
struct api_queue_guarantee {
	struct field_resources resource;
};
struct api_queue_reservation {
	struct field_strs nodes;
	struct field_resources resource;
};

struct api_queue_spec {
	int32_t weight;     /* FIELD_NO_I32: absent */
	int32_t priority;   /* 0 */
	int8_t reclaimable; /* -1 absent */
	struct field_resources capability, deserved;
	struct api_queue_guarantee guarantee;
	const char *parent, *type, *dequeue_strategy;
	struct api_queue_affinity *affinity;
	struct FIELD_LIST(struct api_queue_cluster) extend_clusters;
};
struct api_queue_status {
	const char *state; /* NULL: not written yet, counts as Open */
	struct field_resources allocated;
	struct api_queue_reservation reservation;
	int32_t pending, running, inqueue, unknown, completed;
};
struct api_queue {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_queue_spec spec;
	struct api_queue_status status;
};

struct api_network_topology {
	const char *mode, *highest_tier_name;
	int32_t highest_tier_allowed; /* FIELD_NO_I32 */
};
struct api_sub_group_policy {
	const char *name;
	struct api_network_topology *network_topology;
	int32_t sub_group_size, min_sub_groups; /* FIELD_NO_I32 */
	struct api_label_selector *label_selector;
	struct field_strs match_label_keys;
};
struct api_pod_group_spec {
	int32_t min_member;
	struct field_int_map min_task_member;
	const char *queue, *priority_class_name;
	struct field_resources min_resources; /* .v NULL: absent, which is not the same as empty */
	struct api_network_topology *network_topology;
	struct FIELD_LIST(struct api_sub_group_policy) sub_group_policy;
};
struct api_pod_group_status {
	const char *phase;
	struct api_conditions conditions;
	int32_t running, succeeded, failed;
};
struct api_pod_group {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_pod_group_spec spec;
	struct api_pod_group_status status;
};

struct api_priority_class {
	const char *api_version, *kind;
	struct api_meta meta;
	int32_t value;
	bool global_default;
	const char *preemption_policy, *description;
};

extern const struct field_table scheduling_queue_fields;
extern const struct field_table scheduling_pod_group_fields;
extern const struct field_table scheduling_priority_class_fields;

#endif
