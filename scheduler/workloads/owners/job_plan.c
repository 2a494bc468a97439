#include "scheduler/workloads/owners/job_plan.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "scheduler/workloads/owners/job_podset.h"
#include "scheduler/workloads/owners/job_start.h"
#include "scheduler/workloads/owners/job_status.h"

struct planning {
	const struct job_plan_of *of;
	const struct api_job *job;
	const struct owner_plan_env *env;
	struct owner_plan *plan;
	struct owner_spec spec;
};

static void plan_status(struct planning *p, const struct api_workload *w, const char *reason,
			const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct job_status_options opt = { .pods_ready = p->env->pods_ready,
						.finished_reason = reason,
						.finished_message = message,
						.now = p->env->now };

	if (job_status_apply(p->job, w, &opt, &body)) {
		owner_plan_status(p->plan, w, &body,
				  reason != NULL || batch_finished(p->job) != NULL);
	}
}

static struct owner_plan_refs refs_of(const struct planning *p)
{
	return (struct owner_plan_refs){ "batch/v1", "Job", true, &p->plan->about, 1 };
}

/* --- writes about the Job ----------------------------------------------------------------------
 */

/* Whether the Job runs, or a start that is in flight may make it run: the API server accepts only
 * one of two patches with the same resourceVersion. */
static bool runs(const struct planning *p)
{
	return !batch_is_suspended(p->job) || p->of->starting;
}

static void plan_suspend(struct planning *p, const char *why)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (!runs(p) || batch_finished(p->job) != NULL) {
		return;
	}
	job_start_suspend(p->job, &body);
	owner_plan_set_event(owner_plan_add(p->plan, OWNER_JOB_SUSPEND, NULL, &body), "Stopped",
			     why);
}

/* The API server refuses another node selector as long as status.startTime is set. */
static void plan_reset(struct planning *p)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	job_start_reset(p->job, &body);
	(void)owner_plan_add(p->plan, OWNER_JOB_RESET, NULL, &body);
}

/* Plans the rest of a stop, whichever client suspended the Job: a Job with the mark has another
 * template than its Workload. Kubernetes accepts no other template as long as it counts pods that
 * run, and since 1.36 removes the start time of a stopped Job by itself. */
static bool plan_stopping(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (runs(p) || !job_podset_is_marked(p->job)) {
		return false;
	}
	if (p->job->status.active > 0) {
		return true; /* planned again when they end */
	}
	if (w != NULL && p->job->status.start_time != FIELD_NO_TIME) {
		plan_reset(p);
	} else {
		job_start_restore(p->job, w, &body);
		(void)owner_plan_add(p->plan, OWNER_JOB_RESTORE, NULL, &body);
	}
	return true;
}

static void plan_start(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct err err = ERR_INIT;
	int r;

	if (!owner_plan_may_start(p->env, w) || p->job->status.active > 0) {
		return; /* it is about to change */
	}
	if (p->job->status.start_time != FIELD_NO_TIME) {
		plan_reset(p); /* another client had started it, then suspended it */
		return;
	}
	r = job_start_patch(p->job, w, &p->env->flavors, &body, &err);
	if (r == -ERR_INVALID) {
		plan_status(p, w, "FailedToStart", arena_dup(p->plan->arena, err.text));
	}
	if (r < 0) {
		return; /* planned again when the flavor comes */
	}
	owner_plan_set_event(owner_plan_add(p->plan, OWNER_JOB_START, NULL, &body), "Started",
			     arena_printf(p->plan->arena, "Admitted by clusterQueue %s",
					  w->status.admission->cluster_queue));
}

/* --- the order ---------------------------------------------------------------------------------
 */

/* Chooses the matching Workload and deletes the Job's other Workloads; the first one that differs
 * is returned in *ret_other for an update, if it may be changed. A Job that has ended is not
 * compared: its user may have started it by hand with other pods than the Workload got quota for,
 * and that quota is free now. */
static const struct api_workload *choose(struct planning *p, const struct api_workload **ret_other)
{
	const struct api_workload *match = NULL, *other = NULL;
	bool suspended = !runs(p);

	for (size_t i = 0; match == NULL && i < p->of->n; i++) {
		const struct api_workload *w = p->of->workloads[i];

		if (owner_plan_is_owned_by(w, &p->job->meta) &&
		    (batch_finished(p->job) != NULL || job_podset_matches(&p->spec, p->job, w))) {
			match = w;
		}
	}
	for (size_t i = 0; i < p->of->n; i++) {
		const struct api_workload *w = p->of->workloads[i];

		if (w == match) {
			continue;
		}
		if (suspended && match == NULL && other == NULL &&
		    owner_plan_is_owned_by(w, &p->job->meta) && !kueue_workload_is_reserving(w) &&
		    !kueue_workload_is_true(w, KUEUE_FINISHED) &&
		    w->meta.deleted == FIELD_NO_TIME) {
			other = w;
		} else if (!owner_plan_is_owned_by(w, &p->job->meta)) {
			owner_plan_drop_finalizer(
				p->plan,
				w); /* of an earlier Job: the garbage collector deletes it */
		} else if (suspended) {
			owner_plan_delete(p->plan, w);
		}
	}
	*ret_other = other;
	return match;
}

/* The prebuilt Workload that the Job names: it must match, and the Job becomes its owner. */
static const struct api_workload *choose_prebuilt(struct planning *p)
{
	const struct api_workload *w = p->of->prebuilt;

	if (w == NULL) {
		plan_suspend(p, "The prebuilt Workload does not exist");
		return NULL;
	}
	if (meta_controller(&w->meta) == NULL) {
		struct owner_plan_refs refs = refs_of(p);

		owner_plan_adopt(p->plan, &refs, w);
		return NULL;
	}
	if (!owner_plan_is_owned_by(w, &p->job->meta)) {
		plan_suspend(p, "The prebuilt Workload belongs to another owner");
		return NULL;
	}
	if (!kueue_workload_is_true(w, KUEUE_FINISHED) &&
	    !job_podset_matches(&p->spec, p->job, w)) {
		plan_status(p, w, "OutOfSync", "The prebuilt workload is out of sync with its job");
		plan_suspend(p, "The prebuilt Workload is out of sync with its Job");
		return NULL;
	}
	return w;
}

static void plan_without(struct planning *p, const struct api_workload *other)
{
	plan_suspend(p, "No matching Workload");
	if (runs(p) || batch_finished(p->job) != NULL || p->job->status.active > 0) {
		return;
	}
	if (plan_stopping(p, other)) {
		return;
	}
	if (other != NULL) {
		owner_plan_update(p->plan, &p->spec, other);
	} else if (p->plan->writes.n == 0) { /* the name is free again */
		struct owner_plan_refs refs = refs_of(p);

		(void)owner_spec_copy_labels(&p->job->meta, p->env->label_keys, p->plan->arena,
					     &p->spec);
		(void)owner_spec_copy_notes(&p->job->meta, p->env->annotation_keys, p->plan->arena,
					    &p->spec);
		owner_plan_create(p->plan, &p->spec, &refs, false);
	}
}

/* The Job is suspended: it is started when it may run; else an event says which checks it waits
 * for. */
static void plan_waiting(struct planning *p, const struct api_workload *w)
{
	const char *checks;

	if (owner_plan_is_admitted(w)) {
		plan_start(p, w);
	} else if (kueue_workload_is_reserving(w)) {
		checks = owner_plan_checks(p->plan, w);
		if (checks != NULL) {
			(void)owner_plan_note(p->plan, false, "UpdatedAdmissionCheck", checks);
		}
	}
}

static void plan_with(struct planning *p, const struct api_workload *w)
{
	const struct api_condition *evicted;

	if (w->meta.deleted != FIELD_NO_TIME) {
		plan_suspend(p, "The workload is deleted");
		if (batch_finished(p->job) != NULL ||
		    (!runs(p) && p->job->status.active == 0 && !plan_stopping(p, w))) {
			owner_plan_drop_finalizer(p->plan, w);
		}
		return;
	}
	if (kueue_workload_is_true(w, KUEUE_FINISHED)) {
		plan_suspend(p, "The workload is finished");
		(void)plan_stopping(p, w);
		return;
	}
	plan_status(p, w, NULL, NULL);
	if (batch_finished(p->job) != NULL) {
		return;
	}
	owner_plan_sync(p->plan, &p->spec, w);
	evicted = meta_condition(&w->status.conditions, KUEUE_EVICTED);
	if (kueue_workload_is_true(w, KUEUE_EVICTED)) {
		plan_suspend(p, evicted->message);
		(void)plan_stopping(p, w);
	} else if (!batch_is_suspended(p->job)) {
		if (!owner_plan_is_admitted(w)) {
			plan_suspend(p, "Not admitted by cluster queue");
		}
	} else if (!plan_stopping(p, w)) {
		plan_waiting(p, w);
	}
}

/* A Job that belongs to an owner that queues runs when the owner does. If the Job queues itself,
 * the webhook suspends it at creation, and it is started here; other Jobs are started by the
 * controller that made them. */
static void plan_nested(struct planning *p)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	bool queues = owner_plan_is_managed(p->env, &p->job->meta);
	bool holds = p->of->place == JOB_PLAN_HELD || (p->of->place == JOB_PLAN_TOO_DEEP && queues);

	if (p->of->place == JOB_PLAN_TOO_DEEP) {
		(void)owner_plan_note(
			p->plan, true, "JobNestingTooDeep",
			arena_printf(p->plan->arena,
				     "Terminated search for Kueue-managed Job because ancestor "
				     "depth exceeded limit of %d",
				     JOB_PLAN_MAX_DEPTH));
	}
	if (batch_finished(p->job) != NULL) {
		return;
	}
	if (holds && runs(p)) {
		job_start_hold(p->job, &body);
		owner_plan_set_event(owner_plan_add(p->plan, OWNER_JOB_SUSPEND, NULL, &body),
				     "Suspended", "Kueue managed child job suspended");
	} else if (p->of->place == JOB_PLAN_NESTED && queues && batch_is_suspended(p->job)) {
		job_start_nested(p->job, &body);
		owner_plan_set_event(owner_plan_add(p->plan, OWNER_JOB_START, NULL, &body),
				     "Started", "Admitted with the owner that queues for it");
	}
}

/* Kueue's order: a Job that is gone or going; Jobs that are not ours; exactly one Workload; then
 * the write that the Workload's state asks for. */
void job_plan(const struct job_plan_of *of, const struct owner_plan_env *env,
	      struct owner_plan *ret)
{
	struct planning p = { of, of->job, env, ret, { 0 } };
	const struct api_workload *match, *other = NULL;

	if (of->job == NULL || of->job->meta.deleted != FIELD_NO_TIME) {
		for (size_t i = 0; i < of->n; i++) {
			owner_plan_drop_finalizer(ret, of->workloads[i]);
		}
		return;
	}
	ret->namespace_ = of->job->meta.namespace_;
	ret->about = (struct owner_write_object){ of->job->meta.name, of->job->meta.uid };
	if (of->place != JOB_PLAN_OWN) {
		plan_nested(&p);
		return;
	}
	if (!owner_plan_is_managed(env, &of->job->meta)) {
		return;
	}
	if (!job_podset_of(of->job, &env->classes, ret->arena, &p.spec)) {
		owner_plan_note_class(ret, &of->job->meta,
				      of->job->spec.template_.spec.priority_class_name);
		return; /* planned again when the class comes */
	}
	if (owner_spec_prebuilt(&of->job->meta) != NULL) {
		match = choose_prebuilt(&p);
		if (match == NULL) {
			return;
		}
	} else {
		match = choose(&p, &other);
	}
	if (match != NULL) {
		plan_with(&p, match);
	} else {
		plan_without(&p, other);
	}
}
