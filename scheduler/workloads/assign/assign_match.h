/* scheduler/workloads/assign/assign_match.h: whether the pods of a pod set may run on the nodes of
 * a flavor, as far as the flavor declares labels and taints (Kueue: flavorassigner). Pure; any
 * thread. */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_MATCH_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_MATCH_H

#include "scheduler/workloads/model/quota_model.h"

/* The first NoSchedule or NoExecute taint that neither the pods nor the flavor tolerate; NULL:
 * none.
 */
const struct taint *assign_match_taint(const struct flavor *f, const struct podset *p);
/* nodeSelector and required node affinity, restricted to labels that the flavor declares: it says
 * nothing about the others, nor about fields. A term of which nothing is left matches. */
bool assign_match_labels(const struct flavor *f, const struct podset *p);

#endif
