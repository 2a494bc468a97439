/* scheduler/workloads/status/workload_status_pack.h: statuses of Workloads that are kept for long,
 * in as few bytes as they can be: there may be a hundred thousand of them. Owner: the caller. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_PACK_H
#define SCHEDULER_WORKLOADS_STATUS_WORKLOAD_STATUS_PACK_H

#include "scheduler/workloads/status/workload_status.h"

/* All of a status in one block, which free() ends. */
struct workload_status_pack;

struct workload_status_pack *workload_status_pack_make(const struct workload_status *from);
/* The same, but of one condition only, if it is there, and without its message. */
struct workload_status_pack *workload_status_pack_one(const struct workload_status *from,
						      const char *type);
/* Replaces the contents of `to`: resets to->arena, which only `to` may use, and reuses its lists.
 * Texts stay in the block, which must outlive `to`. */
void workload_status_pack_read(const struct workload_status_pack *from, struct workload_status *to);
/* Calls fn for each resource in it, some of them more than once. */
void workload_status_pack_resources(const struct workload_status_pack *from,
				    void (*fn)(void *ctx, uint32_t resource), void *ctx);

#endif
