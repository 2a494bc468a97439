/* scheduler/pods/predicates/predicates_spread.h: topology spread constraints with DoNotSchedule, by
 * kube-scheduler's rules and in its words. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PREDICATES_PREDICATES_SPREAD_H
#define SCHEDULER_PODS_PREDICATES_PREDICATES_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

struct domain_view;
struct node;
struct pod_class;
struct session;

/* Why a pod of the class with this view may not go to the node, as static text; NULL: it may.
 * later: when the pods that are pipelined have come. *ret_unresolvable: evicting pods would not
 * help. */
const char *predicates_spread_refusal(const struct session *s, const struct domain_view *v,
				      const struct pod_class *k, const struct node *n, bool later,
				      bool *ret_unresolvable);
/* Whether pods on the node count for constraint i of the class, also with ScheduleAnyway: the node
 * has the topology keys of all constraints of that kind, and the policies of this one include it.
 */
bool predicates_spread_eligible(const struct pod_class *k, size_t i, const struct node *n);

#endif
