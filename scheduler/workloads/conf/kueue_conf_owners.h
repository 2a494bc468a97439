/* scheduler/workloads/conf/kueue_conf_owners.h: which Jobs and pods queue, from Kueue's
 * configuration file: manageJobsWithoutQueueName, managedJobsNamespaceSelector, integrations. Any
 * thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_OWNERS_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/meta/selector.h"

struct arena;
struct err;
struct jdoc;

#define KUEUE_CONF_OWNERS_MAX_KINDS 256 /* in each list of integrations */

struct kueue_conf_owners_kind { /* of objects that queue for what they own */
	const char *group, *kind;
};

struct kueue_conf_owners {
	bool without_queue_name;
	/* Without managedJobsNamespaceSelector: all namespaces but kube-system and that of
	 * `namespace`. */
	struct selector namespaces;
	bool jobs, pods; /* integrations batch/job and pod; default: batch/job */
	/* Of labels and annotations that Workloads get of them: integrations.labelKeysToCopy; what
	 * metrics.customLabels reads of Workloads, kueue_conf_read adds. */
	struct field_strs label_keys, annotation_keys;
	/* integrations.externalFrameworks: another controller queues for what these own. */
	const struct kueue_conf_owners_kind *others;
	size_t nothers;
};

/* d: the whole file; NULL: Kueue's defaults. Everything lives in the arena. Errors name the field.
 */
int kueue_conf_owners_read(const struct jdoc *d, struct arena *arena, struct kueue_conf_owners *ret,
			   struct err *err);
/* The i-th kind that Kueue integrates and Headgate does not; NULL: there are no more. */
const struct kueue_conf_owners_kind *kueue_conf_owners_unsupported(size_t i);

#endif
