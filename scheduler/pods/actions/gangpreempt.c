#include "scheduler/pods/actions/evict_between.h"
#include "scheduler/pods/actions/evict_gang.h"
#include "scheduler/pods/actions/registry.h"

void gangpreempt_run(struct session *s)
{
	evict_between_podgroups(s, evict_gang_mode(s, "gangpreempt"));
}
