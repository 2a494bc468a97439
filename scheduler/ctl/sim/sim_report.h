/* scheduler/ctl/sim/sim_report.h: the decisions of a simulation, as one JSON object or as tables.
 * One thread. */
#ifndef SCHEDULER_CTL_SIM_SIM_REPORT_H
#define SCHEDULER_CTL_SIM_SIM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct workload_simulation;
struct simulation;
struct strbuf;

/* The two engines; both ran the same number of cycles. */
struct sim_report_parts {
	const struct simulation *pods;
	const struct workload_simulation *quota; /* NULL: nothing to report */
};

/* Additional sections. */
struct sim_report_show {
	bool shares, capacity, workloads, events;
};

/* Appends the object, without a newline. */
void sim_report_json(const struct sim_report_parts *parts, const struct sim_report_show *show,
		     struct strbuf *out);
void sim_report_table(const struct sim_report_parts *parts, const struct sim_report_show *show,
		      FILE *to);

#endif
