#include "webhook/admit/jobs/job_validate.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "webhook/admit/admit_check.h"
#include "webhook/admit/jobs/queueing.h"

static void check_min_parallelism(const struct admit_check *c, const struct api_job *job)
{
	const char *text = field_map_get(&job->meta.annotations, KUEUE_JOB_MIN_PARALLELISM);
	/* As many as the Job has pods would be no partial admission. */
	int32_t most = batch_pod_count(job) - 1;
	int64_t n = 0;

	if (text == NULL) {
		return;
	}
	if (!str_to_i64(str_of(text), &n)) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_JOB_MIN_PARALLELISM),
				 "\"%s\" is not an integer", text);
	} else if (n < 1 || n > most) {
		admit_check_deny(c, QUEUEING_ANNOTATION(KUEUE_JOB_MIN_PARALLELISM),
				 "%s is not between 1 and %d (one less than the number of pods)",
				 text, most);
	}
}

/* As Go's strconv.ParseBool. False: neither. */
static bool parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
	static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_streq(text, yes[i]) || str_streq(text, no[i])) {
			*ret = str_streq(text, yes[i]);
			return true;
		}
	}
	return false;
}

static void check_equal_completions(const struct admit_check *c, const struct api_job *job)
{
	static const char path[] = QUEUEING_ANNOTATION(KUEUE_JOB_COMPLETIONS_EQUAL);
	const char *text = field_map_get(&job->meta.annotations, KUEUE_JOB_COMPLETIONS_EQUAL);
	int32_t completions = job->spec.completions == FIELD_NO_I32 ? 1 : job->spec.completions;
	bool on = false;

	if (text == NULL) {
		return;
	}
	if (!parse_bool(text, &on)) {
		admit_check_deny(c, path, "\"%s\" is neither true nor false", text);
	} else if (on && !str_streq(job->spec.completion_mode, "Indexed")) {
		admit_check_deny(c, path, "allowed for Jobs with spec.completionMode Indexed only");
	} else if (on && completions != batch_parallelism(job)) {
		admit_check_deny(c, path, "spec.completions (%d) must equal spec.parallelism (%d)",
				 completions, batch_parallelism(job));
	}
}

static bool same_annotation(const struct api_job *a, const struct api_job *b, const char *key)
{
	return str_streq(field_map_get(&a->meta.annotations, key),
			 field_map_get(&b->meta.annotations, key));
}

static bool changes_pods(const struct api_job *old, const struct api_job *job)
{
	return batch_parallelism(old) != batch_parallelism(job) ||
	       old->spec.completions != job->spec.completions ||
	       !str_streq(old->spec.completion_mode, job->spec.completion_mode) ||
	       !same_annotation(old, job, KUEUE_JOB_MIN_PARALLELISM) ||
	       !same_annotation(old, job, KUEUE_JOB_COMPLETIONS_EQUAL);
}

static void check_write(const struct admit_check *c, const struct api_job *old,
			const struct api_job *job, bool create)
{
	queueing_check_labels(c, &job->meta);
	queueing_check_unsupported(c, "metadata.annotations", &old->meta, &job->meta);
	queueing_check_unsupported(c, "spec.template.metadata.annotations",
				   &old->spec.template_.meta, &job->spec.template_.meta);
	/* A job that was started with fewer pods than requested (partial admission) keeps the lower
	 * number in its spec until it is restored, even when it is suspended again. */
	if (create || (batch_is_suspended(job) && changes_pods(old, job))) {
		check_min_parallelism(c, job);
		check_equal_completions(c, job);
	}
}

/* The least parallelism is the case in which the scheduler itself lowers spec.parallelism, when
 * it starts the Job: after that the number is what was admitted. */
static void check_running(const struct admit_check *c, const struct api_job *old,
			  const struct api_job *job)
{
	queueing_check_running(c, &old->meta, &job->meta, "the job is not suspended");
	if (!batch_is_suspended(old) &&
	    field_map_get(&job->meta.annotations, KUEUE_JOB_MIN_PARALLELISM) != NULL &&
	    batch_parallelism(old) != batch_parallelism(job)) {
		admit_check_deny(c, "spec.parallelism",
				 "field is immutable while a job with " KUEUE_JOB_MIN_PARALLELISM
				 " is not suspended");
	}
}

int job_validate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_job job = { 0 }, old = { 0 };
	int verb = admit_check_read(q, &batch_job_fields, &job, &old, err);
	bool create = verb == ADMIT_CHECK_CREATE;

	if (verb <= ADMIT_CHECK_OTHER) {
		return verb;
	}
	queueing_check_owner(&c, &old.meta, &job.meta);
	check_write(&c, &old, &job, create);
	/* By the new object: what starts the Job may not change its queue in the same write, and
	 * a write that suspends it may. */
	if (!create && !batch_is_suspended(&job)) {
		check_running(&c, &old, &job);
	}
	if (!create) {
		queueing_check_removal(&c, &old.meta, &job.meta);
	}
	return 0;
}
