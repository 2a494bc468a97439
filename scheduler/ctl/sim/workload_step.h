/* scheduler/ctl/sim/workload_step.h: a decision of the Workload engine as text, independent of the
 * world in which it was made: what reports print. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_STEP_H
#define SCHEDULER_CTL_SIM_WORKLOAD_STEP_H

#include "scheduler/workloads/cycle/admission_cycle.h"

#define WORKLOAD_STEP_AMOUNT_MAX 64

struct arena;

struct workload_step_flavor {
	const char *resource, *flavor;
	const char *mode; /* "Fit", "Preempt", "NoFit" */
	int64_t amount;   /* for all pods of the set */
};
struct workload_step_podset {
	const char *name;
	int32_t count;
	struct workload_step_flavor *v; /* by name of the resource */
	size_t n;
};

/* Texts are never NULL; "" where not applicable. */
struct workload_step {
	enum admission_decision_kind kind;
	unsigned cycle;            /* from 1 */
	const char *workload, *by; /* "namespace/name" */
	const char *queue;         /* ClusterQueue */
	const char *reason, *requeue, *message;
	bool ongoing, in_heap;
	bool has_assignment;
	const char *mode; /* of the assignment */
	unsigned borrowing;
	struct workload_step_podset *podsets;
	size_t npodsets;
};

/* Everything lives in the arena. */
struct workload_step workload_step_make(const struct quota_model *q,
					const struct admission_decision *d, unsigned cycle,
					struct arena *arena);
/* An amount as a quantity: cpu is counted in thousandths, everything else in units. Returns out. */
const char *workload_step_amount(const char *resource, int64_t amount,
				 char out[WORKLOAD_STEP_AMOUNT_MAX]);

#endif
