/* scheduler/workloads/status/workload_reserved.h: a Workload that holds a reservation: admission
 * when its checks are Ready, and all that takes the reservation away again outside scheduling
 * cycles. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RESERVED_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_RESERVED_H

#include "scheduler/workloads/status/workload_reconcile_priv.h"

/* Admitted=True when all checks are Ready; else, unless it was admitted before, False. */
void workload_reserved_admit(struct workload_reconcile *l);
/* Checks, then queues, then the time limits: the first one that applies evicts, marks for
 * deactivation, or, of a Workload that is not admitted yet, withdraws the reservation. */
void workload_reserved_judge(struct workload_reconcile *l);
/* Gives the reservation of an evicted Workload back, when its job has stopped. */
void workload_reserved_release(struct workload_reconcile *l);

#endif
