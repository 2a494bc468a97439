/* test/lib/workloads/workload_sim_fixture.h: simulations of the quota part from manifests written
 * into a test. Owner: the test. */
#ifndef TEST_LIB_WORKLOADS_WORKLOAD_SIM_FIXTURE_H
#define TEST_LIB_WORKLOADS_WORKLOAD_SIM_FIXTURE_H

#include "scheduler/ctl/sim/workload_simulation.h"

#define QUOTA_SIM_API "apiVersion: kueue.x-k8s.io/v1beta2, "
/* Namespace team, ResourceFlavor f, ClusterQueue cq of 4 cpu in which lower priorities are
 * preempted, LocalQueue lq. */
#define QUOTA_SIM_CLUSTER                                                                          \
	"{apiVersion: v1, kind: Namespace, metadata: {name: team}}\n---\n"                         \
	"{" QUOTA_SIM_API "kind: ResourceFlavor, metadata: {name: f}}\n---\n"                      \
	"{" QUOTA_SIM_API "kind: ClusterQueue, metadata: {name: cq}, spec: {namespaceSelector: "   \
	"{}, preemption: {withinClusterQueue: LowerPriority}, resourceGroups: "                    \
	"[{coveredResources: "                                                                     \
	"[cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}]}]}]}}\n---\n"        \
	"{" QUOTA_SIM_API "kind: LocalQueue, metadata: {name: lq, namespace: team}, spec: "        \
	"{clusterQueue: cq}}\n---\n"
/* more: further members of the object, each with a comma in front. */
#define QUOTA_SIM_WORKLOAD(name, cpu, priority, more)                                              \
	"{" QUOTA_SIM_API "kind: Workload, metadata: {name: " name                                 \
	", namespace: team, uid: u-" name ", creationTimestamp: \"2026-01-15T09:00:00Z\"}, spec: " \
	"{queueName: lq, priority: " priority                                                      \
	", podSets: [{name: main, count: 1, template: {spec: {containers: [{name: c, resources: "  \
	"{requests: {cpu: " cpu "}}}]}}}]}" more "}\n---\n"
#define QUOTA_SIM_HOLDS(cpu)                                                                       \
	", status: {admission: {clusterQueue: cq, podSetAssignments: [{name: main, count: 1, "     \
	"flavors: {cpu: f}, resourceUsage: {cpu: " cpu                                             \
	"}}]}, conditions: [{type: QuotaReserved, status: \"True\", reason: QuotaReserved, "       \
	"message: m, lastTransitionTime: \"2026-01-15T09:01:00Z\"}]}"

/* config: YAML or NULL. Fails the test on bad manifests. The time is the youngest one. */
struct workload_simulation *workload_sim_fixture_create(const char *yaml, const char *config);
/* Text of the error that the manifests give; fails the test when they give none. */
void workload_sim_fixture_refused(const char *yaml, struct err *ret);

#endif
