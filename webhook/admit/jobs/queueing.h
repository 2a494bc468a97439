/* webhook/admit/jobs/queueing.h: what a Job or a pod says to the queue, and the rules that both
 * keep. Any thread. */
#ifndef WEBHOOK_ADMIT_JOBS_QUEUEING_H
#define WEBHOOK_ADMIT_JOBS_QUEUEING_H

#include <stdbool.h>

#include "webhook/admit/admit_check.h"

struct api_meta;

#define QUEUEING_LABEL(key) "metadata.labels[" key "]"
#define QUEUEING_ANNOTATION(key) "metadata.annotations[" key "]"

/* The label, NULL when it is absent or empty. */
const char *queueing_queue(const struct api_meta *m);
const char *queueing_class(const struct api_meta *m); /* WorkloadPriorityClass, likewise */
/* The controller in ownerReferences, a field that anybody may write: it counts as external only if
 * an account of the external framework writes the object. */
enum queueing_owner {
	QUEUED_OWNER_NONE,     /* no controller, or none of an external framework */
	QUEUED_OWNER_EXTERNAL, /* another controller queues for the object */
	QUEUED_OWNER_FORGED,   /* of an external framework, but its accounts did not write this */
};
enum queueing_owner queueing_owner(const struct admit_request *q, const struct api_meta *m);
/* A Job that queues gets no forged owner: the scheduler leaves to its controller what has one. old:
 * what was there before, all zero at creation. */
void queueing_check_owner(const struct admit_check *c, const struct api_meta *old,
			  const struct api_meta *meta);
bool queueing_is_owned_by_job(const struct api_meta *m); /* the controller is a batch/v1 Job */
/* Both absent, or the same text. */
bool queueing_is_same(const char *a, const char *b);

/* Adds labels, with the map when there is none. A row without a value is left out. */
struct queueing_label {
	const char *key, *value;
};
void queueing_add_labels(struct admit_answer *a, const struct api_meta *m,
			 const struct queueing_label *v, size_t n);

/* Queue, class, prebuilt Workload and time limit. */
void queueing_check_labels(const struct admit_check *c, const struct api_meta *m);
/* What would be ignored is refused, unless it was there before we were. */
void queueing_check_unsupported(const struct admit_check *c, const char *path,
				const struct api_meta *old, const struct api_meta *meta);
/* Of what runs queue and limit stay, and a class can be neither added nor removed; state: "the job
 * is not suspended". */
void queueing_check_running(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta, const char *state);
/* A queue can be taken off only where nobody would be given the default one. */
void queueing_check_removal(const struct admit_check *c, const struct api_meta *old,
			    const struct api_meta *meta);

#endif
