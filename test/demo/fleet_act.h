/* test/demo/fleet_act.h: the act of the demo about preemption over many clusters: a manager and
 * three full worker clusters, and an urgent Workload that is sent to all of them. One thread. */
#ifndef TEST_DEMO_FLEET_ACT_H
#define TEST_DEMO_FLEET_ACT_H

#include <stdbool.h>
#include <stddef.h>

struct err;

struct fleet_act { /* how many Workloads were evicted for it */
	size_t without_gates;
	size_t with_gates;  /* opened one at a time by the orchestrator */
	size_t after_crash; /* the same, with the orchestrator killed while a gate is open */
};

/* Prints the story. */
int fleet_act_play(struct fleet_act *ret, struct err *err);

#endif
