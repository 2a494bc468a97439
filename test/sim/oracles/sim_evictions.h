/* test/sim/oracles/sim_evictions.h: the promises about evictions, by the decisions of the
 * schedulers: PodGroups evict each other in no circle, of whatever length, while the Queues stay as
 * they are, none is evicted for a pod that never preempts, and every eviction leads to the pod that
 * it was made for being bound, or getting its quota, or is reported as in vain. A process that ends
 * forgets about its evictions; so does a pod that ends. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_EVICTIONS_H
#define TEST_SIM_ORACLES_SIM_EVICTIONS_H

#include <stddef.h>

#include "sim/world/sim_world.h"

struct cluster;
struct decisions;
struct sim_evictions;

struct sim_evictions *sim_evictions_create(struct sim_world *w);
void sim_evictions_destroy(struct sim_evictions *e);
/* Before they are assumed. */
void sim_evictions_decided(struct sim_evictions *e, const struct cluster *c,
			   const struct decisions *d);
/* Another process decides from now on. */
void sim_evictions_restarted(struct sim_evictions *e);
/* Everything has settled. */
void sim_evictions_judge(const struct sim_evictions *e);
/* So many pods were evicted. */
size_t sim_evictions_count(const struct sim_evictions *e);

#endif
