/* scheduler/ctl/sim/workload_report.h: the decisions of the Workload engine in a simulation, as
 * members of the JSON object that sim_report.h writes. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_REPORT_H
#define SCHEDULER_CTL_SIM_WORKLOAD_REPORT_H

#include "scheduler/ctl/sim/workload_simulation.h"

struct json_out;

/* Items of `decisions` and `events`: those of one cycle. */
void workload_report_decisions(const struct workload_simulation *s, unsigned cycle,
			       struct json_out *o);
void workload_report_events(const struct workload_simulation *s, unsigned cycle,
			    struct json_out *o);
/* Values of `queues`, `waiting`, `shares`, `capacity`, `workloads`. Members by name. */
void workload_report_queues(const struct workload_simulation *s, struct json_out *o);
void workload_report_waiting(const struct workload_simulation *s, struct json_out *o);
void workload_report_shares(const struct workload_simulation *s, struct json_out *o);
void workload_report_capacity(const struct workload_simulation *s, struct json_out *o);
void workload_report_workloads(const struct workload_simulation *s, struct json_out *o);

#endif
