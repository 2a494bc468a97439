/* scheduler/multikueue/fleet/fleet_view.h: the view from which orchestrate_next decides, put
 * together from the local Workload, its replicas and the gates that other Workloads hold. Owner:
 * the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_VIEW_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_VIEW_H

#include "collections/vec.h"
#include "scheduler/orchestrate/orchestrate.h"

struct api_workload;
struct fleet_clusters;
struct fleet_holders;
struct fleet_offers;
struct fleet_replica;
struct fleet_workload;

struct fleet_view_source {
	const struct fleet_offers *offers;
	struct fleet_clusters *clusters;
	const struct fleet_holders *holders;
	int64_t connecting_until; /* wall ns, as in struct orchestrate_view */
	unsigned max_open;        /* gates of one ClusterQueue of a worker that are open at once */
};

struct fleet_view {
	struct orchestrate_view view; /* its replicas are those below */
	struct VEC(struct replica) replicas;
	struct VEC(struct fleet_replica *) of; /* of each of them, the fleet's record */
	bool is_busy;                          /* another Workload holds the gate of one of them */
};

/* now: wall ns. w has a local object. The view lives until the next call, or until w changes. */
void fleet_view_make(struct fleet_view *v, struct fleet_workload *w,
		     const struct fleet_view_source *source, int64_t now);
void fleet_view_finish(struct fleet_view *v);

#endif
