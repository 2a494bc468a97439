/* common/api/core/batch.h: batch/v1 Job as far as queueing needs it. Plain data in an arena. */
#ifndef COMMON_API_CORE_BATCH_H
#define COMMON_API_CORE_BATCH_H

#include "api/core/pod.h"
#include "api/meta/meta.h"
#include "enc/field.h"

struct api_job_spec {
	int32_t parallelism; /* FIELD_NO_I32: absent, default 1 */
	int32_t completions; /* FIELD_NO_I32: any pod's success completes the job */
	int32_t backoff_limit;
	const char *completion_mode; /* NonIndexed (default), Indexed */
	int8_t suspend;              /* FIELD_TRI_ABSENT, default false */
	const char *managed_by;
	struct api_pod_template template_;
};
struct api_uncounted_pods { /* UIDs */
	struct field_strs failed, succeeded;
};
struct api_job_status {
	struct api_conditions conditions;
	int64_t start_time, completion_time; /* FIELD_NO_TIME */
	int32_t active, ready, succeeded, failed, terminating;
	const char *completed_indexes, *failed_indexes; /* "1,3-5,7" */
	struct api_uncounted_pods uncounted;
};
struct api_job {
	const char *api_version, *kind;
	struct api_meta meta;
	struct api_job_spec spec;
	struct api_job_status status;
};

extern const struct field_table batch_job_fields;

int32_t batch_parallelism(const struct api_job *job); /* absent is 1 */
bool batch_is_suspended(const struct api_job *job);   /* spec.suspend */
/* The number of pods that run at once: parallelism, or completions if that is less. */
int32_t batch_pod_count(const struct api_job *job);
/* Returns the condition Complete or Failed that is True; NULL: the Job is not finished. */
const struct api_condition *batch_finished(const struct api_job *job);

#endif
