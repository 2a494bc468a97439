/* webhook/admit/kueue/workloadpriorityclass_validate.h: WorkloadPriorityClasses. Any thread. */
#ifndef WEBHOOK_ADMIT_KUEUE_WORKLOADPRIORITYCLASS_VALIDATE_H
#define WEBHOOK_ADMIT_KUEUE_WORKLOADPRIORITYCLASS_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE: a value, a description of bounded length. */
int workloadpriorityclass_validate(const struct admit_request *q, struct admit_answer *ret,
				   struct err *err);

#endif
