/* scheduler/ctl/sim/workload_table.h: what the quota part of a simulation decided, for people: who
 * was admitted where, who preempted whom and why, who waits for what. One thread. */
#ifndef SCHEDULER_CTL_SIM_WORKLOAD_TABLE_H
#define SCHEDULER_CTL_SIM_WORKLOAD_TABLE_H

#include <stdio.h>

#include "scheduler/ctl/sim/workload_simulation.h"

/* Each prints nothing when there is nothing to tell, else an empty line and a table. */
void workload_table_decisions(const struct workload_simulation *s, FILE *to);
void workload_table_waiting(const struct workload_simulation *s, FILE *to);
void workload_table_shares(const struct workload_simulation *s, FILE *to);
void workload_table_capacity(const struct workload_simulation *s, FILE *to);
void workload_table_workloads(const struct workload_simulation *s, FILE *to);
void workload_table_events(const struct workload_simulation *s, FILE *to);

#endif
