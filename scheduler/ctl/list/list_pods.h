/* scheduler/ctl/list/list_pods.h: selects the pods of a Job, or of the group of a pod, as kueuectl
 * does, and prints them as kubectl does. One thread. */
#ifndef SCHEDULER_CTL_LIST_LIST_PODS_H
#define SCHEDULER_CTL_LIST_LIST_PODS_H

#include <stdbool.h>

struct cluster_args;
struct columns;
struct err;
struct jdoc;
struct live_workloads;

struct list_pods {
	const char *label; /* the label that selects them; NULL: none */
	char *value;       /* of the label, or the name of the pod; NULL: there is no such pod */
};

/* Reads the option --for of a, which is given: TYPE/NAME. -ERR_INVALID: another kind. */
int list_pods_read(const struct cluster_args *a, struct list_pods *ret,
		   struct live_workloads *source, struct err *err);
void list_pods_finish(struct list_pods *l); /* of zeros is fine */
bool list_pods_wanted(const struct list_pods *l, const struct jdoc *pod);
/* READY, STATUS, RESTARTS */
void list_pods_add(struct columns *table, const struct jdoc *pod);

#endif
