#include "scheduler/pods/actions/registry.h"

#include "base/attrs.h"
#include "scheduler/pods/actions/evict_gang.h"
#include "scheduler/pods/conf/conf_args.h"
#include "scheduler/pods/session/action.h"

/* Of Volcano's allocate, backfill, preempt and reclaim: a cache of its own. */
#define ERROR_CACHE                                                                                \
	{                                                                                          \
		"predicateErrorCacheEnable", .kind = CONF_ARGS_NO_EFFECT                           \
	}
static const struct conf_args_row cache_arguments[] = { ERROR_CACHE, { .name = NULL } };
static const struct conf_args_row preempt_arguments[] = {
	ERROR_CACHE,
	{ "enableTopologyAwarePreemption", .kind = CONF_ARGS_NO_EFFECT },
	{ "topologyAwarePreemptWorkerNum", .kind = CONF_ARGS_NO_EFFECT },
	{ "minCandidateNodesPercentage", .kind = CONF_ARGS_NO_EFFECT },
	{ "minCandidateNodesAbsolute", .kind = CONF_ARGS_NO_EFFECT },
	{ "maxCandidateNodesAbsolute", .kind = CONF_ARGS_NO_EFFECT },
	{ .name = NULL },
};

const struct action_row action_registry[] = {
	{ .name = "allocate", .run = allocate_run, .arguments = cache_arguments },
	{ .name = "backfill", .run = backfill_run, .arguments = cache_arguments },
	{ .name = "enqueue", .run = enqueue_run },
	{ .name = "gangpreempt",
	  .run = gangpreempt_run,
	  .arguments = evict_gang_arguments,
	  .check = evict_gang_check },
	{ .name = "gangreclaim",
	  .run = gangreclaim_run,
	  .arguments = evict_gang_arguments,
	  .check = evict_gang_check },
	{ .name = "preempt", .run = preempt_run, .arguments = preempt_arguments },
	{ .name = "reclaim", .run = reclaim_run, .arguments = cache_arguments },
	/* In Volcano rescheduling and tdm offer victims. */
	{ .name = "shuffle",
	  .absent =
		  "evicts pods that plugins offer, and no plugin offers any here: it is left out" },
};
const size_t action_registry_count = ARRAY_LEN(action_registry);
