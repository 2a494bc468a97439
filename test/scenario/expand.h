/* test/scenario/expand.h: the short forms of a scenario file as Kubernetes objects. A short form is
 * merged over the object made from it, so that "merge" can set any field.
 *   queue: name, parent, state, capability, deserved, guarantee, reclaimable
 *   group: name, queue, class, min, roles, minResources, phase
 *   node:  name, cpu, memory, labels, taints, unschedulable
 *   pod:   name, group, cpu, memory, gated (opted in, our gate), foreign (another gate), plain (did
 *          not opt in), node (bound and running), selector, role, priority, scheduler (volcano),
 *          queue (by annotation), kubeGroup (schedulingGroup), queue-less fields in merge
 *   kubeGroup (a PodGroup of Kubernetes; kind KubePodGroup in "change" and "delete"): name, min
 *          (absent: policy basic)
 * Everything lies in namespace "ns". Owner: the test. */
#ifndef TEST_SCENARIO_EXPAND_H
#define TEST_SCENARIO_EXPAND_H

struct jdoc;

/* New roots. kind: "queues", "groups", "kubeGroups", "nodes", "pods"; "objects" copies. Asserts on
 * others. */
struct jdoc *expand_object(const char *kind, const struct jdoc *shape);

#endif
