/* scheduler/ctl/manifest/other_objects.h: Jobs and pods of the input that no engine decides about,
 * with the reason. Pods that have a node or have ended are not named: they only use up their node.
 * One thread. */
#ifndef SCHEDULER_CTL_MANIFEST_OTHER_OBJECTS_H
#define SCHEDULER_CTL_MANIFEST_OTHER_OBJECTS_H

#include <stdbool.h>

#include "scheduler/ctl/sim/sim_report.h"

/* The API server writes it where a pod names no scheduler. */
#define OTHER_OBJECTS_KUBE_SCHEDULER "default-scheduler"

struct jdoc;
struct kueue_conf_owners;
struct sim_input;

/* NULL: the pod has no label of a queue, or has a Workload for it. A constant text. */
const char *other_objects_label_in_vain(const struct jdoc *pod,
					const struct kueue_conf_owners *owners);
/* Whether the Job queues by itself, so that its pods are those of its Workload. */
bool other_objects_job_queues(const struct jdoc *job, const struct kueue_conf_owners *owners);
/* After admission; reasons are constant texts. gate_schedulers: as of manifest_admit. The caller
 * frees; keys live as long as in. */
struct sim_report_other *other_objects_list(struct sim_input *in,
					    const struct kueue_conf_owners *owners,
					    const char *const *gate_schedulers, size_t *ret_n);

#endif
