#include "webhook/admit/jobs/job_mutate.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "webhook/admit/admit_check.h"
#include "webhook/admit/jobs/queueing.h"

/* A Job that is owned by another Job is suspended as well. Whether the owner exists and is admitted
 * is decided by the scheduler, which then starts the Job. */
struct plan {
	const char *queue, *class; /* labels to add; NULL: none */
	bool suspend;
};

static bool is_managed(const struct admit_request *q, const struct api_job *job,
		       const struct plan *p)
{
	return p->queue != NULL || queueing_queue(&job->meta) != NULL ||
	       q->options->manage_jobs_without_queue;
}

static struct plan make_plan(const struct admit_request *q, const struct api_job *job)
{
	struct plan p = { 0 };

	/* The controller of an external framework queues the Job through its owner. */
	if (queueing_owner(q, &job->meta) == QUEUED_OWNER_EXTERNAL) {
		return p;
	}
	if (queueing_queue(&job->meta) == NULL &&
	    admit_has_default_queue(q->view, q->review->namespace_)) {
		p.queue = KUEUE_DEFAULT_QUEUE;
	}
	if (!is_managed(q, job, &p)) {
		return p;
	}
	/* A PriorityClass of the pods is a choice, too, and is not overruled by the default. */
	if (q->view->has_default_class && queueing_class(&job->meta) == NULL &&
	    job->spec.template_.spec.priority_class_name == NULL) {
		p.class = KUEUE_DEFAULT_PRIORITY_CLASS;
	}
	p.suspend = !batch_is_suspended(job);
	return p;
}

int job_mutate(const struct admit_request *q, struct admit_answer *ret, struct err *err)
{
	const struct admit_check c = { q, ret };
	struct api_job job = { 0 };
	int verb = admit_check_read(q, &batch_job_fields, &job, &job, err);
	struct plan p;

	if (verb != ADMIT_CHECK_CREATE) {
		return verb < 0 ? verb : 0;
	}
	p = make_plan(q, &job);
	/* By the plan and not by the label that the user wrote: a forged owner is no way around
	 * the default queue. */
	if (is_managed(q, &job, &p)) {
		queueing_check_forged(&c, &job.meta);
	}
	queueing_add_labels(ret, &job.meta,
			    (const struct queueing_label[]){ { KUEUE_PRIORITY_CLASS, p.class },
							     { KUEUE_QUEUE_NAME, p.queue } },
			    2);
	if (p.suspend) {
		admit_patch_add(ret, "/spec/suspend", NULL);
		json_out_bool(&ret->out, true);
		admit_patch_end(ret);
	}
	admit_patch_close(ret);
	return 0;
}
