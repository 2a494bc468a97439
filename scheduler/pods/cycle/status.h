/* scheduler/pods/cycle/status.h: the reports at the end of a cycle: phases and conditions of
 * PodGroups, PodScheduled conditions of pods, events. Nothing is reported twice: the model has the
 * last report. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_STATUS_H
#define SCHEDULER_PODS_CYCLE_STATUS_H

#include "scheduler/pods/session/session.h"

/* For all PodGroups of the queues that this cycle looks at. */
void status_run(struct session *s);

#endif
