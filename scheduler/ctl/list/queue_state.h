/* scheduler/ctl/list/queue_state.h: opens and closes Volcano's Queues as `vcctl queue operate`
 * does, by status.state. A closed queue gives no quota and revokes reservations; the queues below
 * it close and open with it (pods/writes/queue_controller.h). One thread. */
#ifndef SCHEDULER_CTL_LIST_QUEUE_STATE_H
#define SCHEDULER_CTL_LIST_QUEUE_STATE_H

#include <stdbool.h>

struct verb;
struct flags_row;

extern const struct flags_row *const queue_state_tables[]; /* the flags of both verbs */

/* The whole verb "open", or "close": parses, reads, patches, prints; an exit code. */
int queue_state_run(const struct verb *verb, int argc, char **argv, bool closes);

#endif
