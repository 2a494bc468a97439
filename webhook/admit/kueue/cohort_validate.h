/* webhook/admit/kueue/cohort_validate.h: cohorts that make sense. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_COHORT_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_COHORT_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: resource groups and weight. Cycles are not looked for: the scheduler leaves
 * out the trees that have one. */
int cohort_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
