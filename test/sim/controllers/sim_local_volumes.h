/* test/sim/controllers/sim_local_volumes.h: volumes that are there before a claim asks for one;
 * they name a StorageClass, as those that a provisioner makes do not. Kubernetes' volume controller
 * binds a claim to the volume with a claimRef to it, and an administrator cleans volumes of claims
 * that are gone. Owner: the run. */
#ifndef TEST_SIM_CONTROLLERS_SIM_LOCAL_VOLUMES_H
#define TEST_SIM_CONTROLLERS_SIM_LOCAL_VOLUMES_H

#include <stdbool.h>
#include <stdint.h>

struct jdoc;
struct sim_world;
struct strbuf;

#define SIM_VOLUMES_LOCAL "local" /* a StorageClass without provisioner */
#define SIM_VOLUMES_RESERVED "pv.kubernetes.io/bound-by-controller"

/* Does one thing; false: there is none to do. */
bool sim_local_volumes_step(struct sim_world *w);
/* Likewise there is one that does for every claim. */
bool sim_local_volumes_must_wait(const struct sim_world *w);
bool sim_local_volumes_has(const struct jdoc *volume); /* it is one of them */
/* Appends such a volume; node NULL: every one reaches it. */
void sim_local_volumes_manifest(const char *name, const char *klass, unsigned gigabytes,
				const char *node, struct strbuf *out);
/* Gigabytes of a volume, or for which a claim asks. */
int64_t sim_local_volumes_size(const struct jdoc *object);

#endif
