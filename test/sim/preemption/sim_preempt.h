/* test/sim/preemption/sim_preempt.h: whether the evictions of each cycle over pods are right, by
 * the rules of docs/preemption.md over the plain objects of the model and the sums of sim_rooms.h,
 * without code of the session, the plugins and the search for victims: every victim is lawful,
 * none is one too many, no other choice does less harm, and a gang gets all that it lacks. At rest,
 * sim_preempt_rest_judge asks whether a pod waits that may have others evicted. Each rule leaves
 * out the cases that a plain sum cannot decide. Owner: the run. */
#ifndef TEST_SIM_PREEMPTION_SIM_PREEMPT_H
#define TEST_SIM_PREEMPTION_SIM_PREEMPT_H

#include "sim/world/sim_world.h"

struct cluster;
struct decisions;

enum sim_preempt_event {
	SIM_PREEMPT_FOR_NODE,  /* pods evicted for room on a node */
	SIM_PREEMPT_FOR_QUOTA, /* pods evicted for quota */
	SIM_PREEMPT_RECLAIMED, /* of those two: of another queue */
	SIM_PREEMPT_GANGS,     /* PodGroups of several pods that others were evicted for */
	SIM_PREEMPT_NEEDED,    /* victims without which it was asked whether there is room */
	SIM_PREEMPT_CHOSEN,    /* choices that were compared with all others */
	SIM_PREEMPT_WITHIN,    /* pods evicted for others of their own PodGroup */
	SIM_PREEMPT_AT_REST,   /* pods that waited for room at rest, and may have others evicted */
	SIM_PREEMPT_GANGS_AT_REST,  /* the same of gangs that lack several pods */
	SIM_PREEMPT_WITHIN_AT_REST, /* the same of gangs that may lose a pod of their own */
	SIM_PREEMPT_COUNT_
};

struct sim_preempt {
	struct sim_world *world;
	uint64_t seen[SIM_PREEMPT_COUNT_];
};

const char *sim_preempt_event_name(enum sim_preempt_event e);
/* Judges the decisions of a cycle at the scheduler's time now; the model is as it was before. */
void sim_preempt_decided(struct sim_preempt *p, const struct cluster *c, const struct decisions *d,
			 int64_t now);
/* The scheduler has decided all that it can. */
void sim_preempt_rest_judge(struct sim_preempt *p, const struct cluster *c, int64_t now);

#endif
