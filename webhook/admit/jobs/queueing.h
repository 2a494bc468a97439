/* webhook/admit/jobs/queueing.h: labels and annotations about queueing on Jobs and pods, and the
 * rules that both share. Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_QUEUEING_H
#define WEBHOOK_ADMIT_JOBS_QUEUEING_H

#include <stdbool.h>

#include "webhook/admit/admit_check.h"

struct api_meta;

#define QUEUEING_LABEL(key) "metadata.labels[" key "]"
#define QUEUEING_ANNOTATION(key) "metadata.annotations[" key "]"

/* The labels with the LocalQueue and the WorkloadPriorityClass; NULL: absent or empty. */
const char *queueing_queue(const struct api_meta *m);
const char *queueing_class(const struct api_meta *m); /* see queueing_queue */
/* The controller in ownerReferences. Any tenant may write this field, so an external framework
 * counts as the owner only if an account of that framework writes the object. */
enum queueing_owner {
	QUEUED_OWNER_NONE,     /* no controller, or none of an external framework */
	QUEUED_OWNER_EXTERNAL, /* the object is queued through its owner */
	QUEUED_OWNER_FORGED,   /* an external framework, but none of its accounts wrote this */
};
enum queueing_owner queueing_owner(const struct admit_request *q, const struct api_meta *m);
/* Denies a forged owner of a Job that queues: the scheduler would leave the Job to that owner's
 * controller. */
void queueing_check_forged(const struct admit_check *c, const struct api_meta *meta);
/* The same for an owner that is added, or was there before the Job came to queue. old: the object
 * before, all zero at creation. */
void queueing_check_owner(const struct admit_check *c, const struct api_meta *old,
			  const struct api_meta *meta);
bool queueing_is_owned_by_job(const struct api_meta *m); /* the controller is a batch/v1 Job */
/* Both absent, or the same text. */
bool queueing_is_same(const char *a, const char *b);

/* Adds labels, and the map if there is none. A row without a value is skipped. */
struct queueing_label {
	const char *key, *value;
};
void queueing_add_labels(struct admit_answer *a, const struct api_meta *m,
			 const struct queueing_label *v, size_t n);

/* Checks the labels for queue, class, prebuilt Workload and time limit. */
void queueing_check_labels(const struct admit_check *c, const struct api_meta *m);
/* Denies annotations that would be ignored, unless the object had them before. */
void queueing_check_unsupported(const struct admit_check *c, const char *path,
				const struct api_meta *old, const struct api_meta *meta);
/* While the object runs, queue and time limit cannot change, and a class can be neither added nor
 * removed. state: "the job is not suspended". */
void queueing_check_running(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta, const char *state);
/* Denies removing the queue where the default one would be set again. */
void queueing_check_removal(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta);

#endif
