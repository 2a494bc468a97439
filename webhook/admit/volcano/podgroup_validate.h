/* webhook/admit/volcano/podgroup_validate.h: validation of PodGroups. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_PODGROUP_VALIDATE_H
#define WEBHOOK_ADMIT_VOLCANO_PODGROUP_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE; UPDATE: only the fields that the update changes: the queue exists, is open and may be
 * used by the namespace, and a queue that the group is moved to has no children; minimums are not
 * negative; highestTierAllowed and highestTierName are not both set, in sub-groups, too. Whether
 * the charges of running members follow the group to another queue is decided by the scheduler
 * (pods/cycle/moves.h). */
int podgroup_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
