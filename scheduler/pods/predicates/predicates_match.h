/* scheduler/pods/predicates/predicates_match.h: Kubernetes' rules of what a pod class says about
 * nodes: selectors, node affinity, taints, host ports. Label strings are compared by pointer: both
 * sides are interned in the same table. Pure; any thread. */
#ifndef SCHEDULER_PODS_PREDICATES_PREDICATES_MATCH_H
#define SCHEDULER_PODS_PREDICATES_PREDICATES_MATCH_H

#include <stdbool.h>

struct node;
struct pod_class;
struct taint;

/* nodeSelector, and the required terms of node affinity: any term, all expressions of it. */
bool predicates_match_affinity(const struct pod_class *k, const struct node *n);
/* The first NoSchedule or NoExecute taint that k does not tolerate; NULL: none. */
const struct taint *predicates_match_taint(const struct pod_class *k, const struct node *n);
/* Whether k tolerates being put on a cordoned node. */
bool predicates_match_cordoned(const struct pod_class *k);
/* Whether both want the same port of the same protocol on an address they share. */
bool predicates_match_ports(const struct pod_class *a, const struct pod_class *b);

#endif
