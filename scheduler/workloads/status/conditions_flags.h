/* scheduler/workloads/status/conditions_flags.h: derives struct workload_flags from a Workload's
 * status. The model has no status of its own: wherever a status changes, because it was read,
 * decided or taken back, conditions_flags carries the change over. Owner: the caller. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_CONDITIONS_FLAGS_H
#define SCHEDULER_WORKLOADS_STATUS_CONDITIONS_FLAGS_H

struct conditions;
struct workload;

/* Sets w->flags. The gates of w's spec must be known. */
void conditions_flags(const struct conditions *c, struct workload *w);

#endif
