/* scheduler/workloads/assign/assign_scan.h: the scan over the flavors of one resource group: one
 * flavor serves all of its resources that a group of pod sets asks for (Kueue:
 * findFlavorForPodSets). Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_SCAN_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_SCAN_H

#include "scheduler/workloads/assign/assign.h"
#include "scheduler/workloads/assign/assign_reason.h"

struct assign_scan {
	const struct assign_request *r;
	const struct resource_group *group;
	const uint32_t *podsets; /* those that share their flavors */
	size_t npodsets;
	const struct quota_amount *needs; /* of all of them, by resource; at least one */
	size_t nneeds;
	const struct quota_amounts *earlier; /* assigned to other pod sets, by pair */
	struct assign_reasons *why;
};

/* The flavor for each of the needs in ret_flavors, which has room for them. False: no flavor can
 * be used; *ret_reason says why. */
bool assign_scan_flavors(const struct assign_scan *s, struct assigned_flavor *ret_flavors,
			 enum nofit_reason *ret_reason);

#endif
