/* scheduler/ctl/multikueue/worker_access.h: from the name of a MultiKueueCluster to a kubeconfig of
 * that worker, as the manager reads it. Any thread; blocks. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WORKER_ACCESS_H
#define SCHEDULER_CTL_MULTIKUEUE_WORKER_ACCESS_H

#include "base/err.h"

struct kubeconfig;
struct transport;

enum worker_access_state {
	WORKER_ACCESS_READ,       /* there is a kubeconfig that the manager takes */
	WORKER_ACCESS_BAD,        /* the manager cannot use the worker: see why */
	WORKER_ACCESS_UNREADABLE, /* the user may not read it, or it cannot be read from here */
};

struct worker_access {
	enum worker_access_state state;
	const char *cluster; /* borrowed */
	char *source;        /* "Secret headgate-system/worker1-kubeconfig"; NULL: none is known */
	struct kubeconfig *config; /* NULL unless READ */
	struct err why;            /* of BAD and UNREADABLE */
};

/* manager: of the manager's API server. namespace_: of its Secrets. */
void worker_access_read(struct transport *manager, const char *namespace_, const char *cluster,
			struct worker_access *ret);
void worker_access_finish(struct worker_access *a); /* for CLEANUP; zeroed is fine */
/* Connects to the worker; transport_destroy. -ERR_UNAVAILABLE or -ERR_INVALID. */
int worker_access_connect(const struct worker_access *a, struct transport **ret, struct err *err);

#endif
