/* scheduler/ctl/list/workload_owner.h: the job that a Workload is for, as its owner references name
 * it. */
#ifndef SCHEDULER_CTL_LIST_WORKLOAD_OWNER_H
#define SCHEDULER_CTL_LIST_WORKLOAD_OWNER_H

#include <stdbool.h>

struct jdoc;

/* The first owner reference of a Workload; NULL: it has none. */
const struct jdoc *workload_owner_of(const struct jdoc *workload);
/* type: KIND or KIND.GROUP as people type it: a kind that we know by any of its names ("jobs"),
 * others by their kind in any case. */
bool workload_owner_is(const struct jdoc *workload, const char *type, const char *name);

#endif
