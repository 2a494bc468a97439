/* test/sim/controllers/sim_volumes.h: volumes are made here as in a cluster: by the controller of
 * ephemeral volumes, the binder of claims, and a provisioner, which takes its time, and fails now
 * and then, by taking the node back from the claim. Owner: the run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_VOLUMES_H
#define TEST_SIM_CONTROLLERS_SIM_VOLUMES_H

#include <stdbool.h>

struct jdoc;
struct sim_world;

#define SIM_VOLUMES_LATE "late" /* a StorageClass that waits for the first consumer */
#define SIM_VOLUMES_NOW "now"   /* one that does not */
#define SIM_VOLUMES_SELECTED "volume.kubernetes.io/selected-node"
#define SIM_VOLUMES_BOUND "pv.kubernetes.io/bind-completed"

/* Does one thing; false: there is none to do. */
bool sim_volumes_step(struct sim_world *w);
/* Without faults, every volume can be had on every node in the end, by chance sooner or later: a
 * pod may wait for that as long as one cannot. */
bool sim_volumes_must_wait(const struct sim_world *w);
/* "namespace/name" of the claim of the pod's i-th volume; NULL: it has none. The caller frees it.
 */
char *sim_volumes_claim_of(const struct jdoc *pod);
bool sim_volumes_is_bound(const struct jdoc *claim);
/* The only node that reaches the volume; NULL: every one does. */
const char *sim_volumes_node_of(const struct jdoc *volume);

#endif
