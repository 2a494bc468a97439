/* common/api/core/pod_request.h: the resources that a pod requests from its node, by Kubernetes'
 * rules: max(sum of containers and restartable init containers, each other init container plus the
 * restartable ones before it) with pod-level cpu, memory and hugepages in place of the sums, plus
 * overhead. A missing request defaults to the limit. During an in-place resize a container is
 * counted at the largest of spec, allocated and actual, unless the resize is infeasible (then
 * without spec). */
#ifndef COMMON_API_CORE_POD_REQUEST_H
#define COMMON_API_CORE_POD_REQUEST_H

#include "enc/field.h"

struct api_pod;
struct arena;

/* Sorted by name, exact, in the arena; zero amounts are kept; ret->v is never NULL. */
void pod_request_sum(const struct api_pod *pod, struct arena *arena, struct field_resources *ret);
/* Whether any container (or the pod) has a cpu limit. */
bool pod_request_limits_cpu(const struct api_pod *pod);

#endif
