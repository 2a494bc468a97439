/* scheduler/pods/predicates/predicates_affinity.h: required inter-pod affinity and anti-affinity,
 * by kube-scheduler's rules and in its words. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PREDICATES_PREDICATES_AFFINITY_H
#define SCHEDULER_PODS_PREDICATES_PREDICATES_AFFINITY_H

#include <stdbool.h>

struct domain_view;
struct node;
struct pod_class;

/* Why a pod of the class with this view may not go to the node, as static text; NULL: it may.
 * later: when the pods that terminate are gone, and those that are pipelined have come.
 * *ret_unresolvable: evicting pods would not help. */
const char *predicates_affinity_refusal(const struct domain_view *v, const struct pod_class *k,
					const struct node *n, bool later, bool *ret_unresolvable);

#endif
