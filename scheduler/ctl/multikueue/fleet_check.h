/* scheduler/ctl/multikueue/fleet_check.h: `headgatectl multikueue check`: all worker clusters of a
 * manager, each looked at on a thread of its own. Main thread; blocks. */
#ifndef SCHEDULER_CTL_MULTIKUEUE_FLEET_CHECK_H
#define SCHEDULER_CTL_MULTIKUEUE_FLEET_CHECK_H

#include <stdbool.h>

struct err;
struct multikueue_args;

/* Prints what was found. *ret_good: nothing is missing, and everything could be looked at. The
 * clusters are those of the positional arguments behind the first one, or all MultiKueueClusters
 * and those that a MultiKueueConfig names. */
int fleet_check_run(const struct multikueue_args *a, bool *ret_good, struct err *err);

#endif
