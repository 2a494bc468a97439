/* scheduler/controllers/quota_finalizer.h: keeps what is in use: a ClusterQueue that Workloads hold
 * quota of, a ResourceFlavor or an AdmissionCheck that a ClusterQueue names. Each gets the
 * finalizer kueue.x-k8s.io/resource-in-use, and loses it when it is being deleted and nobody needs
 * it any more. Owner: the sched thread calls; the pool works on a thread of its own (or is
 * stepped). */
#ifndef SCHEDULER_CONTROLLERS_QUOTA_FINALIZER_H
#define SCHEDULER_CONTROLLERS_QUOTA_FINALIZER_H

#include "base/str.h"
#include "model/message.h"

struct api_meta;
struct pool;
struct pool_options;
struct quota;
struct quota_finalizer;

/* base: transport, clock, limiter, workers (0: manual), may_send and its ctx. post (with the same
 * ctx) receives the outcomes. */
struct quota_finalizer *quota_finalizer_create(const struct pool_options *base,
					       void (*post)(void *ctx, struct sched_msg *msg));
void quota_finalizer_destroy(struct quota_finalizer *f); /* NULL is fine */
struct pool *quota_finalizer_pool(struct quota_finalizer *f);
/* An object as it was read; NULL: it is gone. Kinds without the finalizer are not looked at. */
void quota_finalizer_seen(struct quota_finalizer *f, enum sched_resource r, struct str key,
			  const struct api_meta *meta);
/* The outcome of a write: what was not sent will be. */
void quota_finalizer_done(struct quota_finalizer *f, const struct sched_msg *m);
/* Sends what is due; at most once for each version of an object. Costs nothing while no object
 * lacks the finalizer or is being deleted. */
void quota_finalizer_run(struct quota_finalizer *f, const struct quota *q);

#endif
