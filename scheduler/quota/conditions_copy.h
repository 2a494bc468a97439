/* scheduler/quota/conditions_copy.h: statuses of Workloads side by side: a copy that a decision may
 * change, and whether anything came of it. Owner: the caller. Pure. */
#ifndef SCHEDULER_QUOTA_CONDITIONS_COPY_H
#define SCHEDULER_QUOTA_CONDITIONS_COPY_H

#include "quota/conditions.h"

/* A copy of all of it with its texts in the arena, which must outlive it. The caller ends it with
 * conditions_finish. */
struct conditions conditions_copy_make(const struct conditions *from, struct arena *arena);
/* Whether both say the same: nothing would have to be written to get from one to the other. What
 * was observed of the object (generations) and times of transition do not count. */
bool conditions_copy_same(const struct conditions *a, const struct conditions *b);

#endif
