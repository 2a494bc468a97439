/* scheduler/ctl/explain/workload_explain_json.h: an explanation for scripts. Amounts are
 * quantities; a limit that is not set, and an amount without limit, is left out. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_JSON_H
#define SCHEDULER_CTL_EXPLAIN_WORKLOAD_EXPLAIN_JSON_H

#include "base/strbuf.h"
#include "scheduler/ctl/explain/workload_explain.h"

/* Appends one object. */
void workload_explain_json_write(const struct workload_explanation *x, struct strbuf *out);

#endif
