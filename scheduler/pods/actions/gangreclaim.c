#include "scheduler/pods/actions/evict_between.h"
#include "scheduler/pods/actions/evict_gang.h"
#include "scheduler/pods/actions/registry.h"

void gangreclaim_run(struct session *s)
{
	evict_between_queues(s, evict_gang_mode(s, "gangreclaim"));
}
