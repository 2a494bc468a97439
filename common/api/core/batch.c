#include "api/core/batch.h"

static const struct field spec_rows[] = {
	F_I32_OPT(struct api_job_spec, parallelism, "parallelism"),
	F_I32_OPT(struct api_job_spec, completions, "completions"),
	F_I32_OPT(struct api_job_spec, backoff_limit, "backoffLimit"),
	F_OBJ(struct api_job_spec, template_, "template", pod_template_fields),
	F_STR(struct api_job_spec, completion_mode, "completionMode"),
	F_TRI(struct api_job_spec, suspend, "suspend"),
	F_STR(struct api_job_spec, managed_by, "managedBy"),
};
static const struct field_table spec_fields = FIELD_TABLE(struct api_job_spec, spec_rows);

static const struct field uncounted_rows[] = {
	F_STRS(struct api_uncounted_pods, succeeded, "succeeded"),
	F_STRS(struct api_uncounted_pods, failed, "failed"),
};
static const struct field_table uncounted_fields =
	FIELD_TABLE(struct api_uncounted_pods, uncounted_rows);

static const struct field status_rows[] = {
	F_LIST(struct api_job_status, conditions, "conditions", meta_condition_fields),
	F_TIME(struct api_job_status, start_time, "startTime"),
	F_TIME(struct api_job_status, completion_time, "completionTime"),
	F_I32(struct api_job_status, active, "active"),
	F_I32(struct api_job_status, succeeded, "succeeded"),
	F_I32(struct api_job_status, failed, "failed"),
	F_I32(struct api_job_status, terminating, "terminating"),
	F_STR(struct api_job_status, completed_indexes, "completedIndexes"),
	F_STR(struct api_job_status, failed_indexes, "failedIndexes"),
	F_OBJ(struct api_job_status, uncounted, "uncountedTerminatedPods", uncounted_fields),
	F_I32(struct api_job_status, ready, "ready"),
};
static const struct field_table status_fields = FIELD_TABLE(struct api_job_status, status_rows);

static const struct field job_rows[] = {
	F_STR(struct api_job, api_version, "apiVersion"),
	F_STR(struct api_job, kind, "kind"),
	F_OBJ(struct api_job, meta, "metadata", meta_fields),
	F_OBJ(struct api_job, spec, "spec", spec_fields),
	F_OBJ(struct api_job, status, "status", status_fields),
};
const struct field_table batch_job_fields = FIELD_TABLE(struct api_job, job_rows);

int32_t batch_parallelism(const struct api_job *job)
{
	return job->spec.parallelism == FIELD_NO_I32 ? 1 : job->spec.parallelism;
}

bool batch_is_suspended(const struct api_job *job)
{
	return job->spec.suspend > 0;
}

/* No more pods run at once than are to complete; without completions parallelism is the number. */
int32_t batch_pod_count(const struct api_job *job)
{
	int32_t n = batch_parallelism(job);

	return job->spec.completions != FIELD_NO_I32 && job->spec.completions < n
		       ? job->spec.completions
		       : n;
}

/* SuccessCriteriaMet and FailureTarget do not count: with them pods of the Job may still run. */
const struct api_condition *batch_finished(const struct api_job *job)
{
	for (size_t i = 0; i < job->status.conditions.n; i++) {
		const struct api_condition *c = &job->status.conditions.v[i];

		if ((str_streq(c->type, "Complete") || str_streq(c->type, "Failed")) &&
		    str_streq(c->status, "True")) {
			return c;
		}
	}
	return NULL;
}
