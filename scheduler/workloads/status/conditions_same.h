/* scheduler/workloads/status/conditions_same.h: statuses of Workloads side by side. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_CONDITIONS_SAME_H
#define SCHEDULER_WORKLOADS_STATUS_CONDITIONS_SAME_H

#include "scheduler/workloads/status/conditions.h"

/* Whether both say the same: nothing would have to be written to get from one to the other. What
 * was observed of the object (generations) and times of transition do not count. */
bool conditions_same(const struct conditions *a, const struct conditions *b);

#endif
