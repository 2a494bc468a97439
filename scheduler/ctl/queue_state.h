/* scheduler/ctl/queue_state.h: opens and closes Volcano's Queues, as its own command does by
 * vcctl queue operate: status.state. A closed queue gives no quota and takes reservations back; the
 * queues below it close and open with it (controllers/queue_status.h). One thread. */
#ifndef SCHEDULER_CTL_QUEUE_STATE_H
#define SCHEDULER_CTL_QUEUE_STATE_H

#include <stdbool.h>

/* The whole verb "open", or "close": parses, reads, patches, prints; an exit code. */
int queue_state_run(int argc, char **argv, bool closes);

#endif
