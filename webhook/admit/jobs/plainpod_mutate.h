/* webhook/admit/jobs/plainpod_mutate.h: holds pods that queue by themselves, alone or in a group
 * (Kueue: pod integration). Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_PLAINPOD_MUTATE_H
#define WEBHOOK_ADMIT_JOBS_PLAINPOD_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE of pods that name a LocalQueue, or are given one, and have no node yet; all else is
 * allowed untouched, pods of Jobs that queue for them included. They get the admission gate, the
 * label and finalizer of those that are managed, and their role. */
int plainpod_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
