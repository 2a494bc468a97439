/* scheduler/pods/plugins/predicates_spread.h: topology spread constraints with DoNotSchedule, by
 * kube-scheduler's rules and in its words. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_PREDICATES_SPREAD_H
#define SCHEDULER_PODS_PLUGINS_PREDICATES_SPREAD_H

#include <stdbool.h>

struct domain_view;
struct node;
struct pod_class;
struct session;

/* Why a pod of the class with this view may not go to the node, as static text; NULL: it may.
 * *ret_unresolvable: evicting pods would not help. */
const char *predicates_spread_refusal(const struct session *s, const struct domain_view *v,
				      const struct pod_class *k, const struct node *n,
				      bool *ret_unresolvable);

#endif
