/* scheduler/multikueue/worker/channel.h: one connection to a worker cluster: two transports, a
 * reflector for each list, the pool of writes, the question for gate fields. Part of link. Owner:
 * the fleet thread. Callbacks of the transports and the pools post messages with the number of the
 * connection, and touch nothing else of the owner. */
#ifndef SCHEDULER_MULTIKUEUE_WORKER_CHANNEL_H
#define SCHEDULER_MULTIKUEUE_WORKER_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/base/sched_kinds.h"

struct channel;
struct err;
struct kubeconfig;
struct link_options;
struct pool;
struct transport;

/* The lists that are read and watched. */
enum channel_list {
	CHANNEL_WORKLOADS,
	CHANNEL_JOBS,
	CHANNEL_PODS,
	CHANNEL_LOCAL_QUEUES,
	CHANNEL_LIST_COUNT_
};

/* The kind of the objects in a list. */
enum sched_resource channel_resource(enum channel_list list);

/* The list is read by connections with these options. */
bool channel_has(const struct link_options *opt, enum channel_list list);

/* Makes the transports and begins the lists. opt is borrowed until channel_destroy. */
int channel_open(const struct link_options *opt, const struct kubeconfig *cfg, struct channel **ret,
		 struct err *err);
/* Ends it without waiting: on a thread of its own, because a transport ends only after names that
 * are being resolved. Manual: at once. Nothing but channel_is_closed and channel_destroy may
 * follow.
 */
void channel_close(struct channel *c);
bool channel_is_closed(const struct channel *c);
/* Waits for the end of a channel that was closed; NULL is fine. */
void channel_destroy(struct channel *c);

uint64_t channel_source(const struct channel *c);
struct pool *channel_pool(const struct channel *c);
struct transport *channel_transport(const struct channel *c);
/* Manual: sends the question for gate fields when it is due; returns when it is to be called again
 * (mono ns). Otherwise a thread does that: CLOCK_NEVER. */
int64_t channel_step(struct channel *c);
/* A message about an object, SYNCED, or one of custom_watch.h was taken from the queue. */
void channel_note_handled(struct channel *c);
/* The question for gate fields was answered: its thread ends. */
void channel_drop_gate_fields(struct channel *c);

#endif
