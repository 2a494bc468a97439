/* scheduler/ctl/explain/workload_explain_text.h: prints an explanation as tables. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_TEXT_H
#define SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_TEXT_H

#include <stdio.h>

#include "scheduler/ctl/explain/workload_explain.h"

#define WORKLOAD_EXPLAIN_TEXT_ROWS 20 /* of workloads or queues; the rest is only counted */

/* The summary in lines, then a table each for the obstacles, the amounts, and the workloads that it
 * may preempt or the queues that may preempt it; tables without rows are left out. */
void workload_explain_text_print(const struct workload_explanation *x, FILE *to);

#endif
