#include "admit/job_validate.h"

#include "admit/admit_check.h"
#include "admit/job_queue.h"
#include "api/batch.h"
#include "api/kueue_keys.h"

#define LABEL(key) "metadata.labels[" key "]"
#define ANNOTATION(key) "metadata.annotations[" key "]"

static void check_time(const struct admit_check *c, const struct api_job *job)
{
	const char *text = field_map_get(&job->meta.labels, KUEUE_MAX_EXEC_TIME);
	int64_t n = 0;

	if (text != NULL && (!str_to_i64(str_of(text), &n) || n < 1 || n > INT32_MAX)) {
		admit_check_deny(c, LABEL(KUEUE_MAX_EXEC_TIME),
				 "\"%s\" is not a number of seconds from 1 to %d", text, INT32_MAX);
	}
}

static void check_min_parallelism(const struct admit_check *c, const struct api_job *job)
{
	const char *text = field_map_get(&job->meta.annotations, KUEUE_JOB_MIN_PARALLELISM);
	int32_t most = batch_pod_count(job) - 1;
	int64_t n = 0;

	if (text == NULL) {
		return;
	}
	if (!str_to_i64(str_of(text), &n)) {
		admit_check_deny(c, ANNOTATION(KUEUE_JOB_MIN_PARALLELISM),
				 "\"%s\" is not an integer", text);
	} else if (n < 1 || n > most) {
		admit_check_deny(c, ANNOTATION(KUEUE_JOB_MIN_PARALLELISM),
				 "%s is not between 1 and %d, one less than the pods", text, most);
	}
}

static void check_equal_completions(const struct admit_check *c, const struct api_job *job)
{
	static const char path[] = ANNOTATION(KUEUE_JOB_COMPLETIONS_EQUAL);
	const char *text = field_map_get(&job->meta.annotations, KUEUE_JOB_COMPLETIONS_EQUAL);
	int32_t completions = job->spec.completions == FIELD_NO_I32 ? 1 : job->spec.completions;
	bool on = false;

	if (text == NULL) {
		return;
	}
	if (!job_queue_parse_bool(text, &on)) {
		admit_check_deny(c, path, "\"%s\" is neither true nor false", text);
	} else if (on && !str_streq(job->spec.completion_mode, "Indexed")) {
		admit_check_deny(c, path, "only for Jobs with spec.completionMode Indexed");
	} else if (on && completions != batch_parallelism(job)) {
		admit_check_deny(c, path, "spec.completions (%d) must equal spec.parallelism (%d)",
				 completions, batch_parallelism(job));
	}
}

/* What would be ignored is refused, unless it was there before we were. */
static void check_unsupported(const struct admit_check *c, const char *path,
			      const struct api_meta *old, const struct api_meta *meta)
{
	static const struct {
		const char *key, *why;
	} rows[] = {
		{ KUEUE_ELASTIC_JOB, "elastic jobs are not supported" },
		{ KUEUE_TOPOLOGY_REQUIRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_PREFERRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_UNCONSTRAINED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_SLICE_REQUIRED, "topology-aware scheduling is not supported" },
		{ KUEUE_TOPOLOGY_SLICE_SIZE, "topology-aware scheduling is not supported" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = field_map_get(&meta->annotations, rows[i].key);
		const char *was = field_map_get(&old->annotations, rows[i].key);

		if (value != NULL && !str_streq(value, "false") && !str_streq(value, was)) {
			admit_check_deny(c, admit_check_path(c, "%s[%s]", path, rows[i].key), "%s",
					 rows[i].why);
		}
	}
}

static void check_write(const struct admit_check *c, const struct api_job *old,
			const struct api_job *job, bool create)
{
	admit_check_subdomain(c, LABEL(KUEUE_QUEUE_NAME), job_queue_name(job));
	admit_check_subdomain(c, LABEL(KUEUE_PRIORITY_CLASS), job_queue_class(job));
	admit_check_subdomain(c, LABEL(KUEUE_PREBUILT_WORKLOAD),
			      field_map_get(&job->meta.labels, KUEUE_PREBUILT_WORKLOAD));
	check_time(c, job);
	check_unsupported(c, "metadata.annotations", &old->meta, &job->meta);
	check_unsupported(c, "spec.template.metadata.annotations", &old->spec.template_.meta,
			  &job->spec.template_.meta);
	/* A job that was started with fewer pods than it asked for has that number in its spec. */
	if (create || batch_is_suspended(job)) {
		check_min_parallelism(c, job);
		check_equal_completions(c, job);
	}
}

static bool same(const char *a, const char *b)
{
	return (a == NULL && b == NULL) || str_streq(a, b);
}

static void check_running(const struct admit_check *c, const struct api_job *old,
			  const struct api_job *job)
{
	static const char why[] = "field is immutable while the job is not suspended";
	const char *was = job_queue_class(old), *is = job_queue_class(job);

	if (!same(job_queue_name(old), job_queue_name(job))) {
		admit_check_deny(c, LABEL(KUEUE_QUEUE_NAME), "%s", why);
	}
	if (!same(field_map_get(&old->meta.labels, KUEUE_MAX_EXEC_TIME),
		  field_map_get(&job->meta.labels, KUEUE_MAX_EXEC_TIME))) {
		admit_check_deny(c, LABEL(KUEUE_MAX_EXEC_TIME), "%s", why);
	}
	if ((was == NULL) != (is == NULL)) {
		admit_check_deny(c, LABEL(KUEUE_PRIORITY_CLASS),
				 "cannot be %s while the job is "
				 "not suspended",
				 is == NULL ? "removed" : "added");
	}
	if (!batch_is_suspended(old) &&
	    field_map_get(&job->meta.annotations, KUEUE_JOB_MIN_PARALLELISM) != NULL &&
	    batch_parallelism(old) != batch_parallelism(job)) {
		admit_check_deny(c, "spec.parallelism",
				 "field is immutable while the job is not suspended, "
				 "with " KUEUE_JOB_MIN_PARALLELISM);
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
	check_write(&c, &old, &job, create);
	if (!create && !batch_is_suspended(&job)) {
		check_running(&c, &old, &job);
	}
	if (!create && job_queue_name(&old) != NULL && job_queue_name(&job) == NULL &&
	    admit_has_default_queue(q->view, q->review->namespace_)) {
		admit_check_deny(&c, LABEL(KUEUE_QUEUE_NAME),
				 "cannot be removed where there is a LocalQueue \"default\"");
	}
	return 0;
}
