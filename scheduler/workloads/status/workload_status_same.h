/* scheduler/workloads/status/workload_status_same.h: statuses of Workloads side by side. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_SAME_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_SAME_H

#include "scheduler/workloads/status/workload_status.h"

/* Whether both say the same: nothing would have to be written to get from one to the other. What
 * was observed of the object (generations) and times of transition do not count. */
bool workload_status_same(const struct workload_status *a, const struct workload_status *b);

#endif
