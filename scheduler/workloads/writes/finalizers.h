/* scheduler/workloads/writes/finalizers.h: keeps what is in use: a ClusterQueue that Workloads hold
 * quota of, a ResourceFlavor or an AdmissionCheck that a ClusterQueue names. Each gets the
 * finalizer kueue.x-k8s.io/resource-in-use, and loses it when it is being deleted and not in
 * use any more. Owner: the sched thread calls; the pool works on a thread of its own (or is
 * stepped). */
#ifndef SCHEDULER_WORKLOADS_WRITES_FINALIZERS_H
#define SCHEDULER_WORKLOADS_WRITES_FINALIZERS_H

#include "base/str.h"
#include "scheduler/base/message.h"

struct api_meta;
struct pool;
struct pool_options;
struct quota_model;
struct finalizers;

/* base: transport, clock, limiter, workers (0: manual), may_send and its ctx. post (with the same
 * ctx) receives the outcomes. */
struct finalizers *finalizers_create(const struct pool_options *base,
				     void (*post)(void *ctx, struct sched_msg *msg));
void finalizers_destroy(struct finalizers *f); /* NULL is fine */
struct pool *finalizers_pool(struct finalizers *f);
/* An object as it was read; NULL: it is gone. Kinds without the finalizer are not looked at. */
void finalizers_seen(struct finalizers *f, enum sched_resource r, struct str key,
		     const struct api_meta *meta);
/* The outcome of a write: what was not sent will be. */
void finalizers_done(struct finalizers *f, const struct sched_msg *m);
/* Sends what is due; at most once for each version of an object. Costs nothing while no object
 * lacks the finalizer or is being deleted. */
void finalizers_run(struct finalizers *f, const struct quota_model *q);

#endif
