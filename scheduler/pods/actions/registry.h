/* scheduler/pods/actions/registry.h: the actions there are; one file each, none includes another.
 * The table that the configuration is resolved against (action_registry, pods/session/action.h)
 * lists them next to the names that Volcano has and we do not. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_REGISTRY_H
#define SCHEDULER_PODS_ACTIONS_REGISTRY_H

struct session;

/* PodGroups that are Pending become Inqueue where their queue has room for minResources. */
void enqueue_run(struct session *s);
/* Quota and nodes for pods with requests. */
void allocate_run(struct session *s);
/* Nodes for pods without requests. */
void backfill_run(struct session *s);
/* Room for pods of PodGroups that lack nodes, from pods of lower priority in the same queue. */
void preempt_run(struct session *s);
/* Room for them, from pods of queues that have more than they deserve. */
void reclaim_run(struct session *s);
/* As preempt, from gangs: what they can spare, then a gang as a whole. */
void gangpreempt_run(struct session *s);
/* As reclaim, from gangs. */
void gangreclaim_run(struct session *s);

#endif
