/* scheduler/ctl/quota_explain_json.h: an explanation for scripts. Amounts are quantities; a limit
 * that is not set, and an amount without limit, is left out. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_EXPLAIN_JSON_H
#define SCHEDULER_CTL_QUOTA_EXPLAIN_JSON_H

#include "base/strbuf.h"
#include "ctl/quota_explain.h"

/* Appends one object. */
void quota_explain_json_write(const struct quota_explanation *x, struct strbuf *out);

#endif
