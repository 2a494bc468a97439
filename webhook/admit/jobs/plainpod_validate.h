/* webhook/admit/jobs/plainpod_validate.h: rules for plain pods that are queued (Kueue: pod
 * integration). Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_PLAINPOD_VALIDATE_H
#define WEBHOOK_ADMIT_JOBS_PLAINPOD_VALIDATE_H

#include "webhook/admit/admit.h"

/* CREATE and UPDATE. */
int plainpod_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
