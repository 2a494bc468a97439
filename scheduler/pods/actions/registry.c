#include "scheduler/pods/actions/registry.h"

#include "base/attrs.h"
#include "scheduler/pods/session/action.h"

const struct action_row action_registry[] = {
	{ "allocate", allocate_run }, { "backfill", backfill_run }, { "enqueue", enqueue_run },
	{ "gangpreempt", NULL },      { "gangreclaim", NULL },      { "preempt", preempt_run },
	{ "reclaim", reclaim_run },   { "shuffle", NULL },
};
const size_t action_registry_count = ARRAY_LEN(action_registry);
