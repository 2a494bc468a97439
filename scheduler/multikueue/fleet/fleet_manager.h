/* scheduler/multikueue/fleet/fleet_manager.h: the manager of MultiKueue: for each local Workload
 * with its AdmissionCheck, the view of what is known of it on all clusters, from which
 * manager/manager.h decides, and the carrying out (fleet_carry.h). Besides it keeps local Jobs,
 * Jobs on the workers, and the list of local Workloads that exist. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_MANAGER_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_MANAGER_H

#include <stdbool.h>
#include <stdint.h>

#include "api/kueue/custom_kinds.h"
#include "base/str.h"
#include "scheduler/multikueue/manager/manager.h"

struct clock;
struct fleet_cluster;
struct fleet_clusters;
struct fleet_manager;
struct fleet_offers;
struct fleet_workload;
struct metric_registry;
struct pool;
struct pool_options;
struct recorder;
struct sched_msg;

struct fleet_manager_options {
	struct manager_options manager;
	unsigned kinds;              /* of jobs that are carried, bits of enum carried */
	struct custom_kinds customs; /* those of the configuration besides; borrowed */
	int64_t gc_ns; /* between two collections of orphans on the workers; 0: none */
	const char *origin;
	struct metric_registry *counters;
	/* Borrowed. */
	struct recorder *recorder;
	struct fleet_clusters *clusters;
	const struct fleet_offers *offers;
	const struct clock *clock;
	void (*post)(void *ctx, struct sched_msg *msg);
	/* The fleet's record of this Workload, made if there is none. */
	struct fleet_workload *(*record)(void *ctx, struct str key);
	/* The fleet has to decide about this Workload soon. */
	void (*look_at)(void *ctx, struct fleet_workload *w);
	void *ctx; /* of post, record and look_at */
};

/* base: of the manager's API server. */
struct fleet_manager *fleet_manager_create(const struct fleet_manager_options *opt,
					   const struct pool_options *base);
void fleet_manager_destroy(struct fleet_manager *m); /* NULL is fine */
struct pool *fleet_manager_pool(struct fleet_manager *m);

/* A local Workload was read or has gone (local NULL); w: its record. NULL: there is none, since
 * MultiKueue sends it nowhere. */
void fleet_manager_note_local(struct fleet_manager *m, struct fleet_workload *w, struct str key,
			      const struct sched_msg *local);
void fleet_manager_forget(struct fleet_manager *m, struct fleet_workload *w); /* w ends */
/* UPSERT and DELETE of local Jobs, and of the Namespace kube-system. */
void fleet_manager_handle(struct fleet_manager *m, struct sched_msg *msg);
/* The messages of custom_watch.h about a kind, of the manager's API server. */
void fleet_manager_custom(struct fleet_manager *m, const struct sched_msg *msg);
/* UPSERT and DELETE of a replica on a worker; w: its record. */
void fleet_manager_replica(struct fleet_manager *m, struct fleet_workload *w,
			   struct fleet_cluster *k, struct sched_msg *msg);
void fleet_manager_job(struct fleet_manager *m, struct fleet_cluster *k, struct sched_msg *msg);
/* The connection to this cluster has ended; or all lists of a new one are complete. */
void fleet_manager_lose(struct fleet_workload *w, const struct fleet_cluster *k);
void fleet_manager_reach(struct fleet_manager *m, struct fleet_cluster *k);
void fleet_manager_reach_workload(struct fleet_manager *m, struct fleet_workload *w,
				  struct fleet_cluster *k);
/* SCHED_MSG_REQUEST_DONE of its writes. k: of the connection; NULL: of the manager's API server. */
void fleet_manager_done(struct fleet_manager *m, struct fleet_workload *w,
			const struct fleet_cluster *k, const struct sched_msg *msg);

/* This process leads since now (wall ns); it has the time until connecting_until for its first
 * connections. */
void fleet_manager_lead(struct fleet_manager *m, int64_t now, int64_t connecting_until);
/* A collection of orphans is due: true once for each. Returns the time of the next in *ret_at (mono
 * ns). */
bool fleet_manager_collects(struct fleet_manager *m, int64_t mono, int64_t *ret_at);
/* w has no local object that was ever seen: what is on the workers is an orphan. */
void fleet_manager_collect(struct fleet_manager *m, struct fleet_workload *w);
/* Decides and carries out. Returns the wall time at which to do so again without a change. */
int64_t fleet_manager_decide(struct fleet_manager *m, struct fleet_workload *w, int64_t now);

#endif
