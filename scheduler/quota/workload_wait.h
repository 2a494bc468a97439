/* scheduler/quota/workload_wait.h: a Workload without reservation: what it waits for, and when it
 * may be queued again. Pure. */
#ifndef SCHEDULER_QUOTA_WORKLOAD_WAIT_H
#define SCHEDULER_QUOTA_WORKLOAD_WAIT_H

#include "quota/workload_life_priv.h"

/* Requeued=False becomes True when what it waited for has come: the end of a back-off, an active
 * Workload, a queue that runs again. */
void workload_wait_requeue(struct workload_life *l);
/* QuotaReserved=False says why, as far as that is not for the scheduling cycle to say;
 * Admitted=False. */
void workload_wait_explain(struct workload_life *l);

#endif
