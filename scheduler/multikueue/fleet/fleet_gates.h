/* scheduler/multikueue/fleet/fleet_gates.h: the gates of replicas, as decisions want them: one that
 * the orchestrator opens or closes; and, where nothing orchestrates, all of them open. Owner: the
 * fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_FLEET_FLEET_GATES_H
#define SCHEDULER_MULTIKUEUE_FLEET_FLEET_GATES_H

#include <stdbool.h>
#include <stdint.h>

struct fleet_clusters;
struct fleet_replica;
struct fleet_report;
struct fleet_workload;

struct fleet_gates {
	struct fleet_clusters *clusters;
	struct fleet_report *report;
};

/* w has a local object, and nothing of it is waited for (fleet_workload_is_waiting). now: wall ns.
 * Returns the wall ns at which to call again, because a write was refused not long ago; else
 * CLOCK_NEVER. */
int64_t fleet_gates_write(const struct fleet_gates *g, struct fleet_workload *w,
			  struct fleet_replica *r, bool open, int64_t now);
/* Opens the gate of each replica of this manager that is not admitted. With the feature gate off a
 * replica may have one from before, or from the webhook of its worker, and would never preempt. */
int64_t fleet_gates_open_all(const struct fleet_gates *g, struct fleet_workload *w, int64_t now);

#endif
