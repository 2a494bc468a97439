/* scheduler/workloads/owners/job_podset.h: the contents of the Workload of a Job, and whether a
 * Workload matches them (Kueue: batch/job integration; one pod set "main"). Pure; texts that are
 * made live in the arena given, others are borrowed from the Job. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_JOB_PODSET_H
#define SCHEDULER_WORKLOADS_OWNERS_JOB_PODSET_H

#include <stdbool.h>

#include "scheduler/workloads/owners/owner_spec.h"

struct api_job;
struct api_workload;
struct arena;
struct jdoc;

/* False: a priority class that the Job names is not known yet, *ret is unchanged. */
bool job_podset_of(const struct api_job *job, const struct owner_spec_classes *classes,
		   struct arena *arena, struct owner_spec *ret);
/* Whether w stands for the pods of the Job. Once a Job has been started (or is being stopped) its
 * template holds what the admission added, and its parallelism may be that of a partial admission:
 * that is no difference. */
bool job_podset_matches(const struct owner_spec *s, const struct api_job *job,
			const struct api_workload *w);

/* The Job was started, or stopped, and its template not restored since: while it is suspended its
 * template and parallelism may still be those of an admission. */
bool job_podset_is_marked(const struct api_job *job);

/* The pod template of a Job as a Workload keeps it: without what the Job controller adds. NULL:
 * the document has none. The caller owns it. */
struct jdoc *job_podset_template(const struct jdoc *job);
/* A label of the pod template that the Job controller adds. */
bool job_podset_is_controller_label(const char *key);

#endif
