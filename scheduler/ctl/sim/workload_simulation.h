/* scheduler/ctl/sim/workload_simulation.h: scheduling cycles over the Workloads of a sim_input,
 * which the scheduler's own cache reads, without a cluster: no clock, no network, no randomness. No
 * job controller runs: a victim keeps its quota until it is stopped or deleted, no workload
 * finishes, admission checks do not change, unless an update says so. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_SIMULATION_H
#define SCHEDULER_CTL_SIM_WORKLOAD_SIMULATION_H

#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/ctl/sim/workload_step.h"
#include "scheduler/workloads/status/workload_status.h"

struct err;
struct jdoc;
struct kueue_conf;
struct workload_simulation;

struct workload_simulation_options {
	const struct jdoc *config; /* Kueue's configuration file; NULL: defaults */
	const char *config_path;   /* for messages; not NULL with config */
	int64_t now;               /* wall ns; moves by workload_simulation_advance only */
	sim_input_warn_fn warn;    /* of the configuration; may be NULL */
	bool updates;              /* workload_simulation_apply will be called */
	bool lenient;              /* objects that cannot be read are left out, with a warning */
	void *ctx;
};

struct workload_simulation_event { /* in the order in which they were sent */
	unsigned cycle;
	bool warning;
	const char *workload, *reason, *message;
};

/* Reads the objects. -ERR_INVALID names file, document, object and field. The input is only needed
 * during the call. */
int workload_simulation_create(struct sim_input *in, const struct workload_simulation_options *opt,
			       struct workload_simulation **ret, struct err *err);
void workload_simulation_destroyp(struct workload_simulation **ps); /* for CLEANUP */
/* One cycle; true when it admitted or preempted a Workload. */
bool workload_simulation_run_cycle(struct workload_simulation *s);
/* Whether the last cycle looked at a Workload that no cycle before it had: others may have their
 * turn in the next one. */
bool workload_simulation_looked_at_new(const struct workload_simulation *s);
/* Stops the jobs of all victims: they give their quota back and wait again in the next cycle.
 * False: there were no victims. */
bool workload_simulation_stop_victims(struct workload_simulation *s);
/* Removes an object with all consequences; workloads that this may help are tried in the next
 * cycle. False: there is no such object. */
bool workload_simulation_delete(struct workload_simulation *s, enum sched_resource kind,
				struct str key);
/* Creates or updates an object, with options.updates: the scheduler's cache gets it as it would
 * from a watch, and so it gets what is written of Workloads. Members of a Workload's status that
 * the object does not name stay as they are. -ERR_INVALID names it. */
int workload_simulation_apply(struct workload_simulation *s, const struct sim_object *o,
			      struct err *err);
/* Time passes: ns >= 0. With admission fair sharing the usage of LocalQueues is sampled. */
void workload_simulation_advance(struct workload_simulation *s, int64_t ns);

unsigned workload_simulation_cycles(const struct workload_simulation *s);
/* Texts live as long as the simulation. */
const struct workload_step *workload_simulation_steps(const struct workload_simulation *s,
						      size_t *ret_n);
const struct workload_simulation_event *
workload_simulation_events(const struct workload_simulation *s, size_t *ret_n);
/* Kueue's configuration that it was created with, or its defaults. */
const struct kueue_conf *workload_simulation_conf(const struct workload_simulation *s);
const struct forest *workload_simulation_forest(const struct workload_simulation *s);
/* The same, for trial changes that are undone before the next cycle. */
struct forest *workload_simulation_forest_to_try(struct workload_simulation *s);
/* The status that the Workload would have in the API; lives until the next call and through one
 * cycle. */
const struct workload_status *workload_simulation_status(const struct workload_simulation *s,
							 const struct workload *w);
/* It holds quota, and its admission checks are not ready. w NULL: false. */
bool workload_simulation_waits_for_checks(const struct workload_simulation *s,
					  const struct workload *w);
/* The status.admission of its manifest, JSON; NULL: there was none, or it was admitted again since.
 */
const char *workload_simulation_admission(const struct workload_simulation *s,
					  const struct workload *w);

#endif
