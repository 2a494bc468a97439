/* test/unit/scheduler/ctl/multikueue/managing_cluster.h: a manager of MultiKueue for headgatectl:
 * the embedded API server with a MultiKueueConfig of workers w1 to w4, an AdmissionCheck for it,
 * and Secrets. Owner: the test's thread. */
#ifndef TEST_UNIT_SCHEDULER_CTL_MULTIKUEUE_MANAGING_CLUSTER_H
#define TEST_UNIT_SCHEDULER_CTL_MULTIKUEUE_MANAGING_CLUSTER_H

#include "unit/scheduler/ctl/live_fixture.h"
#include "unit/scheduler/ctl/multikueue/worker_fixture.h"

#define MANAGING_CLUSTER_API "apiVersion: kueue.x-k8s.io/v1beta2, "

struct transport;

/* Namespaces ns and kueue-system, AdmissionCheck mk, MultiKueueConfig all, ClusterQueue cq with
 * the check, LocalQueue ns/lq. */
void managing_cluster_start(struct live_fixture *f);
/* The Secret and the MultiKueueCluster of this worker. */
void managing_cluster_add_worker(struct live_fixture *f, const char *name,
				 const struct worker_fixture *worker);
/* A Workload of ns with quota, of which the check is in this state. token: of its annotation, NULL:
 * none. */
void managing_cluster_add_workload(struct live_fixture *f, const char *name, const char *queue,
				   const char *state, const char *token);
/* A connection of the caller's own. */
struct transport *managing_cluster_connect(struct live_fixture *f);

#endif
