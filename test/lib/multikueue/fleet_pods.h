/* test/lib/multikueue/fleet_pods.h: the same as fleet_jobs.h for a group of two pods, "NAME-0" and
 * "NAME-1": the core on the manager's cluster, and Kueue with a kubelet on each worker. Pods on
 * workers have the finalizer of Kueue. The Workload has the name of the group. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_PODS_H
#define TEST_LIB_MULTIKUEUE_FLEET_PODS_H

#include <stdbool.h>

struct fleet_world;
struct jdoc;

#define FLEET_PODS_SIZE 2 /* pods of a group */

/* The pods are held by the gate, and their Workload has the quota. */
void fleet_pods_submit(struct fleet_world *w, const char *name);
/* The next act of the core. Pods keep their gate. */
void fleet_pods_core(struct fleet_world *w, const char *name);
void fleet_pods_evict(struct fleet_world *w, const char *name);
/* The next act of a worker: it lets the pods of an admitted replica go, and stops those of another
 * one: by their condition TerminationTarget, then by a deletion, and they fail; pods that are being
 * deleted lose the finalizer. */
void fleet_pods_work(struct fleet_world *w, unsigned worker, const char *name);
/* The pods that run succeed. */
void fleet_pods_finish(struct fleet_world *w, unsigned worker, const char *name);
/* The user deletes the pods and the Workload. */
void fleet_pods_remove(struct fleet_world *w, const char *name);
/* On a worker one of the pods is deleted. */
void fleet_pods_remove_there(struct fleet_world *w, unsigned worker, const char *name);

/* All of these are read from the API servers. */
bool fleet_pods_exist(struct fleet_world *w, int server, const char *name); /* any */
/* Pods that have no gate, or run. */
unsigned fleet_pods_running(struct fleet_world *w, int server, const char *name);
/* Pods with this phase. */
unsigned fleet_pods_in(struct fleet_world *w, int server, const char *name, const char *phase);
/* All pods of the group are there and have succeeded. */
bool fleet_pods_have_succeeded(struct fleet_world *w, int server, const char *name);

#endif
