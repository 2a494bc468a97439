/* scheduler/workloads/conf/kueue_conf_owners.h: which Jobs and pods queue, from Kueue's
 * configuration file: manageJobsWithoutQueueName, managedJobsNamespaceSelector, integrations. Any
 * thread. */
#ifndef SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_OWNERS_H
#define SCHEDULER_WORKLOADS_CONF_KUEUE_CONF_OWNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/meta/selector.h"
#include "enc/config.h"

struct arena;
struct err;
struct jdoc;

struct kueue_conf_owners_kind { /* of objects that queue for what they own */
	const char *group, *kind;
};

struct kueue_conf_owners {
	bool without_queue_name;
	const char *own_namespace; /* `namespace`; NULL: not given */
	bool some_namespaces;      /* there is a managedJobsNamespaceSelector */
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

/* Of the fields above, for struct kueue_conf_owners. */
extern const struct config_row kueue_conf_owners_rows[];
/* After the rows: the default selector. */
void kueue_conf_owners_finish(struct kueue_conf_owners *o, struct arena *arena);
/* The `read` of rows with a struct selector as their member. */
int kueue_conf_owners_read_selector(struct config_reader *r, const struct jdoc *d, void *at,
				    struct err *err);
/* d: the whole file; NULL: Kueue's defaults. Everything lives in the arena. Errors name the field.
 */
int kueue_conf_owners_read(const struct jdoc *d, struct arena *arena, struct kueue_conf_owners *ret,
			   struct err *err);
/* The i-th kind that Kueue integrates and Headgate does not; NULL: there are no more. */
const struct kueue_conf_owners_kind *kueue_conf_owners_unsupported(size_t i);

#endif
