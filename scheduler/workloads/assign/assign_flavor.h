/* scheduler/workloads/assign/assign_flavor.h: how one resource fits into one flavor, which of two
 * outcomes is better, and whether the scan goes on to the next flavor (Kueue: flavorassigner,
 * FlavorFungibility). Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_FLAVOR_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_FLAVOR_H

#include "scheduler/workloads/assign/assign.h"
#include "scheduler/workloads/assign/assign_reason.h"

struct assign_fit {
	enum flavor_mode mode;
	unsigned level; /* of borrowing */
};

struct assign_need { /* one resource of a group of pod sets in one flavor */
	uint32_t flavor, resource;
	int64_t earlier; /* already assigned to other pod sets of the workload */
	int64_t amount;
};

/* Asks the probe when only preemption can help. Adds to `why` the reason for which it does not
 * fit; *ret_reason is NONE unless it cannot fit now, even by preemption. */
struct assign_fit assign_flavor_fit(const struct assign_request *r, const struct assign_need *need,
				    struct assign_reasons *why, enum nofit_reason *ret_reason);
/* Whether a is strictly better than b: a usable flavor is better than one that is not; the
 * preference says whether mode or level is compared first. */
bool assign_flavor_is_preferred(struct assign_fit a, struct assign_fit b, enum quota_preference p);
/* Whether the scan goes on to the flavors after this one. */
bool assign_flavor_try_next(const struct cluster_queue *queue, struct assign_fit fit);

#endif
