/* scheduler/workloads/cycle/nofit_reason.h: the names in the API of the decisions of the engine.
 * Any thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_NOFIT_REASON_H
#define SCHEDULER_WORKLOADS_CYCLE_NOFIT_REASON_H

#include "scheduler/workloads/assign/assign.h"

const char *nofit_reason_name(enum nofit_reason r);       /* "WaitingForQuota"; "" for NONE */
const char *nofit_reason_requeue(enum quota_requeue r);   /* "NoFit"; "" for NONE */
const char *nofit_reason_mode(enum assign_mode m);        /* "NoFit", "Preempt", ... */
const char *nofit_reason_flavor_mode(enum flavor_mode m); /* one of the same words */

#endif
