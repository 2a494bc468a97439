#include "scheduler/pods/actions/evict_between.h"
#include "scheduler/pods/actions/registry.h"

void reclaim_run(struct session *s)
{
	evict_between_queues(s, EVICT_GANGS_AS_PLUGINS_SAY);
}
