/* scheduler/ctl/list/missing_workload.h: why a job or a pod has no Workload. One thread. */
#ifndef SCHEDULER_CTL_LIST_MISSING_WORKLOAD_H
#define SCHEDULER_CTL_LIST_MISSING_WORKLOAD_H

#include "scheduler/ctl/explain/live_workloads.h"

/* type: as users type it, "job" or KIND.GROUP; key: "namespace/name". Always -ERR_NOT_FOUND. The
 * text says whether the object exists, whether it queues, and has the nearest name where there is
 * none. A Job or pod is read from the cluster, other kinds are known by their Workloads alone. */
int missing_workload_explain(const struct cluster_args *a, const struct live_workloads *s,
			     const char *type, const char *key, struct err *err);

#endif
