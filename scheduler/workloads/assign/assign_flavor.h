/* scheduler/workloads/assign/assign_flavor.h: how one resource does in one flavor, which of two
 * outcomes is better, and whether a better one should be looked for (Kueue: flavorassigner,
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
	int64_t earlier; /* already given to other pod sets of the workload */
	int64_t amount;
};

/* Asks the oracle when only preemption can help. Notes in `why` what keeps it from fitting;
 * *ret_reason is NONE unless nothing can help now. */
struct assign_fit assign_flavor_fit(const struct assign_request *r, const struct assign_need *need,
				    struct assign_reasons *why, enum nofit_reason *ret_reason);
/* Strictly better: a flavor that will do before one that will not, then by mode and level, or by
 * level and mode. */
bool assign_flavor_is_preferred(struct assign_fit a, struct assign_fit b, enum quota_preference p);
/* Whether the flavors behind this one are worth a look. */
bool assign_flavor_try_next(const struct cluster_queue *queue, struct assign_fit fit);

#endif
