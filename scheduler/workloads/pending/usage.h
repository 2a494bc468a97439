/* scheduler/workloads/pending/usage.h: what LocalQueues used of late, by which admission fair
 * sharing orders (KEP-4136). Per resource a moving average that forgets half of the past in every
 * half-life, moved on at every sampling by what admitted workloads hold then. A workload that gets
 * quota counts at once as if it had held it for one sampling interval already (entry penalty): else
 * one LocalQueue could take everything between two samples. Only LocalQueues of ClusterQueues whose
 * admissionMode is UsageBasedAdmissionFairSharing. Times are wall ns and handed in. Owner: the
 * sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PENDING_USAGE_H
#define SCHEDULER_WORKLOADS_PENDING_USAGE_H

#include "scheduler/workloads/model/quota.h"

/* The part of the past that elapsed_ns replaces: 1 - 0.5^(elapsed / half-life). 1 where nothing is
 * remembered (half-life 0); 0 where the clock went backwards. */
double usage_alpha(int64_t elapsed_ns, int64_t half_life_ns);
/* Samples the LocalQueues that are due and reorders who waits. Returns when the next one is due;
 * INT64_MAX: none. */
int64_t usage_sample(struct quota *q, int64_t now);
/* w has got the quota that is in its `usage`: the entry penalty, and who waits in its ClusterQueue
 * is reordered. */
void usage_enter(struct quota *q, const struct workload *w);
/* That did not come to be, and w still has its `usage`. */
void usage_revoke(struct quota *q, const struct workload *w);
/* consumed or weights changed: local->usage follows, and who waits in its ClusterQueue is
 * reordered. usage is the sum over resources of amount times weight, by the weight of the queue:
 * infinite for a queue of weight 0 that used something. */
void usage_weigh(struct quota *q, struct local_queue *l);
/* What its LocalQueue has used, weighed; 0 without one. */
double usage_of(const struct quota *q, const struct workload *w);

#endif
