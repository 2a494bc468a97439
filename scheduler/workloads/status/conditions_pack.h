/* scheduler/workloads/status/conditions_pack.h: statuses of Workloads that are kept for long, in as
 * few bytes as they can be: there may be a hundred thousand of them. Owner: the caller. Pure. */
#ifndef SCHEDULER_WORKLOADS_STATUS_CONDITIONS_PACK_H
#define SCHEDULER_WORKLOADS_STATUS_CONDITIONS_PACK_H

#include "scheduler/workloads/status/conditions.h"

/* All of a status in one block, which free() ends. */
struct conditions_pack;

struct conditions_pack *conditions_pack_make(const struct conditions *from);
/* The same, but of one condition only, if it is there, and without its message. */
struct conditions_pack *conditions_pack_one(const struct conditions *from, const char *type);
/* Replaces the contents of `to`: resets to->arena, which only `to` may use, and reuses its lists.
 * Texts stay in the block, which must outlive `to`. */
void conditions_pack_read(const struct conditions_pack *from, struct conditions *to);
/* Calls fn for each resource in it, some of them more than once. */
void conditions_pack_resources(const struct conditions_pack *from,
			       void (*fn)(void *ctx, uint32_t resource), void *ctx);

#endif
