#include "controllers/job_plan.h"

#include "api/batch.h"
#include "api/kueue.h"
#include "api/kueue_keys.h"
#include "api/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "controllers/job_status.h"
#include "enc/json_out.h"

struct planning {
	const struct job_plan_of *of;
	const struct api_job *job;
	const struct job_plan_env *env;
	struct arena *arena;
	struct job_plan *plan;
	struct job_podset podset;
};

void job_plan_finish(struct job_plan *p)
{
	vec_finish(&p->writes);
}

const char *job_plan_prebuilt(const struct api_job *job)
{
	const char *name = field_map_get(&job->meta.labels, KUEUE_PREBUILT_WORKLOAD);

	if (name == NULL) {
		name = field_map_get(&job->meta.annotations, KUEUE_PREBUILT_WORKLOAD);
	}
	return name == NULL || name[0] == '\0' ? NULL : name;
}

static struct job_plan_write *add(struct planning *p, enum job_plan_kind kind,
				  const struct api_workload *w, const struct strbuf *body)
{
	struct job_plan_write new = { .kind = kind, .workload = w == NULL ? NULL : w->meta.name };

	if (body != NULL) {
		new.body = arena_dup_n(p->arena, body->p, body->len);
	}
	vec_push(&p->plan->writes, new);
	return &p->plan->writes.v[p->plan->writes.n - 1];
}

static void tell(struct job_plan_write *w, const char *event, const char *message)
{
	w->event = event;
	w->message = message == NULL ? "" : message;
}

static bool is_true(const struct api_workload *w, const char *type)
{
	return kueue_condition_is_true(&w->status.conditions, type);
}

static bool is_admitted(const struct api_workload *w)
{
	return kueue_workload_is_reserving(w) && is_true(w, KUEUE_ADMITTED) &&
	       w->status.admission != NULL;
}

static bool is_owned_by(const struct api_workload *w, const struct api_job *job)
{
	const struct api_owner *owner = meta_controller(&w->meta);

	return owner != NULL && str_streq(owner->uid, job->meta.uid);
}

static bool has_finalizer(const struct api_workload *w)
{
	for (size_t i = 0; i < w->meta.finalizers.n; i++) {
		if (str_streq(w->meta.finalizers.v[i], KUEUE_FINALIZER)) {
			return true;
		}
	}
	return false;
}

/* --- writes about Workloads --------------------------------------------------------------------
 */

static void open_workload(struct json_out *o, struct strbuf *body, const struct api_workload *w)
{
	json_out_init(o, body);
	json_out_object(o);
	json_out_key(o, "metadata");
	json_out_object(o);
	json_out_kv(o, "uid", w->meta.uid);
	json_out_kv(o, "resourceVersion", w->meta.resource_version);
}

static void plan_release(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	if (!has_finalizer(w)) {
		return;
	}
	open_workload(&o, &body, w);
	json_out_key(&o, "finalizers");
	json_out_array(&o);
	for (size_t i = 0; i < w->meta.finalizers.n; i++) {
		if (!str_streq(w->meta.finalizers.v[i], KUEUE_FINALIZER)) {
			json_out_str(&o, w->meta.finalizers.v[i]);
		}
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)add(p, JOB_PLAN_RELEASE, w, &body);
}

/* The finalizer goes first: a Workload that nobody needs must not wait for somebody to look. */
static void plan_delete(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	if (w->meta.deleted != FIELD_NO_TIME || has_finalizer(w)) {
		plan_release(p, w); /* the change brings us here again */
		return;
	}
	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", "v1");
	json_out_kv(&o, "kind", "DeleteOptions");
	json_out_key(&o, "preconditions");
	json_out_object(&o);
	json_out_kv(&o, "uid", w->meta.uid);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)add(p, JOB_PLAN_DELETE, w, &body);
}

static void plan_status(struct planning *p, const struct api_workload *w, const char *reason,
			const char *message)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct job_status_options opt = { .pods_ready = p->env->pods_ready,
						.finished_reason = reason,
						.finished_message = message,
						.now = p->env->now };

	if (!job_status_apply(p->job, w, &opt, &body)) {
		return;
	}
	(void)add(p, JOB_PLAN_STATUS, w, &body);
}

static void write_owner(struct json_out *o, const struct api_job *job)
{
	json_out_key(o, "ownerReferences");
	json_out_array(o);
	json_out_object(o);
	json_out_kv(o, "apiVersion", "batch/v1");
	json_out_kv(o, "kind", "Job");
	json_out_kv(o, "name", job->meta.name);
	json_out_kv(o, "uid", job->meta.uid);
	json_out_kv_bool(o, "controller", true);
	json_out_kv_bool(o, "blockOwnerDeletion", true);
	json_out_object_end(o);
	json_out_array_end(o);
}

static void write_gate(struct json_out *o, const struct job_podset *podset, bool replace)
{
	if (podset->gated_by == NULL && !replace) {
		return;
	}
	json_out_key(o, "annotations");
	json_out_object(o);
	json_out_kv(o, KUEUE_ADMISSION_GATED_BY, podset->gated_by);
	json_out_object_end(o);
}

/* Writes to one buffer; the template goes where it is cut. */
static void add_cut(struct planning *p, enum job_plan_kind kind, const struct api_workload *w,
		    const struct strbuf *text, size_t cut)
{
	struct job_plan_write new = { .kind = kind,
				      .workload = w == NULL ? p->podset.name : w->meta.name };

	new.body = arena_dup_n(p->arena, text->p, cut);
	new.tail = arena_dup_n(p->arena, text->p + cut, text->len - cut);
	if (kind == JOB_PLAN_CREATE) {
		tell(&new, "CreatedWorkload",
		     arena_printf(p->arena, "Created Workload: %s/%s", p->job->meta.namespace_,
				  new.workload));
	}
	vec_push(&p->plan->writes, new);
}

static size_t write_podsets(struct json_out *o, struct strbuf *body,
			    const struct job_podset *podset)
{
	size_t cut;

	json_out_key(o, "podSets");
	job_podset_open(podset, o);
	cut = body->len;
	json_out_raw(o, STR_LIT(""));
	job_podset_close(o);
	return cut;
}

static void plan_create(struct planning *p)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	const struct api_job *job = p->job;
	struct json_out o;
	size_t cut;

	json_out_init(&o, &body);
	json_out_object(&o);
	json_out_kv(&o, "apiVersion", KUEUE_API_VERSION);
	json_out_kv(&o, "kind", "Workload");
	json_out_key(&o, "metadata");
	json_out_object(&o);
	json_out_kv(&o, "namespace", job->meta.namespace_);
	json_out_kv(&o, "name", p->podset.name);
	json_out_key(&o, "labels");
	json_out_object(&o);
	json_out_kv(&o, KUEUE_JOB_UID, job->meta.uid);
	json_out_object_end(&o);
	write_gate(&o, &p->podset, false);
	json_out_key(&o, "finalizers");
	json_out_array(&o);
	json_out_str(&o, KUEUE_FINALIZER);
	json_out_array_end(&o);
	write_owner(&o, job);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	cut = write_podsets(&o, &body, &p->podset);
	job_podset_spec(&p->podset, false, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	add_cut(p, JOB_PLAN_CREATE, NULL, &body, cut);
}

static void plan_update(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;
	size_t cut;

	open_workload(&o, &body, w);
	write_gate(&o, &p->podset, true);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	cut = write_podsets(&o, &body, &p->podset);
	job_podset_spec(&p->podset, true, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	add_cut(p, JOB_PLAN_UPDATE, w, &body, cut);
}

/* Queue, priority and gate follow the Job. Of a Workload that holds quota only the gate and the
 * WorkloadPriorityClass may still change. */
static void plan_sync(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct job_podset podset = p->podset;
	struct json_out o;

	podset.max_execution =
		w->spec.max_execution_time == FIELD_NO_I32 ? 0 : w->spec.max_execution_time;
	if (kueue_workload_is_reserving(w)) {
		const struct api_priority_ref *ref = w->spec.priority_class_ref;

		podset.queue = w->spec.queue_name == NULL ? "" : w->spec.queue_name;
		if (ref == NULL || !str_streq(ref->group, KUEUE_GROUP) ||
		    !str_streq(podset.class_group, KUEUE_GROUP)) {
			podset.class_group = ref == NULL ? NULL : ref->group;
			podset.class_kind = ref == NULL ? NULL : ref->kind;
			podset.class_name = ref == NULL ? NULL : ref->name;
			podset.priority = w->spec.priority == FIELD_NO_I32 ? 0 : w->spec.priority;
		}
	}
	if (job_podset_is_synced(&podset, w)) {
		return;
	}
	open_workload(&o, &body, w);
	write_gate(&o, &podset, true);
	json_out_object_end(&o);
	json_out_key(&o, "spec");
	json_out_object(&o);
	job_podset_spec(&podset, true, &o);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)add(p, JOB_PLAN_SYNC, w, &body);
}

static void plan_adopt(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct json_out o;

	open_workload(&o, &body, w);
	write_owner(&o, p->job);
	json_out_object_end(&o);
	json_out_object_end(&o);
	json_out_end(&o);
	(void)add(p, JOB_PLAN_SYNC, w, &body);
}

/* --- writes about the Job ----------------------------------------------------------------------
 */

static void plan_suspend(struct planning *p, const char *why)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (batch_is_suspended(p->job) || batch_finished(p->job) != NULL) {
		return;
	}
	job_start_suspend(p->job, &body);
	tell(add(p, JOB_PLAN_SUSPEND, NULL, &body), "Stopped", why);
}

/* The rest of a stop: a Job that bears the mark is not as its Workload remembers it. */
static bool plan_stopping(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	if (!batch_is_suspended(p->job) ||
	    field_map_get(&p->job->meta.annotations, KUEUE_STOPPING) == NULL) {
		return false;
	}
	if (w != NULL && p->job->status.start_time != FIELD_NO_TIME) {
		job_start_reset(p->job, &body);
		(void)add(p, JOB_PLAN_RESET, NULL, &body);
	} else {
		job_start_restore(p->job, w, &body);
		(void)add(p, JOB_PLAN_RESTORE, NULL, &body);
	}
	return true;
}

static void plan_start(struct planning *p, const struct api_workload *w)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct err err = ERR_INIT;
	int r = job_start_patch(p->job, w, &p->env->flavors, &body, &err);

	if (r == -ERR_INVALID) {
		plan_status(p, w, "FailedToStart", arena_dup(p->arena, err.text));
	}
	if (r < 0) {
		return; /* a flavor that comes brings us here again */
	}
	tell(add(p, JOB_PLAN_START, NULL, &body), "Started",
	     arena_printf(p->arena, "Admitted by clusterQueue %s",
			  w->status.admission->cluster_queue));
}

/* --- the order ---------------------------------------------------------------------------------
 */

/* The Workload that stands for the Job; all others that are its go. A first one that only says
 * something else is handed out in *ret_other, if it may be changed. */
static const struct api_workload *choose(struct planning *p, const struct api_workload **ret_other)
{
	const struct api_workload *match = NULL, *other = NULL;
	bool suspended = batch_is_suspended(p->job);

	for (size_t i = 0; match == NULL && i < p->of->n; i++) {
		const struct api_workload *w = p->of->workloads[i];

		if (is_owned_by(w, p->job) && job_podset_matches(&p->podset, p->job, w)) {
			match = w;
		}
	}
	for (size_t i = 0; i < p->of->n; i++) {
		const struct api_workload *w = p->of->workloads[i];

		if (w == match) {
			continue;
		}
		if (suspended && match == NULL && other == NULL && is_owned_by(w, p->job) &&
		    !kueue_workload_is_reserving(w) && !is_true(w, KUEUE_FINISHED) &&
		    w->meta.deleted == FIELD_NO_TIME) {
			other = w;
		} else if (!is_owned_by(w, p->job)) {
			plan_release(p,
				     w); /* of an earlier Job: the garbage collector deletes it */
		} else if (suspended) {
			plan_delete(p, w);
		}
	}
	*ret_other = other;
	return match;
}

/* A Workload that the Job brings: it must fit, and it becomes owned. */
static const struct api_workload *choose_prebuilt(struct planning *p)
{
	const struct api_workload *w = p->of->prebuilt;

	if (w == NULL) {
		plan_suspend(p, "The prebuilt Workload does not exist");
		return NULL;
	}
	if (meta_controller(&w->meta) == NULL) {
		plan_adopt(p, w);
		return NULL;
	}
	if (!is_owned_by(w, p->job)) {
		plan_suspend(p, "The prebuilt Workload belongs to somebody else");
		return NULL;
	}
	if (!is_true(w, KUEUE_FINISHED) && !job_podset_matches(&p->podset, p->job, w)) {
		plan_status(p, w, "OutOfSync", "The prebuilt workload is out of sync with its job");
		plan_suspend(p, "The prebuilt Workload is out of sync with its Job");
		return NULL;
	}
	return w;
}

static void plan_without(struct planning *p, const struct api_workload *other)
{
	plan_suspend(p, "No matching Workload");
	if (!batch_is_suspended(p->job) || batch_finished(p->job) != NULL ||
	    p->job->status.active > 0) {
		return;
	}
	if (plan_stopping(p, other)) {
		return;
	}
	if (other != NULL) {
		plan_update(p, other);
	} else if (p->plan->writes.n == 0) { /* the name is free again */
		plan_create(p);
	}
}

static void plan_with(struct planning *p, const struct api_workload *w)
{
	const struct api_condition *evicted;

	if (w->meta.deleted != FIELD_NO_TIME) {
		plan_suspend(p, "The workload is deleted");
		if (batch_finished(p->job) != NULL ||
		    (batch_is_suspended(p->job) && p->job->status.active == 0 &&
		     !plan_stopping(p, w))) {
			plan_release(p, w);
		}
		return;
	}
	if (is_true(w, KUEUE_FINISHED)) {
		plan_suspend(p, "The workload is finished");
		(void)plan_stopping(p, w);
		return;
	}
	plan_status(p, w, NULL, NULL);
	if (batch_finished(p->job) != NULL) {
		return;
	}
	plan_sync(p, w);
	evicted = meta_condition(&w->status.conditions, KUEUE_EVICTED);
	if (is_true(w, KUEUE_EVICTED)) {
		plan_suspend(p, evicted->message);
		(void)plan_stopping(p, w);
	} else if (!batch_is_suspended(p->job)) {
		if (!is_admitted(w)) {
			plan_suspend(p, "Not admitted by cluster queue");
		}
	} else if (!plan_stopping(p, w) && is_admitted(w)) {
		plan_start(p, w);
	}
}

/* Kueue's order: a Job that is gone or going; Jobs that are not ours; exactly one Workload; then
 * what the Workload's state asks for. */
void job_plan(const struct job_plan_of *of, const struct job_plan_env *env, struct arena *arena,
	      struct job_plan *ret)
{
	struct planning p = { of, of->job, env, arena, ret, { 0 } };
	const struct api_workload *match, *other = NULL;
	const char *queue;

	if (of->job == NULL || of->job->meta.deleted != FIELD_NO_TIME) {
		for (size_t i = 0; i < of->n; i++) {
			plan_release(&p, of->workloads[i]);
		}
		return;
	}
	queue = field_map_get(&of->job->meta.labels, KUEUE_QUEUE_NAME);
	if ((queue == NULL || queue[0] == '\0') && !env->without_queue_name) {
		return;
	}
	if (!job_podset_of(of->job, &env->classes, arena, &p.podset)) {
		return; /* the class that comes brings us here again */
	}
	if (job_plan_prebuilt(of->job) != NULL) {
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
