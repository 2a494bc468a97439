/* test/sim/oracles/sim_victims.h: whether the preemptions and admissions of each cycle over
 * Workloads are lawful. The rules are written anew from Kueue's documentation (KEP-83, KEP-1714)
 * over the objects of the model, with the arithmetic of test/lib/quota/quota_naive.h: without code
 * of scheduler/workloads/preempt and of the forest's sums. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_VICTIMS_H
#define TEST_SIM_ORACLES_SIM_VICTIMS_H

#include "sim/world/sim_world.h"

struct admission_decisions;
struct forest;
struct sim_victims;

enum sim_victims_event {
	SIM_VICTIMS_JUDGED,
	SIM_VICTIMS_ONGOING,   /* evicted already, and counted on */
	SIM_VICTIMS_SEVERAL,   /* preemptors with more than one */
	SIM_VICTIMS_ELSEWHERE, /* of another ClusterQueue */
	SIM_VICTIMS_RANKED,    /* compared with an equal Workload that was spared */
	SIM_VICTIMS_SHARES,    /* shares of fair sharing compared */
	SIM_VICTIMS_NONE,      /* preemptors for which there must be no victims */
	SIM_VICTIMS_ADMITTED,  /* admissions, with room at their turn */
	SIM_VICTIMS_COUNT_
};

struct sim_victims *sim_victims_create(struct sim_world *w);
void sim_victims_destroy(struct sim_victims *s); /* NULL is fine */
/* Judges the decisions of a cycle; the model is as it was before them. */
void sim_victims_decided(struct sim_victims *s, const struct forest *f,
			 const struct admission_decisions *d);
const char *sim_victims_event_name(enum sim_victims_event e);
uint64_t sim_victims_count(const struct sim_victims *s, enum sim_victims_event e);

#endif
