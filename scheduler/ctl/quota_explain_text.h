/* scheduler/ctl/quota_explain_text.h: an explanation in tables for people. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_EXPLAIN_TEXT_H
#define SCHEDULER_CTL_QUOTA_EXPLAIN_TEXT_H

#include <stdio.h>

#include "ctl/quota_explain.h"

#define QUOTA_EXPLAIN_TEXT_ROWS 20 /* of workloads or queues; how many more there are is said */

/* The head in lines, then a table each for what holds it, the arithmetic, and whom it may preempt
 * or who may preempt it; tables without rows are left out. */
void quota_explain_text_print(const struct quota_explanation *x, FILE *to);

#endif
