/* test/sim/oracles/sim_kube_groups.h: the promises about pods that another scheduler places, alone
 * or in PodGroups of Kubernetes: a gang's pods of one queue are ungated all together or not at all,
 * and at the end each pod that has room in its queue, with its gang, is ungated. That their quota
 * is never beyond a limit is in test/play/oracle.h. Owner: the run. */
#ifndef TEST_SIM_ORACLES_SIM_KUBE_GROUPS_H
#define TEST_SIM_ORACLES_SIM_KUBE_GROUPS_H

#include "sim/world/sim_world.h"

struct cluster;
struct decisions;
struct sim_oracle;

/* Before they are assumed. */
void sim_kube_groups_decided(struct sim_world *w, const struct cluster *c,
			     const struct decisions *d);
/* Everything has settled. c: of the scheduler; of it only the state of Queues is read. */
void sim_kube_groups_judge(struct sim_world *w, struct sim_oracle *o, const struct cluster *c);

#endif
