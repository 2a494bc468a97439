/* scheduler/workloads/status/workload_status_flags.h: derives struct workload_flags from a
 * Workload's status. The model has no status of its own: wherever a status changes, because it was
 * read, decided or taken back, workload_status_flags carries the change over. Owner: the caller.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_FLAGS_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_FLAGS_H

struct workload_status;
struct workload;

/* Sets w->flags. The gates of w's spec must be known. */
void workload_status_flags(const struct workload_status *status, struct workload *w);

#endif
