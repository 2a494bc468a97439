/* scheduler/workloads/writes/preemption_cost.h: keeps status.preemptionCost of Workloads (KEP-7990:
 * the reference controller): base + weight * number of preemptions, by the annotations of the
 * ClusterQueue (api/kueue/kueue_cost.h). Of Workloads it writes that field and no other, by
 * server-side apply as field manager PREEMPTION_COST_MANAGER and without force: a cost that another
 * manager has set stays, until that manager removes the field. Nothing is written that the API has
 * already, and an absent cost is 0. Annotations that cannot be used are reported by an event of the
 * ClusterQueue, and count as absent. Owner: the sched thread calls; the pool works. */
#ifndef SCHEDULER_WORKLOADS_WRITES_PREEMPTION_COST_H
#define SCHEDULER_WORKLOADS_WRITES_PREEMPTION_COST_H

#include "base/str.h"
#include "scheduler/base/message.h"

#define PREEMPTION_COST_MANAGER "headgate-preemption-cost"

struct api_cluster_queue;
struct pool;
struct pool_options;
struct preemption_cost;
struct quota_model;
struct recorder;
struct workload;

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives SCHED_MSG_REQUEST_DONE. recorder: borrowed. */
struct preemption_cost *preemption_cost_create(const struct pool_options *base,
					       struct recorder *recorder,
					       void (*post)(void *ctx, struct sched_msg *msg));
void preemption_cost_destroy(struct preemption_cost *c); /* NULL is fine */
struct pool *preemption_cost_pool(struct preemption_cost *c);
/* A ClusterQueue as it was read; NULL: it is gone. */
void preemption_cost_queue(struct preemption_cost *c, struct str name,
			   const struct api_cluster_queue *cq);
/* A Workload was read, with this resourceVersion. */
void preemption_cost_seen(struct preemption_cost *c, const struct workload *w, int64_t version);
void preemption_cost_gone(struct preemption_cost *c, struct str key);
/* The outcome of a write. */
void preemption_cost_done(struct preemption_cost *c, const struct sched_msg *m, int64_t now);
/* Sends what is due, at most once a second; specs: changes when a queue does
 * (workload_cache_specs). now: monotonic. Returns when it is to be called again; CLOCK_NEVER: not
 * before the next of the above. O(Workloads) after a change of queues, else O(those seen since). */
int64_t preemption_cost_run(struct preemption_cost *c, const struct quota_model *q, uint64_t specs,
			    int64_t now);

#endif
