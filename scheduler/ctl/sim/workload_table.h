/* scheduler/ctl/sim/workload_table.h: the decisions of the Workload engine in a simulation as
 * tables: admissions, preemptions with their reason, and the reasons why workloads wait. One
 * thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_TABLE_H
#define SCHEDULER_CTL_SIM_WORKLOAD_TABLE_H

#include <stdio.h>

#include "scheduler/ctl/sim/workload_simulation.h"

/* Each prints an empty line and a table, or nothing if the table has no rows. */
void workload_table_decisions(const struct workload_simulation *s, FILE *to);
void workload_table_waiting(const struct workload_simulation *s, FILE *to);
void workload_table_shares(const struct workload_simulation *s, FILE *to);
void workload_table_capacity(const struct workload_simulation *s, FILE *to);
void workload_table_workloads(const struct workload_simulation *s, FILE *to);
void workload_table_events(const struct workload_simulation *s, FILE *to);

#endif
