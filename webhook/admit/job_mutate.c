#include "admit/job_mutate.h"

#include "admit/admit_check.h"
#include "admit/job_queue.h"
#include "api/batch.h"
#include "api/kueue_keys.h"

struct plan {
	const char *queue, *class; /* labels to add; NULL: none */
	bool suspend;
};

static bool is_managed(const struct admit_request *q, const struct api_job *job,
		       const struct plan *p)
{
	return p->queue != NULL || job_queue_name(job) != NULL ||
	       q->options->manage_jobs_without_queue;
}

static struct plan make_plan(const struct admit_request *q, const struct api_job *job)
{
	struct plan p = { 0 };

	if (job_queue_has_managed_owner(job)) {
		return p;
	}
	if (job_queue_name(job) == NULL &&
	    admit_has_default_queue(q->view, q->review->namespace_)) {
		p.queue = KUEUE_DEFAULT_QUEUE;
	}
	if (!is_managed(q, job, &p)) {
		return p;
	}
	if (q->view->has_default_class && job_queue_class(job) == NULL &&
	    job->spec.template_.spec.priority_class_name == NULL) {
		p.class = KUEUE_DEFAULT_PRIORITY_CLASS;
	}
	p.suspend = !batch_is_suspended(job);
	return p;
}

static void add_labels(const struct api_job *job, const struct plan *p, struct admit_answer *a)
{
	const struct {
		const char *key, *value;
	} rows[] = { { KUEUE_PRIORITY_CLASS, p->class }, { KUEUE_QUEUE_NAME, p->queue } };

	if (job->meta.labels.v == NULL && (p->queue != NULL || p->class != NULL)) {
		admit_patch_add(a, "/metadata/labels", NULL);
		json_out_object(&a->out);
		json_out_object_end(&a->out);
		admit_patch_end(a);
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].value != NULL) {
			admit_patch_add(a, "/metadata/labels", rows[i].key);
			json_out_str(&a->out, rows[i].value);
			admit_patch_end(a);
		}
	}
}

int job_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	struct api_job job = { 0 };
	int verb = admit_check_read(q, &batch_job_fields, &job, &job, err);
	struct plan p;

	if (verb != ADMIT_CHECK_CREATE) {
		return verb < 0 ? verb : 0;
	}
	p = make_plan(q, &job);
	add_labels(&job, &p, ret);
	if (p.suspend) {
		admit_patch_add(ret, "/spec/suspend", NULL);
		json_out_bool(&ret->out, true);
		admit_patch_end(ret);
	}
	admit_patch_close(ret);
	return 0;
}
