/* scheduler/quota/conditions_pack.h: statuses of Workloads that are kept for long, as small as they
 * can be: there may be a hundred thousand of them. Owner: the caller. Pure. */
#ifndef SCHEDULER_QUOTA_CONDITIONS_PACK_H
#define SCHEDULER_QUOTA_CONDITIONS_PACK_H

#include "quota/conditions.h"

/* A copy in one block of its exact size, which free() ends. Its lists cannot grow: to be changed it
 * is copied (conditions_copy_make). */
struct conditions *conditions_pack_all(const struct conditions *from);
/* The same, but the block is the arena's. */
const struct conditions *conditions_pack_in(const struct conditions *from, struct arena *arena);
/* The same as conditions_pack_all, but of one condition only, if it is there, and without its
 * message. */
struct conditions *conditions_pack_one(const struct conditions *from, const char *type);

#endif
