/* scheduler/workloads/pending/usage.h: the recent usage of LocalQueues, by which admission fair
 * sharing orders (KEP-4136): per resource a moving average that halves the weight of the past in
 * every half-life, with the usage of admitted workloads as a new sample at every interval. A
 * workload that gets quota counts at once as if it had held it for one sampling interval (entry
 * penalty): otherwise one LocalQueue could take everything between two samples. Only LocalQueues of
 * ClusterQueues with the admissionMode UsageBasedAdmissionFairSharing. Times are wall ns and handed
 * in. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PENDING_USAGE_H
#define SCHEDULER_WORKLOADS_PENDING_USAGE_H

#include "scheduler/workloads/model/quota_model.h"

/* The part of the past that elapsed_ns replaces: 1 - 0.5^(elapsed / half-life). 1 with a half-life
 * of 0; 0 where the clock went backwards. */
double usage_alpha(int64_t elapsed_ns, int64_t half_life_ns);
/* Samples the LocalQueues that are due and reorders the heaps. Returns the time of the next sample;
 * INT64_MAX: none. */
int64_t usage_sample(struct quota_model *q, int64_t now);
/* w was given the quota in its `usage`: adds the entry penalty and reorders the heap. */
void usage_enter(struct quota_model *q, const struct workload *w);
/* Takes the entry penalty back: the admission failed. w still has its `usage`. */
void usage_revoke(struct quota_model *q, const struct workload *w);
/* consumed or weights changed: recomputes local->usage and reorders the heap. usage is the sum over
 * resources of amount times weight, divided by the weight of the queue; infinite for weight 0. */
void usage_weigh(struct quota_model *q, struct local_queue *l);
/* The weighed usage of its LocalQueue; 0 without one. */
double usage_of(const struct quota_model *q, const struct workload *w);

#endif
