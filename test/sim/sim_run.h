/* test/sim/sim_run.h: one run from its seed: users, kubelets, an autoscaler and schedulers that
 * crash, at one server, half step by half step in an order that the seed decides; then faults stop,
 * everything settles, and the end is judged. A run with Jobs goes on until all is deleted. */
#ifndef TEST_SIM_SIM_RUN_H
#define TEST_SIM_SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/actors/sim_actors.h"
#include "sim/preemption/sim_preempt.h"
#include "sim/sim_quota.h"
#include "sim/world/sim_faults.h"

enum sim_run_kind {
	SIM_RUN_PODS,  /* pods, PodGroups and Queues */
	SIM_RUN_QUOTA, /* Jobs and Workloads; pods as well in every fourth seed */
};

struct sim_run_options {
	enum sim_run_kind kind;
	uint64_t seed, steps; /* steps with faults and users */
	bool verbose;
	bool plain; /* without the actors of actors/sim_actors.h */
};

struct sim_run_stats {
	uint64_t runs, steps, restarts, published_peak, placed, evicted, neighbours, overdue;
	uint64_t preempt[SIM_PREEMPT_COUNT_];
	uint64_t rests; /* of contended worlds */
	int64_t virtual_ns;
	uint64_t trace_digest; /* of the last run */
	uint64_t struck[SIM_FAULT_COUNT_];
	struct sim_quota_stats quota;
	uint64_t acts[SIM_ACTORS_ACTS_MAX];
};

/* True: all held. Else the trace and the reason have been printed. Adds to stats. */
bool sim_run(const struct sim_run_options *opt, struct sim_run_stats *stats);
/* For a program that aborts inside of a run: prints the trace and how to repeat it. */
void sim_run_print_present(void);

#endif
