/* scheduler/ctl/explain/pod_explain_text.h: prints the explanation of a pod. */
#ifndef SCHEDULER_CTL_EXPLAIN_POD_EXPLAIN_TEXT_H
#define SCHEDULER_CTL_EXPLAIN_POD_EXPLAIN_TEXT_H

#include <stdio.h>

struct pod_explanation;

/* As lines and a table for people, or as one JSON object. */
void pod_explain_text_print(const struct pod_explanation *x, FILE *to);
void pod_explain_text_print_json(const struct pod_explanation *x, FILE *to);

#endif
