/* scheduler/multikueue/fleet/fleet_active.h: the conditions Active that the manager of MultiKueue
 * keeps: of each MultiKueueCluster, by its connection, and of each AdmissionCheck of MultiKueue, by
 * its clusters (check_active.h). The transition of a cluster to False has the time of the first
 * loss, which a restarted manager counts from. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_ACTIVE_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_ACTIVE_H

#include <stdint.h>

struct clock;
struct fleet_active;
struct fleet_clusters;
struct fleet_offers;
struct pool;
struct sched_msg;

/* All are borrowed. pool: of object writes to the manager's API server. */
struct fleet_active *fleet_active_create(const struct fleet_clusters *clusters,
					 const struct fleet_offers *offers, struct pool *pool,
					 const struct clock *clock);
void fleet_active_destroy(struct fleet_active *a); /* NULL is fine */
/* An object or a connection has changed: looks at all with the next step. */
void fleet_active_note(struct fleet_active *a);
/* Writes what is due. Returns the monotonic time at which to call it again. */
int64_t fleet_active_step(struct fleet_active *a);
/* SCHED_MSG_REQUEST_DONE with SCHED_REQ_CLUSTER_STATUS. */
void fleet_active_done(struct fleet_active *a, const struct sched_msg *m);

#endif
