/* scheduler/ctl/manifest/other_objects.h: Jobs and pods of the input that no engine decides about,
 * with the reason. Pods that have a node or have ended are not named: they only use up their node.
 * One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_OTHER_OBJECTS_H
#define SCHEDULER_CTL_MANIFEST_OTHER_OBJECTS_H

#include "scheduler/ctl/sim/sim_report.h"

struct kueue_conf_owners;
struct sim_input;

/* After admission; reasons are constant texts. The caller frees; keys live as long as in. */
struct sim_report_other *other_objects_list(struct sim_input *in,
					    const struct kueue_conf_owners *owners, size_t *ret_n);

#endif
