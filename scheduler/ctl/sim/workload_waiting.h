/* scheduler/ctl/sim/workload_waiting.h: the Workloads that wait at the end of a simulation, with
 * the reasons, for the table and for JSON. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_WAITING_H
#define SCHEDULER_CTL_SIM_WORKLOAD_WAITING_H

#include <stdbool.h>
#include <stddef.h>

struct workload_simulation;

/* Texts are empty rather than NULL. */
struct workload_waiting {
	const char *workload, *queue, *reason, *message;
	size_t position;   /* from 1, in the heap of an active queue; 0: in none */
	bool inadmissible; /* of an active queue */
};
typedef void (*workload_waiting_fn)(void *ctx, const struct workload_waiting *w);

/* By ClusterQueue, heap before inadmissible ones; then those that are in no queue. Valid during the
 * call. */
void workload_waiting_each(const struct workload_simulation *s, workload_waiting_fn fn, void *ctx);

#endif
