/* scheduler/app/standby.h: the cluster as seen by a process that does not lead: the latest message
 * about each object. When it leads, and each resource has been refreshed since, all messages are
 * handed to the engine at once, like a first LIST. So nothing is decided or written by an older
 * view, and the refresh is the only request between the lease and the first cycle. Thread: sched.
 */
#ifndef SCHEDULER_APP_STANDBY_H
#define SCHEDULER_APP_STANDBY_H

#include <stdbool.h>

#include "scheduler/base/sched_kinds.h"

struct sched_msg;
struct standby;

struct standby *standby_create(void);
/* Before the first message, for each resource that is watched, once. */
void standby_add(struct standby *s, enum sched_resource r);
void standby_destroy(struct standby *s); /* NULL is fine */
/* True: the message is about objects, and is kept or was freed. False: it is for the engine. */
bool standby_take(struct standby *s, struct sched_msg *m);
/* Each resource was listed and refreshed. */
bool standby_is_complete(const struct standby *s);
/* Passes every kept message to handle, which frees it, resource by resource, each followed by
 * SYNCED. Nothing is kept afterwards. */
void standby_hand_over(struct standby *s, void (*handle)(void *ctx, struct sched_msg *m),
		       void *ctx);

#endif
