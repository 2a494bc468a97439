/* scheduler/ctl/sim/waiting_reason.h: why a workload waits that the scheduler has not looked at, in
 * words. One thread. */
#ifndef SCHEDULER_CTL_SIM_WAITING_REASON_H
#define SCHEDULER_CTL_SIM_WAITING_REASON_H

#include "base/strbuf.h"
#include "scheduler/workloads/forest/forest.h"

/* Why a workload is in no queue. Returns a reason in one word and appends the message; NULL: it is
 * in a queue, holds quota or has finished. */
const char *waiting_reason_outside(const struct quota *q, const struct workload *w,
				   struct strbuf *message);
/* Why nobody of a ClusterQueue is looked at: the reason of its Active condition, and a message.
 * NULL: they are. */
const char *waiting_reason_inactive(const struct forest *f, const struct quota_node *queue,
				    struct strbuf *message);

#endif
