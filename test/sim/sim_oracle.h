/* test/sim/sim_oracle.h: judges every change at the server as it happens: the promise of the gate
 * feature (test/play/oracle.h), gates of others, gangs, pods that were created anew under an old
 * name; and at the end of a run whether all that can run does. Owner: the run. */
#ifndef TEST_SIM_SIM_ORACLE_H
#define TEST_SIM_SIM_ORACLE_H

#include "sim/sim_world.h"

struct cluster;
struct decisions;
struct sim_oracle;

/* Listens to the view of the world. */
struct sim_oracle *sim_oracle_create(struct sim_world *w);
void sim_oracle_destroy(struct sim_oracle *o);
/* A decision of a scheduler: later changes of a pod must have been decided for that very pod. */
void sim_oracle_decided(struct sim_oracle *o, const struct cluster *c, const struct decisions *d);
/* Nothing is given up as timed out before a member of its gang was published for half the time-out:
 * the least that is left to a reservation which another process made, whatever clocks say. */
void sim_oracle_timed_out(struct sim_oracle *o, const struct cluster *c, const struct decisions *d,
			  int64_t timeout_ns);
/* After time has passed: an excess that was tolerated may be none any more. */
void sim_oracle_check(struct sim_oracle *o);
/* True when the n pods could be published beside all that runs and is published now. */
bool sim_oracle_fits(struct sim_oracle *o, const char *const *keys, size_t n);
/* Monotonic ns of the last change of a node or a pod, those apart that no node will ever suit. */
int64_t sim_oracle_changed_at(const struct sim_oracle *o);
size_t sim_oracle_published_peak(const struct sim_oracle *o);

#endif
