/* test/play/job_controller.h: the Job controller of Kubernetes, as far as a demo needs it: pods of
 * Jobs that are not suspended, one for each completion and named after it; their numbers and the
 * end in the Job's status. Pods of a suspended Job are deleted; with a Job go its pods and its
 * Workload. Needs mirror_follow of MIRROR_JOBS, and of MIRROR_WORKLOADS where there are any. Runs
 * on the mirror's transport thread. */
#ifndef TEST_PLAY_JOB_CONTROLLER_H
#define TEST_PLAY_JOB_CONTROLLER_H

#include <stdbool.h>

struct job_controller;
struct mirror;

/* Registers itself with the mirror; create before mirror_start. */
struct job_controller *job_controller_create(struct mirror *m);
/* Any thread. While it holds, pods of suspended Jobs stay. */
void job_controller_hold_pods(struct job_controller *c, bool hold);
void job_controller_destroy(struct job_controller *c); /* after the transport has ended */

#endif
