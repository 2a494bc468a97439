/* scheduler/ctl/list/workload_owner.h: the job of a Workload, by its owner references. */
#ifndef SCHEDULER_CTL_LIST_WORKLOAD_OWNER_H
#define SCHEDULER_CTL_LIST_WORKLOAD_OWNER_H

#include <stdbool.h>

struct jdoc;

/* The first owner reference of a Workload; NULL: it has none. */
const struct jdoc *workload_owner_of(const struct jdoc *workload);
/* type: KIND or KIND.GROUP as users type it: a known kind by any of its names ("jobs"), others by
 * their kind in any case. */
bool workload_owner_is(const struct jdoc *workload, const char *type, const char *name);

#endif
