/* scheduler/multikueue/manager/nominate.h: to which clusters a Workload is offered: Kueue's
 * dispatchers "all at once" and "incremental", or whatever an external one has written. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_NOMINATE_H
#define SCHEDULER_MULTIKUEUE_MANAGER_NOMINATE_H

#include <stdbool.h>
#include <stdint.h>

#include "enc/field.h"

struct arena;
struct manager_cluster;
struct manager_view;

struct nominate {
	struct field_strs names; /* to be offered to; in the arena or of the local Workload */
	bool changed;            /* this is not the set that status.nominatedClusterNames has */
	int64_t at;              /* wall ns at which a round ends; CLOCK_NEVER */
};

/* A cluster that is lost stays nominated: its replica may be taking part, and the list is not
 * written anew for each connection that breaks. One is added only while it is connected, so that a
 * dead cluster takes no place in a round. A cluster that is not configured any more, or where the
 * name is taken, is dropped. */
void nominate_next(const struct manager_view *view, struct arena *arena, struct nominate *ret);
/* The local status names it. */
bool nominate_has(const struct manager_view *view, const char *cluster);
/* An object that is not this manager's has the name of the replica or the Job. */
bool nominate_is_taken(const struct manager_cluster *c);

#endif
