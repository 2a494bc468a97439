/* scheduler/ctl/explain/recorded_status.h: for users who may read their namespace but not the
 * objects of the cluster: the conditions that the scheduler has written into an object, instead of
 * an explanation. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_RECORDED_STATUS_H
#define SCHEDULER_CTL_EXPLAIN_RECORDED_STATUS_H

struct cluster_args;
struct err;
struct live_workloads;

/* For the warning: the parts of an explanation that are missing. */
#define RECORDED_STATUS_LACKS                                                                      \
	"amounts and positions are not known; what the scheduler has written last is shown"

/* Reads and prints the pod that the arguments name, and its PodGroup. err holds the error that kept
 * the cluster from being read; a warning says so. */
int recorded_status_pod(const struct cluster_args *a, struct err *err);
/* Prints a Workload that is there, by key. */
void recorded_status_workload(const struct cluster_args *a, const struct live_workloads *s,
			      const char *key);

#endif
