/* scheduler/ctl/quota_table.h: what the quota part of a simulation decided, for people: who was
 * admitted where, who preempted whom and why, who waits for what. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_TABLE_H
#define SCHEDULER_CTL_QUOTA_TABLE_H

#include <stdio.h>

#include "ctl/quota_simulation.h"

/* Each prints nothing when there is nothing to tell, else an empty line and a table. */
void quota_table_decisions(const struct quota_simulation *s, FILE *to);
void quota_table_waiting(const struct quota_simulation *s, FILE *to);
void quota_table_shares(const struct quota_simulation *s, FILE *to);
void quota_table_capacity(const struct quota_simulation *s, FILE *to);
void quota_table_workloads(const struct quota_simulation *s, FILE *to);
void quota_table_events(const struct quota_simulation *s, FILE *to);

#endif
