/* scheduler/app/quota_gauges.h: the gauges of the Workload engine: how things stand with
 * ClusterQueues, Cohorts and LocalQueues. Told as a whole, so that what is gone is not there any
 * more. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_GAUGES_H
#define SCHEDULER_APP_QUOTA_GAUGES_H

struct quota_cache;
struct quota_families;

/* One pass over all; costs as much as there is. */
void quota_gauges_tell(struct quota_families *f, const struct quota_cache *cache);

#endif
