/* scheduler/ctl/list/stop_resume.h: stops and resumes ClusterQueues, LocalQueues and Workloads, as
 * kueuectl does: spec.stopPolicy of queues, spec.active of Workloads. One thread. */
#ifndef SCHEDULER_CTL_LIST_STOP_RESUME_H
#define SCHEDULER_CTL_LIST_STOP_RESUME_H

#include <stdbool.h>

struct verb;

/* Positional arguments of both verbs. */
#define QUOTA_SWITCH_ARGS "clusterqueue NAME\nlocalqueue NAMESPACE/NAME\nworkload NAMESPACE/NAME"

/* The whole verb "stop", or "resume": parses, patches, prints; an exit code. */
int stop_resume_run(const struct verb *verb, int argc, char **argv, bool stop);

#endif
