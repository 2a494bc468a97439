/* scheduler/ctl/multikueue/worker_role.h: the rights of the account by which a manager of
 * MultiKueue uses a worker cluster: the file from which the chart makes a ClusterRole
 * (charts/headgate/files/multikueue-worker.yaml), compiled in. One thread. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_ROLE_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_ROLE_H

struct jdoc;
struct strbuf;

enum worker_role_level {
	WORKER_ROLE_ORCHESTRATOR, /* opens gates, prices workers */
	WORKER_ROLE_MANAGER,      /* makes replicas and Jobs besides */
	WORKER_ROLE_MANAGER_PODS, /* and pods */
	WORKER_ROLE_COUNT_
};

struct worker_role;

/* One verb on one resource. */
struct worker_role_right {
	const char *group, *resource;
	const char *sub; /* NULL: the resource itself */
	const char *verb;
	const char *name; /* NULL: of any object */
};

struct worker_role *worker_role_create(enum worker_role_level level);
/* Adds the rights on the objects of one more kind that the manager carries. A level below MANAGER
 * carries none. */
void worker_role_add_kind(struct worker_role *role, const char *group, const char *plural);
void worker_role_destroyp(struct worker_role **pr); /* for CLEANUP */
/* Of a ClusterRole, as an array. */
const struct jdoc *worker_role_rules(const struct worker_role *role);
/* Each right once, in the order of the file; NULL behind the last one. */
const struct worker_role_right *worker_role_at(const struct worker_role *role, unsigned i);
/* Appends "patch workloads.kueue.x-k8s.io/status". */
void worker_role_describe(const struct worker_role_right *right, struct strbuf *out);

#endif
