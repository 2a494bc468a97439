/* webhook/admit/volcano/podgroup_validate.h: PodGroups that can be scheduled at all. Any thread. */
#ifndef WEBHOOK_ADMIT_VOLCANO_PODGROUP_VALIDATE_H
#define WEBHOOK_ADMIT_VOLCANO_PODGROUP_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE, and UPDATE of what an update changes: the queue exists, is open and may be used by the
 * namespace, and one that the group is moved to has no children; minimums are not negative;
 * highestTierAllowed and highestTierName exclude each other, in sub-groups, too. Whether the
 * charges of members that run follow the group to another queue is the scheduler's to decide
 * (pods/cycle/moves.h).
 */
int podgroup_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
