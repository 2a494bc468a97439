/* scheduler/quota/quota_reason.h: the names that the API has for what the engine decides. Any
 * thread. Pure. */
#ifndef SCHEDULER_QUOTA_QUOTA_REASON_H
#define SCHEDULER_QUOTA_QUOTA_REASON_H

#include "quota/assign.h"

const char *quota_reason_name(enum quota_reason r);       /* "WaitingForQuota"; "" for NONE */
const char *quota_reason_requeue(enum quota_requeue r);   /* "NoFit"; "" for NONE */
const char *quota_reason_mode(enum assign_mode m);        /* "NoFit", "Preempt", ... */
const char *quota_reason_flavor_mode(enum flavor_mode m); /* one of the same words */

#endif
