/* test/sim/oracles/sim_oracle.h: checks each change at the server, and helps sim_judge at the
 * end: the promise of the gate
 * feature (test/play/oracle.h), foreign gates, gangs, and pods that were created anew under an old
 * name. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_ORACLE_H
#define TEST_SIM_ORACLES_SIM_ORACLE_H

#include "sim/world/sim_world.h"

struct cluster;
struct decisions;
struct sim_oracle;

/* Listens to the view of the world. */
struct sim_oracle *sim_oracle_create(struct sim_world *w);
void sim_oracle_destroy(struct sim_oracle *o);
/* Decisions of a scheduler: a later change of a pod must have been decided for its UID. */
void sim_oracle_decided(struct sim_oracle *o, const struct cluster *c, const struct decisions *d);
/* No reservation times out before a member of its gang was published for half the timeout: at least
 * that long is left to a reservation of an earlier process, whatever the clocks say. */
void sim_oracle_timed_out(struct sim_oracle *o, const struct cluster *c, const struct decisions *d,
			  int64_t timeout_ns);
/* Call after time has passed: an excess is tolerated for a limited time. */
void sim_oracle_check(struct sim_oracle *o);
/* True when there is quota for the n pods besides those that run, are published now, or were
 * ungated for another scheduler. */
bool sim_oracle_fits(struct sim_oracle *o, const char *const *keys, size_t n);
/* A user changed the PodGroup, or took members from it. */
bool sim_oracle_is_disturbed(const struct sim_oracle *o, const char *group);
/* Monotonic ns of the last change of a node or of a pod, without pods that fit no node ever. */
int64_t sim_oracle_changed_at(const struct sim_oracle *o);
/* Pods of another scheduler that were to be deleted, since they were overdue. */
size_t sim_oracle_deleted(const struct sim_oracle *o);
size_t sim_oracle_published_peak(const struct sim_oracle *o);

#endif
