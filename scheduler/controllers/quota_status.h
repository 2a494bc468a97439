/* scheduler/controllers/quota_status.h: keeps the statuses of ClusterQueues, LocalQueues and
 * Cohorts (Kueue: status of queues): how many Workloads wait, hold quota and are admitted, what is
 * reserved and used of each flavor, whether they are Active and why not, with fair sharing the
 * weighted share, with admission fair sharing what a LocalQueue used. Written by server-side apply,
 * when it says something else than before, and once more when somebody else wrote to the object:
 * what of ours he changed is put right, and the API server finds nothing to do when he did not.
 * Owner: the sched thread calls; the pool works. */
#ifndef SCHEDULER_CONTROLLERS_QUOTA_STATUS_H
#define SCHEDULER_CONTROLLERS_QUOTA_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/message.h"

struct api_condition;
struct api_meta;
struct forest;
struct pool;
struct pool_options;
struct quota_status;

struct quota_status_time {
	int64_t wall, mono; /* ns */
};

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives SCHED_MSG_REQUEST_DONE. */
struct quota_status *quota_status_create(const struct pool_options *base,
					 void (*post)(void *ctx, struct sched_msg *msg));
void quota_status_destroy(struct quota_status *s); /* NULL is fine */
struct pool *quota_status_pool(struct quota_status *s);
/* An object of one of the three kinds as the API has it; nothing is written about others. active:
 * its condition Active, NULL: none. True: somebody else wrote it, quota_status_run is due. */
bool quota_status_seen(struct quota_status *s, enum sched_resource r, const struct api_meta *meta,
		       const struct api_condition *active);
void quota_status_gone(struct quota_status *s, enum sched_resource r, struct str key);
/* The outcome of a write. True: quota_status_run is due. */
bool quota_status_done(struct quota_status *s, const struct sched_msg *m);
/* Every status that was handed out is answered, or backs off. */
bool quota_status_is_idle(const struct quota_status *s);
/* Hands out a few statuses of those that say something new, with what is to be said now: first
 * those that have not been told of (which have Workloads before which have none) or whose condition
 * Active changes, then one after the other in turn; an object's numbers once a second at most. To
 * be called when idle, after something changed. *ret_news: there were some of the first. Returns
 * when to call it again (monotonic ns) although nothing changes; CLOCK_NEVER: all is said. */
int64_t quota_status_run(struct quota_status *s, const struct forest *f,
			 const struct quota_status_time *at, bool *ret_news);

#endif
