/* scheduler/multikueue/manager/wind_down.h: a local Workload that is evicted and still has quota:
 * it is stopped where it runs, and the core releases the quota when no pod is active. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_WIND_DOWN_H
#define SCHEDULER_MULTIKUEUE_MANAGER_WIND_DOWN_H

struct pass;

/* The core may have cleared status.clusterName with the eviction: the Job shows where it runs. */
void wind_down(struct pass *p);

#endif
