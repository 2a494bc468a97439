/* scheduler/workloads/writes/queue_statuses.h: keeps the statuses of ClusterQueues, LocalQueues and
 * Cohorts (Kueue: status of queues): how many Workloads wait, hold quota and are admitted, what is
 * reserved and used of each flavor, whether they are Active and why not, with fair sharing the
 * weighted share, with admission fair sharing the usage of a LocalQueue. Written by server-side
 * apply when it changes, and once more after another writer changed the object: our fields that
 * another writer changed are restored, and otherwise the API server finds nothing to do.
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
 * its condition Active, NULL: none. True: another writer changed it, queue_statuses_run is due. */
bool queue_statuses_seen(struct queue_statuses *s, enum sched_resource r,
			 const struct api_meta *meta, const struct api_condition *active);
void queue_statuses_gone(struct queue_statuses *s, enum sched_resource r, struct str key);
/* The outcome of a write. True: queue_statuses_run is due. */
bool queue_statuses_done(struct queue_statuses *s, const struct sched_msg *m);
/* Every status that was handed out is answered, or backs off. */
bool queue_statuses_is_idle(const struct queue_statuses *s);
/* Sends a few of the statuses that changed: first statuses of objects that have none yet (those
 * with Workloads first) and changes of Active, then counts, one object after the other; the counts
 * of an object once a second at most. To be called when idle, after something changed. *ret_news:
 * some of the first kind were sent. Returns when to call it again (monotonic ns) although nothing
 * changes; CLOCK_NEVER: everything is sent. */
int64_t queue_statuses_run(struct queue_statuses *s, const struct forest *f,
			   const struct queue_statuses_time *at, bool *ret_news);

#endif
