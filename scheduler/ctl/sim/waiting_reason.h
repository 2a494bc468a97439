/* scheduler/ctl/sim/waiting_reason.h: the reason, in words, why a workload waits that the scheduler
 * does not try. One thread. */
#ifndef SCHEDULER_CTL_SIM_WAITING_REASON_H
#define SCHEDULER_CTL_SIM_WAITING_REASON_H

#include "base/strbuf.h"
#include "scheduler/workloads/forest/forest.h"

/* The reason why a workload is in no queue: returns the API's reason and appends a message; NULL:
 * it is in a queue, holds quota or has finished. */
const char *waiting_reason_outside(const struct quota_model *q, const struct workload *w,
				   struct strbuf *message);
/* The reason why the workloads of a ClusterQueue are not tried: returns the reason of its Active
 * condition and appends a message; NULL: they are tried. */
const char *waiting_reason_inactive(const struct forest *f, const struct quota_node *queue,
				    struct strbuf *message);

#endif
