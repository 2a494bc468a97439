/* scheduler/ctl/quota_report.h: what the quota part of a simulation decided, as members of the JSON
 * object that sim_report.h writes. One thread. */
#ifndef SCHEDULER_CTL_QUOTA_REPORT_H
#define SCHEDULER_CTL_QUOTA_REPORT_H

#include "ctl/quota_simulation.h"

struct json_out;

/* Items of `decisions` and `events`: those of one cycle. */
void quota_report_decisions(const struct quota_simulation *s, unsigned cycle, struct json_out *o);
void quota_report_events(const struct quota_simulation *s, unsigned cycle, struct json_out *o);
/* Values of `queues`, `shares`, `capacity`, `workloads`. Members by name. */
void quota_report_queues(const struct quota_simulation *s, struct json_out *o);
void quota_report_shares(const struct quota_simulation *s, struct json_out *o);
void quota_report_capacity(const struct quota_simulation *s, struct json_out *o);
void quota_report_workloads(const struct quota_simulation *s, struct json_out *o);

#endif
