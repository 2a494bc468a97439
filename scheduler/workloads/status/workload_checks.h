/* scheduler/workloads/status/workload_checks.h: admission checks of a Workload: which it has to
 * pass, what their states mean for it, how long those that want a retry ask to wait. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_CHECKS_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_CHECKS_H

#include "scheduler/workloads/status/workload_reconcile_priv.h"

/* requeueAt is never earlier than a check in state Retry asks for. */
void workload_checks_delay(struct workload_reconcile *l);
/* The status lists exactly the checks that are asked for, by name; new ones are Pending. */
void workload_checks_sync(struct workload_reconcile *l);
/* Those asked for are all listed, and all that are listed are Ready. */
bool workload_checks_ready(const struct workload_reconcile *l);
/* A check that was rejected marks the Workload for deactivation, one that wants a retry evicts it.
 * True: one of them did. */
bool workload_checks_judge(struct workload_reconcile *l);

#endif
