/* test/sim/oracles/sim_neighbours.h: the rules of inter-pod affinity and topology spread, for every
 * bind that a scheduler decides: by the labels and terms of all pods in its model, one pod after
 * the other, without the counts and lists by which it decided. Stateless. */
#ifndef TEST_SIM_ORACLES_SIM_NEIGHBOURS_H
#define TEST_SIM_ORACLES_SIM_NEIGHBOURS_H

struct cluster;
struct decisions;
struct sim_world;

/* Before they are assumed. Fails the world for each violation, and counts the binds of pods with
 * terms in w->neighbours. */
void sim_neighbours_decided(struct sim_world *w, const struct cluster *c,
			    const struct decisions *d);

#endif
