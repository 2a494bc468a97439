/* scheduler/ctl/sim/workload_load.h: objects of a simulation into the quota world, the way an API
 * server would have completed them. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_LOAD_H
#define SCHEDULER_CTL_SIM_WORKLOAD_LOAD_H

#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/status/conditions.h"

struct err;
struct from_kueue_rules;
struct kueue_conf;

struct workload_load {
	struct quota *q;
	struct from_kueue_rules *rules;
	const struct kueue_conf *conf;
};

/* What is kept of a Workload beside what the engine needs. */
struct workload_load_status {
	struct arena *arena; /* holds all below */
	struct conditions conditions;
	const char *admission; /* status.admission as it was given, JSON; NULL: none */
	const char *queue;     /* ClusterQueue in which it holds quota; NULL: it holds none */
};

/* Any kind but Workload; those that are not of the quota part are left alone. -ERR_INVALID names
 * object and field. quota_nodes_changed is for the caller to call after the last one. */
int workload_load_object(const struct workload_load *l, const struct sim_object *o,
			 struct err *err);
/* Adds a Workload, which holds nothing yet and does not wait yet. */
int workload_load_workload(const struct workload_load *l, const struct sim_object *o,
			   struct workload **ret, struct workload_load_status **ret_status,
			   struct err *err);
/* The same of one that workload_load_workload refuses: what it holds, as far as it can be read.
 * -ERR_NOT_FOUND: nothing. */
int workload_load_workload_keep(const struct workload_load *l, const struct sim_object *o,
				struct workload **ret, struct workload_load_status **ret_status);
void workload_load_status_destroy(struct workload_load_status *s); /* NULL is fine */

#endif
