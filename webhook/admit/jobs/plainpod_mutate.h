/* webhook/admit/jobs/plainpod_mutate.h: holds plain pods that are queued, alone or in a group
 * (Kueue: pod integration). Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_PLAINPOD_MUTATE_H
#define WEBHOOK_ADMIT_JOBS_PLAINPOD_MUTATE_H

#include "webhook/admit/admit.h"

/* CREATE of pods that name a LocalQueue, or are given one, and have no node yet; all others are
 * allowed unchanged, among them pods of Jobs that are queued. A held pod gets the admission gate,
 * the label and finalizer of managed pods, and its role. */
int plainpod_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err);

#endif
