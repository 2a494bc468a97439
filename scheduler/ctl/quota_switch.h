/* scheduler/ctl/quota_switch.h: stops and resumes ClusterQueues, LocalQueues and Workloads, as
 * kueuectl does: spec.stopPolicy of queues, spec.active of Workloads. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_SWITCH_H
#define SCHEDULER_CTL_QUOTA_SWITCH_H

#include <stdbool.h>

/* The whole verb "stop", or "resume": parses, patches, prints; an exit code. */
int quota_switch_run(int argc, char **argv, bool stop);

#endif
