/* scheduler/pods/actions/evict_gang.h: common to the actions gangpreempt and gangreclaim: a
 * PodGroup gets room from pods that their gangs can spare, and where that is not enough, from gangs
 * that are evicted as a whole. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_EVICT_GANG_H
#define SCHEDULER_PODS_ACTIONS_EVICT_GANG_H

#include "collections/vec.h"
#include "scheduler/pods/actions/evict_between.h"
#include "scheduler/pods/actions/evict_step.h"
#include "scheduler/pods/conf/conf_args.h"

struct conf_action;
struct err;

/* The arguments of either action. */
extern const struct conf_args_row evict_gang_arguments[];
/* Fails with -ERR_INVALID where allowWholeBundle is neither true nor false. */
int evict_gang_check(const struct conf_action *a, struct err *err);
/* By allowWholeBundle of the action with this name. */
enum evict_gangs evict_gang_mode(const struct session *s, const char *action);
/* PodGroups that were tried in vain since the last one was served: equal ones need not be tried.
 * The caller's, zero at first; vec_finish of in_vain ends it. */
struct evict_gang_tried {
	struct VEC(const struct evict_work *) in_vain;
};

/* As evict_step_serve, with victims_spare_gangs; gangs as a whole go when that is not enough, the
 * first victims first, as few as need be. O(log PodGroups + a constant) trials of
 * evict_step_serve. */
bool evict_gang_serve(struct session *s, struct evict_work *w, struct victims *v,
		      struct evict_gang_tried *tried);

#endif
