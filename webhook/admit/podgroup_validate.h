/* webhook/admit/podgroup_validate.h: PodGroups that can be scheduled at all. Any thread. */
#ifndef WEBHOOK_ADMIT_PODGROUP_VALIDATE_H
#define WEBHOOK_ADMIT_PODGROUP_VALIDATE_H

#include "admit/admit.h"

/* CREATE (and UPDATE of spec.queue): the queue exists and is open; highestTierAllowed and
 * highestTierName exclude each other, in sub-groups, too. */
int podgroup_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
