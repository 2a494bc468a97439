/* scheduler/pods/plugins/nodeorder_domains.h: the scores of nodeorder that depend on the pods in
 * the topology domains of a node, 0 to 100, by the formulas of kube-scheduler. Thread: sched. Pure.
 */
#ifndef SCHEDULER_PODS_PLUGINS_NODEORDER_DOMAINS_H
#define SCHEDULER_PODS_PLUGINS_NODEORDER_DOMAINS_H

#include <stddef.h>
#include <stdint.h>

struct domain_view;
struct node;
struct pod_class;

/* Preferred inter-pod affinity and anti-affinity: of pods of the class with this view, and of other
 * pods about them. The nodes are those with which each is compared. ret: by node. */
void nodeorder_domains_affinity(const struct domain_view *v, const struct pod_class *k,
				const struct node *const *nodes, size_t n, int64_t *ret);

#endif
