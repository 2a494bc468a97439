/* test/lib/multikueue/fleet_core.h: the core of one cluster of a fleet_world, which is the process
 * of headgate-scheduler with the Workload engine: the engine, its lists and its watches, stepped by
 * the owner. One thread. */
#ifndef TEST_LIB_MULTIKUEUE_FLEET_CORE_H
#define TEST_LIB_MULTIKUEUE_FLEET_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct clock;
struct fleet_core;
struct transport;

struct fleet_core_options {
	const struct clock *clock;            /* borrowed */
	struct transport *watches, *requests; /* of its own from now on */
	const char *conf; /* Kueue's Configuration as JSON; NULL: the defaults */
	uint64_t seed;
};

struct fleet_core *fleet_core_create(const struct fleet_core_options *opt);
void fleet_core_destroy(struct fleet_core *c); /* NULL is fine */
/* Takes in what has arrived, decides, and moves writes on; false: nothing was to be done. */
bool fleet_core_step(struct fleet_core *c);
int64_t fleet_core_wake_at(struct fleet_core *c); /* monotonic, when nothing arrives */

#endif
