/* scheduler/ctl/quota_load.h: objects of a simulation into the quota world, the way an API server
 * would have completed them. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_LOAD_H
#define SCHEDULER_CTL_QUOTA_LOAD_H

#include "ctl/sim_input.h"
#include "quota/conditions.h"

struct err;
struct from_api_quota_rules;
struct quota_conf;

struct quota_load {
	struct quota *q;
	struct from_api_quota_rules *rules;
	const struct quota_conf *conf;
};

/* What is kept of a Workload beside what the engine needs. */
struct quota_load_status {
	struct arena *arena; /* holds all below */
	struct conditions conditions;
	const char *admission; /* status.admission as it was given, JSON; NULL: none */
	const char *queue;     /* ClusterQueue in which it holds quota; NULL: it holds none */
};

/* Any kind but Workload; those that are not of the quota part are left alone. -ERR_INVALID names
 * object and field. quota_nodes_changed is for the caller to call after the last one. */
int quota_load_object(const struct quota_load *l, const struct sim_object *o, struct err *err);
/* Adds a Workload, which holds nothing yet and does not wait yet. */
int quota_load_workload(const struct quota_load *l, const struct sim_object *o,
			struct workload **ret, struct quota_load_status **ret_status,
			struct err *err);
/* The same of one that quota_load_workload refuses: what it holds, as far as it can be read.
 * -ERR_NOT_FOUND: nothing. */
int quota_load_workload_keep(const struct quota_load *l, const struct sim_object *o,
			     struct workload **ret, struct quota_load_status **ret_status);
void quota_load_status_destroy(struct quota_load_status *s); /* NULL is fine */

#endif
