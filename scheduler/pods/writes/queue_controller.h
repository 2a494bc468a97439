/* scheduler/pods/writes/queue_controller.h: maintains Queue objects: creates root and default, sets
 * spec.parent where empty, moves status.state (Volcano's queue controller table: "" and Unknown
 * open, Closing becomes Closed when no PodGroup is left, a closed parent closes its children, and
 * an opened one re-opens those that it closed), and writes status.allocated and
 * status.reservation.resource (quota given to pods that allocated does not count) when they
 * changed. Owner: the sched thread. A write that moves the state, or the mark of a queue that its
 * parent has closed, names the version that it was decided for, so that a queue which was opened
 * meanwhile is not closed by it; the version after it is looked at again. */
#ifndef SCHEDULER_PODS_WRITES_QUEUE_CONTROLLER_H
#define SCHEDULER_PODS_WRITES_QUEUE_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct cluster;
struct pool;
struct pool_options;
struct queue;
struct queue_controller;
struct queue_totals;
struct sched_msg;

/* The object as the API server has it, as far as the controller reads it. */
struct queue_seen {
	const char *state; /* status.state, "" when absent */
	int64_t version;   /* metadata.resourceVersion, 0: none */
	bool has_parent;
	bool closed_by_parent; /* annotation volcano.sh/closed-by-parent */
};

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. post (with the
 * same ctx) receives SCHED_MSG_REQUEST_DONE. */
struct queue_controller *queue_controller_create(const struct pool_options *base,
						 const char *default_queue,
						 void (*post)(void *ctx, struct sched_msg *msg));
struct pool *queue_controller_pool(struct queue_controller *s);
void queue_controller_destroy(struct queue_controller *s);
void queue_controller_queue_changed(struct queue_controller *s, struct str name,
				    const struct queue_seen *seen);
void queue_controller_queue_deleted(struct queue_controller *s, struct str name);
/* The answer to a write of this controller (SCHED_REQ_QUEUE). */
void queue_controller_request_done(struct queue_controller *s, const struct sched_msg *m);
/* One pass over all queues; call after the cluster has changed, at most once a second. totals: one
 * per queue id. */
void queue_controller_run(struct queue_controller *s, const struct cluster *c,
			  const struct queue_totals *totals);

#endif
