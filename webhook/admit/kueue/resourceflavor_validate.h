/* webhook/admit/kueue/resourceflavor_validate.h: validation of ResourceFlavors. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_RESOURCEFLAVOR_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_RESOURCEFLAVOR_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: labels, taints, tolerations; topology-aware scheduling is refused. */
int resourceflavor_validate(const struct admit_request *q, struct admit_answer *ret,
			    struct err *err);

#endif
