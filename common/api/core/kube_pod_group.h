/* common/api/core/kube_pod_group.h: scheduling.k8s.io/v1beta1 PodGroup, the one of Kubernetes 1.37
 * that pods name in spec.schedulingGroup (KEP-4671). Volcano's kind of the same name is in
 * api/volcano/scheduling.h. Plain data in an arena. */
#ifndef COMMON_API_CORE_KUBE_POD_GROUP_H
#define COMMON_API_CORE_KUBE_POD_GROUP_H

#include "api/meta/meta.h"
#include "enc/field.h"

#define KUBE_POD_GROUP_API_VERSION "scheduling.k8s.io/v1beta1"

struct api_gang_policy {
	int32_t min_count;
};
struct api_scheduling_policy {
	bool basic;
	struct api_gang_policy *gang; /* NULL: none */
};
struct api_kube_pod_group_spec {
	struct api_scheduling_policy policy;
	int32_t priority; /* 0: absent */
};
struct api_kube_pod_group {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_kube_pod_group_spec spec;
};

extern const struct field_table kube_pod_group_fields;

#endif
