/* scheduler/multikueue/manager/winner.h: the cluster that was chosen: its record, its Job, the copy
 * of the Job's status, and the end: finished, evicted there, gone, or lost. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_WINNER_H
#define SCHEDULER_MULTIKUEUE_MANAGER_WINNER_H

#include <stddef.h>

struct pass;

/* Records the cluster; its replica can be reached. */
void winner_set(struct pass *p, size_t i);
/* The local Workload names its cluster, has quota and is not evicted. The recorded cluster is the
 * only one on which it may run, whatever another one says. */
void winner_follow(struct pass *p);
/* The status of the local Job becomes that of the Job there, as far as mirror.h says. */
void winner_mirror(struct pass *p, size_t i);
/* The replica there has finished. */
void winner_finish(struct pass *p, size_t i);

#endif
