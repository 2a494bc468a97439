/* scheduler/controllers/job_podset.h: what the Workload of a Job says, and whether a Workload says
 * it (Kueue: batch/job integration; one pod set "main"). Pure; texts that are made live in the
 * arena given, others are borrowed from the Job. */
#ifndef SCHEDULER_CONTROLLERS_JOB_PODSET_H
#define SCHEDULER_CONTROLLERS_JOB_PODSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define JOB_PODSET_MAIN "main"
#define JOB_PODSET_NAME_MAX 253 /* bytes of a Workload's name */

struct api_job;
struct api_workload;
struct arena;
struct jdoc;
struct json_out;

/* Values of priority classes; a name NULL asks for the default of its kind. False: there is none.
 */
struct job_podset_classes {
	void *ctx;
	/* WorkloadPriorityClass */
	bool (*queue_class)(void *ctx, const char *name, int32_t *ret);
	/* PriorityClass; *ret_name is the name of the class found */
	bool (*pod_class)(void *ctx, const char *name, const char **ret_name, int32_t *ret);
};

struct job_podset {
	const char *name; /* of the Workload */
	const char *queue;
	const char *class_group, *class_kind, *class_name; /* NULL: no priorityClassRef */
	int32_t priority;
	int32_t count;
	int32_t min_count;     /* 0: no partial admission */
	int32_t max_execution; /* seconds; 0: no limit */
	const char *gated_by;  /* admission-gated-by; NULL: not gated */
};

/* False: a priority class that the Job names is not known yet, *ret is not good. */
bool job_podset_of(const struct api_job *job, const struct job_podset_classes *classes,
		   struct arena *arena, struct job_podset *ret);
/* Whether w stands for the pods of the Job. Once a Job has been started (or is being stopped) its
 * template holds what the admission added, and its parallelism may be that of a partial admission:
 * that is no difference. */
bool job_podset_matches(const struct job_podset *p, const struct api_job *job,
			const struct api_workload *w);
/* Whether w has queue, priority and gate of p. */
bool job_podset_is_synced(const struct job_podset *p, const struct api_workload *w);

/* The JSON of spec.podSets is written in two parts, with the pod template between them. */
void job_podset_open(const struct job_podset *p, struct json_out *o); /* up to `"template":` */
void job_podset_close(struct json_out *o);                            /* behind it */
/* Members of spec besides podSets; with nulls where p has nothing, if `replace`. */
void job_podset_spec(const struct job_podset *p, bool replace, struct json_out *o);
/* The pod template of a Job as a Workload keeps it: without what the Job controller adds. NULL:
 * the document has none. The caller owns it. */
struct jdoc *job_podset_template(const struct jdoc *job);
/* A label of the pod template that the Job controller adds. */
bool job_podset_is_controller_label(const char *key);

#endif
