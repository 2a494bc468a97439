/* scheduler/workloads/status/workload_pending.h: a Workload without reservation: what it waits for,
 * and when it may be queued again. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_PENDING_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_PENDING_H

#include "scheduler/workloads/status/workload_reconcile_priv.h"

/* Requeued=False becomes True when what it waited for has come: the end of a backoff, an active
 * Workload, a queue that runs again. */
void workload_pending_requeue(struct workload_reconcile *l);
/* QuotaReserved=False says why, as far as that is not for the scheduling cycle to say;
 * Admitted=False. */
void workload_pending_explain(struct workload_reconcile *l);

#endif
