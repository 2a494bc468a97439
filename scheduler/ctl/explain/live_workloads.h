/* scheduler/ctl/explain/live_workloads.h: Workloads and their queues as they are now, for read-only
 * verbs: objects from consistent lists of a cluster, or from manifests, and the same loader for
 * both. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_LIVE_WORKLOADS_H
#define SCHEDULER_CTL_EXPLAIN_LIVE_WORKLOADS_H

#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/workload_simulation.h"

struct err;

struct live_workloads {
	struct sim_input *in;
	struct workload_simulation *world; /* no cycle has run; NULL: not requested */
	int64_t now;                       /* wall ns */
};

/* Reads objects of these kinds alone; bits of enum sched_resource: 1u << SCHED_WORKLOADS. From a
 * cluster, those of this namespace; NULL: of all. */
int live_workloads_read(const struct cluster_args *a, unsigned kinds, const char *namespace_,
			struct live_workloads *ret, struct err *err);
/* Reads only pods: from a cluster those that the selectors (NULL: all) select in the namespace, or
 * in all; from manifests all pods. */
int live_workloads_pods(const struct cluster_args *a, const char *labels, const char *fields,
			struct live_workloads *ret, struct err *err);
/* Reads all objects of the Workload engine and builds the simulation from them. Objects that cannot
 * be read are left out, with a warning that names object and field. */
int live_workloads_load(const struct cluster_args *a, struct live_workloads *ret, struct err *err);
/* For a user who may not read all of it: the Workloads and LocalQueues of one namespace alone, and
 * the simulation of these. Warns with `why`, the error of live_workloads_load, and with what
 * `lacks`. */
int live_workloads_load_namespace(const struct cluster_args *a, const char *namespace_,
				  const struct err *why, const char *lacks,
				  struct live_workloads *ret, struct err *err);
void live_workloads_finish(struct live_workloads *s); /* for CLEANUP; zeroed is fine */

#endif
