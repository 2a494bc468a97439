#include "scheduler/pods/actions/registry.h"

#include "base/attrs.h"
#include "scheduler/pods/actions/evict_gang.h"
#include "scheduler/pods/session/action.h"

const struct action_row action_registry[] = {
	{ .name = "allocate", .run = allocate_run },
	{ .name = "backfill", .run = backfill_run },
	{ .name = "enqueue", .run = enqueue_run },
	{ .name = "gangpreempt", .run = gangpreempt_run, .check = evict_gang_check },
	{ .name = "gangreclaim", .run = gangreclaim_run, .check = evict_gang_check },
	{ .name = "preempt", .run = preempt_run },
	{ .name = "reclaim", .run = reclaim_run },
	/* In Volcano rescheduling and tdm offer victims. */
	{ .name = "shuffle",
	  .absent =
		  "evicts pods that plugins offer, and no plugin offers any here: it is left out" },
};
const size_t action_registry_count = ARRAY_LEN(action_registry);
