/* scheduler/conf/quota_times.h: time limits of Workloads from Kueue's configuration file:
 * waitForPodsReady, objectRetentionPolicies, and the feature gates DisableWaitForPodsReady and
 * UnadmittedWorkloadsExplicitStatus. Any thread. */
#ifndef SCHEDULER_CONF_QUOTA_TIMES_H
#define SCHEDULER_CONF_QUOTA_TIMES_H

#include "model/quota_model.h"

struct err;
struct jdoc;

/* d: the whole file; NULL: Kueue's defaults. Errors name the field. */
int quota_times_read(const struct jdoc *d, struct quota_times *ret, struct err *err);

#endif
