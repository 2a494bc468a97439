/* scheduler/ctl/sim_report.h: what a simulation decided, as one JSON object or as tables for
 * people. One thread. */
#ifndef SCHEDULER_CTL_SIM_REPORT_H
#define SCHEDULER_CTL_SIM_REPORT_H

#include <stdbool.h>
#include <stdio.h>

struct simulation;
struct strbuf;

/* Sections beyond the usual ones. Those of the Workload engine are empty. */
struct sim_report_show {
	bool shares, capacity, workloads, events;
};

/* Appends the object, without a newline. */
void sim_report_json(const struct simulation *s, const struct sim_report_show *show,
		     struct strbuf *out);
void sim_report_table(const struct simulation *s, const struct sim_report_show *show, FILE *to);

#endif
