/* scheduler/ctl/sim/sim_report.h: the decisions of a simulation, as one JSON object or as tables.
 * One thread. */
#ifndef SCHEDULER_CTL_SIM_SIM_REPORT_H
#define SCHEDULER_CTL_SIM_SIM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "scheduler/base/sched_kinds.h"

struct workload_simulation;
struct simulation;
struct strbuf;

/* An object that the simulation does not decide about. */
struct sim_report_other {
	enum sched_resource kind;
	const char *key, *reason;
};

/* The objects that were read. */
struct sim_report_input {
	size_t counts[SCHED_RESOURCE_COUNT_];
	const struct sim_report_other *others;
	size_t nothers;
	const char *const *warnings;
	size_t nwarnings;
	const struct sim_report_other *without; /* Jobs and pods that queue, but get no Workload */
	size_t nwithout;
};

/* The two engines; both ran the same number of cycles. */
struct sim_report_parts {
	const struct simulation *pods;
	const struct workload_simulation *quota; /* NULL: nothing to report */
	const struct sim_report_input *input;    /* NULL: not reported */
};

/* Additional sections. */
struct sim_report_show {
	bool shares, capacity, workloads, events;
};

/* Appends the object, without a newline. */
void sim_report_json(const struct sim_report_parts *parts, const struct sim_report_show *show,
		     struct strbuf *out);
/* The same facts for people; warnings are not repeated. */
void sim_report_table(const struct sim_report_parts *parts, const struct sim_report_show *show,
		      FILE *to);
/* Something waits: a Workload, a pod that is ours, or a Job that gets no Workload. */
bool sim_report_has_waiting(const struct sim_report_parts *parts);
/* Something was preempted or evicted. */
bool sim_report_has_preempted(const struct sim_report_parts *parts);

#endif
