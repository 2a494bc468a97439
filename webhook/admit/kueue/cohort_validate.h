/* webhook/admit/kueue/cohort_validate.h: validation of Cohorts. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_COHORT_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_COHORT_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: resource groups and weight. Cycles are not searched for: the scheduler ignores
 * trees with a cycle. */
int cohort_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
