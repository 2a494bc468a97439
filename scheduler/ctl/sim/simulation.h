/* scheduler/ctl/sim/simulation.h: scheduling cycles over the pods of a sim_input, without a
 * cluster: no clock, no network, no randomness. Between two cycles patches are acknowledged and
 * bound pods run; an evicted pod stays until it is deleted, and no pod ends by itself. One thread.
 */
#ifndef SCHEDULER_CTL_SIM_SIMULATION_H
#define SCHEDULER_CTL_SIM_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/pods/model/model.h"

struct cluster;
struct err;
struct simulation;

struct simulation_options {
	const char *conf_path;              /* NULL: built in */
	const char *const *gate_schedulers; /* of pods that others place, NULL-terminated; NULL:
					       none */
	int64_t now;                        /* wall ns; stands still */
	sim_input_warn_fn warn;             /* of the configuration; may be NULL */
	void *ctx;
};

enum sim_step_kind {
	SIM_UNGATE,   /* pod, gate */
	SIM_BIND,     /* pod, node */
	SIM_EVICT,    /* pod, reason, message */
	SIM_PIPELINE, /* waits on the node for terminating pods */
	SIM_PUBLISH,  /* pod, message: autoscalers see it */
	SIM_WITHDRAW, /* pod, message: they no longer see it */
	SIM_EVENT,    /* reason, message, warning */
};

/* Steps in the order of decision. Texts live as long as the simulation; NULL: no such text. */
struct sim_step {
	enum sim_step_kind kind;
	unsigned cycle; /* from 1 */
	const char *object, *node, *group, *gate, *reason, *message;
	bool warning;
};

/* Reads the objects into a cluster. -ERR_INVALID names file, document, object and field. The input
 * is only needed during the call. */
int simulation_create(struct sim_input *in, const struct simulation_options *opt,
		      struct simulation **ret, struct err *err);
void simulation_destroyp(struct simulation **ps); /* for CLEANUP */
/* One cycle; true when it took off a gate, bound, evicted or pipelined something. */
bool simulation_run_cycle(struct simulation *s);
/* Removes an object with all consequences; false: there is no such object, or it is a Namespace, of
 * which workload_simulation_delete returns whether it was there. */
bool simulation_delete(struct simulation *s, enum sched_resource kind, struct str key);
unsigned simulation_cycles(const struct simulation *s);
const struct sim_step *simulation_steps(const struct simulation *s, size_t *ret_n);
const struct cluster *simulation_cluster(const struct simulation *s);
/* The status at the end of the last cycle, pipelined tasks and members of waiting gangs included.
 */
enum task_status simulation_task_status(const struct simulation *s, const struct task *t);
/* The latest reason why the pod waits; NULL: none. */
const char *simulation_why(const struct simulation *s, const struct task *t);

#endif
