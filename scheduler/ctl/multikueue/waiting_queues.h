/* scheduler/ctl/multikueue/waiting_queues.h: the LocalQueues of the manager in which Workloads wait
 * for the answer of a worker cluster: a worker needs a namespace and a LocalQueue of the same
 * names. One thread. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_WAITING_QUEUES_H
#define SCHEDULER_CTL_MULTIKUEUE_WAITING_QUEUES_H

#include "collections/vec.h"

#define WAITING_QUEUES_CONTROLLER "kueue.x-k8s.io/multikueue" /* of AdmissionChecks */

struct err;
struct transport;
struct waiting_queues;

struct waiting_queues_keys VEC(const char *); /* "namespace/name", in order of name */

/* Reads AdmissionChecks, MultiKueueConfigs and Workloads of the manager. Objects that cannot be
 * decoded count as far as they can. */
int waiting_queues_read(struct transport *manager, struct waiting_queues **ret, struct err *err);
void waiting_queues_destroy(struct waiting_queues *w); /* NULL is fine */
/* Those with Workloads that are offered to this cluster; borrowed. The caller finishes ret, which
 * is empty. */
void waiting_queues_of(const struct waiting_queues *w, const char *cluster,
		       struct waiting_queues_keys *ret);

#endif
