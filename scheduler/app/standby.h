/* scheduler/app/standby.h: the cluster as a process sees it before it leads: the latest
 * message about each object. When it leads, and each resource has been refreshed since, all of it
 * is handed to the engine at once, as a first LIST would bring it: nothing was decided or written
 * by an older view, and the refresh is the only request between taking the lease and the first
 * cycle. Thread: sched. */
#ifndef SCHEDULER_APP_STANDBY_H
#define SCHEDULER_APP_STANDBY_H

#include <stdbool.h>

struct sched_msg;
struct standby;

/* resources: the first so many of enum sched_resource are watched. */
struct standby *standby_create(unsigned resources);
void standby_destroy(struct standby *s); /* NULL is fine */
/* True: the message is about objects, and is kept or was freed. False: it is for the engine. */
bool standby_take(struct standby *s, struct sched_msg *m);
/* Each resource was listed and refreshed. */
bool standby_is_complete(const struct standby *s);
/* Passes on every message that is kept, resource by resource, then that the resource was listed;
 * handle frees them. Nothing is kept then. */
void standby_hand_over(struct standby *s, void (*handle)(void *ctx, struct sched_msg *m),
		       void *ctx);

#endif
