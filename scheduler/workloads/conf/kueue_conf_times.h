/* scheduler/workloads/conf/kueue_conf_times.h: time limits of Workloads from Kueue's configuration
 * file: waitForPodsReady, objectRetentionPolicies, and the feature gates DisableWaitForPodsReady
 * and UnadmittedWorkloadsExplicitStatus. Any thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_TIMES_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_TIMES_H

#include "scheduler/workloads/model/quota.h"

struct err;
struct jdoc;

/* d: the whole file; NULL: Kueue's defaults. Errors name the field. */
int kueue_conf_times_read(const struct jdoc *d, struct quota_times *ret, struct err *err);

#endif
