/* webhook/admit/kueue/resource_groups.h: spec.resourceGroups of ClusterQueues and cohorts. Any
 * thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_RESOURCE_GROUPS_H
#define WEBHOOK_ADMIT_KUEUE_RESOURCE_GROUPS_H

#include "webhook/admit/admit_check.h"

#define RESOURCE_GROUPS_MAX 16          /* groups */
#define RESOURCE_GROUPS_MAX_ITEMS 64    /* resources, and flavors, in one group */
#define RESOURCE_GROUPS_MAX_PRODUCT 512 /* resources times flavors in one group */
#define RESOURCE_GROUPS_MAX_TOTAL 256   /* resources, and flavors, in all groups */

struct resource_groups_rules {
	const char *parent_field; /* "cohortName" */
	bool has_parent;          /* without a parent it can neither borrow nor lend */
	bool may_lend_more;       /* lendingLimit may exceed nominalQuota */
};

/* Checks the counts; that each resource and flavor is in one group only; that flavors list the
 * covered resources in their order; and the amounts. */
void resource_groups_check(const struct admit_check *c, const struct api_resource_groups *groups,
			   const struct resource_groups_rules *rules);

#endif
