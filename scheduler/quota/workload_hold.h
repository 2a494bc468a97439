/* scheduler/quota/workload_hold.h: a Workload that holds a reservation: admission when its checks
 * are Ready, and all that takes the reservation away again outside scheduling cycles. Pure. */
#ifndef SCHEDULER_QUOTA_WORKLOAD_HOLD_H
#define SCHEDULER_QUOTA_WORKLOAD_HOLD_H

#include "quota/workload_life_priv.h"

/* Admitted=True when all checks are Ready; else, unless it was admitted before, False. */
void workload_hold_admit(struct workload_life *l);
/* Checks, then queues, then the time limits: the first one that applies evicts, marks for
 * deactivation, or, of a Workload that is not admitted yet, withdraws the reservation. */
void workload_hold_judge(struct workload_life *l);
/* Gives the reservation of an evicted Workload back, when its job has stopped. */
void workload_hold_release(struct workload_life *l);

#endif
