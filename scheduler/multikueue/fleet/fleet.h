/* scheduler/multikueue/fleet/fleet.h: the manager of MultiKueue and the orchestrator of preemption
 * over many clusters (KEP-8303), each where it is wanted, without threads and sockets of their own.
 * They read the manager's Workloads and, over a connection to each worker cluster, their replicas.
 * The manager (fleet_manager.h) makes and removes replicas and Jobs. The orchestrator decides on
 * which cluster a Workload may preempt (orchestrate/orchestrate.h), and writes the token to the
 * local object and the gate to the replica; the replicas may also be those of Kueue's manager.
 * Driven by messages and the time. Owner: the fleet thread, except what fleet_state points to (any
 * thread). */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"
#include "scheduler/base/engine_state.h"
#include "scheduler/base/message.h"
#include "scheduler/multikueue/manager/manager.h"
#include "scheduler/orchestrate/orchestrate.h"

#define FLEET_MAX_POOLS 256
#define FLEET_NAME "headgate-orchestrator" /* field manager of the token, component of Events */
#define FLEET_MANAGER_NAME "headgate-multikueue" /* component of Events, with the manager */

struct clock;
struct err;
struct fleet;
struct kubeconfig;
struct kueue_conf;
struct metric_registry;
struct pool;
struct pool_limiter;
struct transport;

struct fleet_options {
	const char *origin; /* value of the label kueue.x-k8s.io/multikueue-origin of replicas */
	const char *namespace_;      /* of the Secrets with kubeconfigs */
	const char *kubeconfig_root; /* the folder of files with kubeconfigs: WORKER_CONFIG_ROOT */
	bool orchestrates; /* false: it opens all gates that replicas of the manager have */
	struct orchestrate_options orchestrate;
	bool manages;
	bool carries_pods;           /* by the manager: pods and pod groups besides Jobs */
	struct custom_kinds customs; /* by the manager: kinds besides; borrowed */
	struct manager_options manager;
	int64_t gc_ns; /* between two collections of orphans by the manager; 0: none */
	const struct kueue_conf *conf; /* of the workers, for prices; must outlive the fleet */
	unsigned max_open;             /* gates open at once for one ClusterQueue of a worker */
	struct transport *transport;   /* for writes to the manager's API server */
	const struct clock *clock;
	struct pool_limiter *limiter; /* of these writes; may be NULL */
	struct metric_registry *counters;
	bool manual; /* pools are stepped by the owner */
	int64_t request_timeout_ns;
	uint64_t seed;
	/* Makes a transport to a worker cluster; called twice for each connection. */
	int (*connect)(void *ctx, const char *cluster, const struct kubeconfig *cfg,
		       struct transport **ret, struct err *err);
	void (*post)(void *ctx, struct sched_msg *msg); /* to the fleet thread; any thread */
	bool (*may_send)(void *ctx);
	void *ctx;
};

struct fleet *fleet_create(const struct fleet_options *opt);
void fleet_destroy(struct fleet *f); /* NULL is fine */
/* Drops waiting writes and awaits those in flight. Not on a transport's thread; before the
 * transport of the options is destroyed. Only fleet_destroy may follow. */
void fleet_stop(struct fleet *f, int64_t grace_ns);
void fleet_handle(struct fleet *f, struct sched_msg *msg_take);
/* Does what is due. Returns the monotonic time at which to call it again without a message. */
int64_t fleet_step(struct fleet *f);
const struct engine_state *fleet_state(const struct fleet *f);
/* Every pool that writes, for stepping in manual mode; returns how many. */
size_t fleet_pools(struct fleet *f, struct pool **out, size_t max);

#endif
