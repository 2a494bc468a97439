/* scheduler/workloads/writes/queue_statuses.h: keeps the statuses of ClusterQueues, LocalQueues and
 * Cohorts (Kueue: status of queues): how many Workloads wait, hold quota and are admitted, what is
 * reserved and used of each flavor, whether they are Active and why not, with fair sharing the
 * weighted share, with admission fair sharing what a LocalQueue used. Written by server-side apply,
 * when it says something else than before, and once more when somebody else wrote to the object:
 * what of ours he changed is put right, and the API server finds nothing to do when he did not.
 * Owner: the sched thread calls; the pool works. */
#ifndef SCHEDULER_WORKLOADS_WRITES_QUEUE_STATUSES_H
#define SCHEDULER_WORKLOADS_WRITES_QUEUE_STATUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "scheduler/base/message.h"

struct api_condition;
struct api_meta;
struct forest;
struct pool;
struct pool_options;
struct queue_statuses;

struct queue_statuses_time {
	int64_t wall, mono; /* ns */
};

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives SCHED_MSG_REQUEST_DONE. */
struct queue_statuses *queue_statuses_create(const struct pool_options *base,
					     void (*post)(void *ctx, struct sched_msg *msg));
void queue_statuses_destroy(struct queue_statuses *s); /* NULL is fine */
struct pool *queue_statuses_pool(struct queue_statuses *s);
/* An object of one of the three kinds as the API has it; nothing is written about others. active:
 * its condition Active, NULL: none. True: somebody else wrote it, queue_statuses_run is due. */
bool queue_statuses_seen(struct queue_statuses *s, enum sched_resource r,
			 const struct api_meta *meta, const struct api_condition *active);
void queue_statuses_gone(struct queue_statuses *s, enum sched_resource r, struct str key);
/* The outcome of a write. True: queue_statuses_run is due. */
bool queue_statuses_done(struct queue_statuses *s, const struct sched_msg *m);
/* Every status that was handed out is answered, or backs off. */
bool queue_statuses_is_idle(const struct queue_statuses *s);
/* Hands out a few statuses of those that say something new, with what is to be said now: first
 * those that have not been told of (which have Workloads before which have none) or whose condition
 * Active changes, then one after the other in turn; an object's numbers once a second at most. To
 * be called when idle, after something changed. *ret_news: there were some of the first. Returns
 * when to call it again (monotonic ns) although nothing changes; CLOCK_NEVER: all is said. */
int64_t queue_statuses_run(struct queue_statuses *s, const struct forest *f,
			   const struct queue_statuses_time *at, bool *ret_news);

#endif
