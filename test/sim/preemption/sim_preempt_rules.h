/* test/sim/preemption/sim_preempt_rules.h: the rules of docs/preemption.md for sim_preempt.h, one
 * by one. Pure, but for failures and for rooms, which come back as they were. */
#ifndef TEST_SIM_PREEMPTION_SIM_PREEMPT_RULES_H
#define TEST_SIM_PREEMPTION_SIM_PREEMPT_RULES_H

#include "sim/world/sim_world.h"

struct cluster;
struct node;
struct queue;
struct sim_rooms;
struct task;

/* Pods may be evicted for t, as far as t itself decides. */
bool sim_preempt_rules_may_preempt(const struct cluster *c, const struct task *t);
/* Neither its annotation nor the plugin conformance protects the victim. */
bool sim_preempt_rules_is_open(const struct sim_world *w, const struct task *victim);
/* The victim is charged to another queue than t's. */
bool sim_preempt_rules_reclaims(const struct cluster *c, const struct task *t,
				const struct task *victim);
/* For such a victim: why t's queue may not take it, static text; NULL: it may. */
const char *sim_preempt_rules_not_reclaimable(const struct sim_world *w, const struct sim_rooms *r,
					      const struct task *t, const struct task *victim);
/* Of a victim of the same queue and another PodGroup: the priority counts that way. */
bool sim_preempt_rules_outranks(const struct cluster *c, const struct task *t,
				const struct task *victim);
/* No port, claim or term about other pods, be it of those: evictions give t room, and nothing else
 * that it lacks. */
bool sim_preempt_rules_lacks_room_alone(const struct cluster *c, const struct task *t);
/* No label, taint, claim or term about other pods: resources alone decide where t fits. */
bool sim_preempt_rules_is_simple(const struct cluster *c, const struct task *t);
/* Such a pod may use the node. */
bool sim_preempt_rules_is_usable(const struct node *n);
/* The queue and all above it are open. */
bool sim_preempt_rules_is_queue_usable(const struct cluster *c, const struct queue *q);

/* No failed write and no pause is in its way. */
bool sim_preempt_rules_is_idle(const struct task *t);
/* The victim has a node and quota, and is of another PodGroup than t's. Its charge is on the queue
 * of its PodGroup: it is no victim while it is still charged to another one, since the new queue
 * has no room for it. */
bool sim_preempt_rules_is_candidate(const struct sim_rooms *r, const struct task *t,
				    const struct task *victim);
/* On the node (an id; MODEL_NONE: quota alone) and in its queue. */
bool sim_preempt_rules_fits(const struct sim_rooms *r, const struct task *t, uint32_t node);
/* The same when all pods of its queue are gone that may be evicted for it and that are of PodGroups
 * with a priority below this one. Where gangs go as a whole, each may go if all of it may. */
bool sim_preempt_rules_fits_without(const struct sim_world *w, struct sim_rooms *r,
				    const struct task *t, uint32_t node, int64_t below);

/* For how many pods like t, up to most, there is room on all nodes. */
int32_t sim_preempt_rules_count(const struct sim_rooms *r, const struct task *t, int32_t most);
/* For how many pods like t, up to most, there is room on all nodes, or quota, when all of these
 * pods are gone. */
int32_t sim_preempt_rules_count_without(const struct sim_world *w, struct sim_rooms *r,
					const struct task *t, bool of_quota, int32_t most);

/* The harm of some victims: that of the worst, then their number. */
struct sim_preempt_harm {
	int32_t podgroup_priority, priority, cost;
	int64_t created; /* decides on one node only */
	unsigned count;
};

/* Victims that a pod may have in its own queue. */
struct sim_preempt_plan {
	struct sim_rooms *rooms; /* before the first of its evictions */
	const struct task *preemptor;
	bool quota_alone; /* there is no node for it: only quota is made */
	int64_t now;
};

/* Whether plain sums say all about the choice. */
bool sim_preempt_rules_is_comparable(const struct sim_preempt_plan *p, bool quota_alone);
/* False: the victim is of another queue or the own PodGroup, or its rank is not known. */
bool sim_preempt_rules_add_harm(const struct sim_preempt_plan *p, const struct task *victim,
				struct sim_preempt_harm *h);
/* Fails when other victims, there or on another node, do less harm than those on node (an id). */
void sim_preempt_rules_compare(struct sim_world *w, const struct sim_preempt_plan *p,
			       const struct sim_preempt_harm *chosen, uint32_t node);

#endif
