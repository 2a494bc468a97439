/* test/sim/users/sim_quota_random.h: ClusterQueues and Jobs at random. In a contended run quota is
 * scarce and policies allow preemption, so that ClusterQueues are full most of the time, and
 * Workloads are preempted. Pure but for the generator of the world. */
#ifndef TEST_SIM_USERS_SIM_QUOTA_RANDOM_H
#define TEST_SIM_USERS_SIM_QUOTA_RANDOM_H

#include "sim/users/sim_quota_manifest.h"
#include "sim/world/sim_world.h"

#define SIM_QUOTA_CLASSES 3

extern const struct sim_quota_class {
	const char *name;
	int value;
} sim_quota_random_classes[SIM_QUOTA_CLASSES];

/* The name of a LocalQueue; it may be gone. */
const char *sim_quota_random_local_queue(struct sim_world *w);
/* All but the name and the cohort, which are kept. */
void sim_quota_random_queue(struct sim_world *w, bool contended,
			    struct sim_quota_manifest_queue *q);
/* All but the name and the scheduler. */
struct sim_quota_manifest_job sim_quota_random_job(struct sim_world *w, bool contended);

#endif
