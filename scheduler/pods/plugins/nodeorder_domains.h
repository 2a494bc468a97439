/* scheduler/pods/plugins/nodeorder_domains.h: the scores of nodeorder that depend on the pods in
 * the topology domains of a node, 0 to 100, by the formulas of kube-scheduler. Thread: sched. Pure.
 */
#ifndef SCHEDULER_PODS_PLUGINS_NODEORDER_DOMAINS_H
#define SCHEDULER_PODS_PLUGINS_NODEORDER_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct domain_view;
struct node;
struct pod_class;
struct session;

/* The nodes, each of which is compared with all others; one stands for all in the same domains. */
struct nodeorder_domains {
	const struct node *const *nodes;
	size_t n;
	int64_t *scores; /* by node: the result */
	/* For nodeorder_domains_spread: a sum by node, and as many marks as the cluster has nodes.
	 */
	double *sums;
	uint32_t *marks;
};

/* Preferred inter-pod affinity and anti-affinity: of pods of the class with this view, and of other
 * pods about them. */
void nodeorder_domains_affinity(const struct domain_view *v, const struct pod_class *k,
				const struct nodeorder_domains *d);
/* Topology spread with ScheduleAnyway. False: the class has none, and nothing is written. */
bool nodeorder_domains_spread(const struct session *s, const struct domain_view *v,
			      const struct pod_class *k, const struct nodeorder_domains *d);

#endif
