#include "scheduler/multikueue/manager/carried_job.h"

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/mirror.h"
#include "scheduler/multikueue/manager/replica_body.h"

static const char *const counts[] = { "active", "ready", "terminating" };

static const struct api_meta *meta(const void *object)
{
	const struct api_job *job = object;

	return &job->meta;
}

static const char *refusal(const void *local, struct arena *arena)
{
	const struct api_job *job = local;
	const char *by = job->spec.managed_by;

	return str_streq(by, KUEUE_MULTIKUEUE_CONTROLLER)
		       ? NULL
		       : arena_printf(arena,
				      "The owner is not managed by Kueue: Expecting "
				      "spec.managedBy to be \"%s\" not \"%s\"",
				      KUEUE_MULTIKUEUE_CONTROLLER, by == NULL ? "" : by);
}

static bool is_true(const struct api_job *job, const char *type)
{
	return meta_condition_is_true(&job->status.conditions, type);
}

static void status_text(const struct api_job *job, struct strbuf *out)
{
	struct api_job copy;

	decode_init(&batch_job_fields, &copy);
	copy.status = job->status;
	encode_text(&batch_job_fields, &copy, out);
}

static bool same_status(const struct api_job *a, const struct api_job *b)
{
	CLEANUP(strbuf_finish) struct strbuf x = STRBUF_INIT;
	CLEANUP(strbuf_finish) struct strbuf y = STRBUF_INIT;

	status_text(a, &x);
	status_text(b, &y);
	return str_eq(strbuf_str(&x), strbuf_str(&y));
}

/* The API server refuses to take the time from a Job that is not suspended: it stays until the
 * local Job is, too. */
static bool keeps_start(bool suspended, bool has_start, bool remote_has_start)
{
	return !suspended && has_start && !remote_has_start;
}

static enum carried_due due(const struct carried_object *here, const struct carried_object *there)
{
	const struct api_job *local = here->object, *remote = there->object;

	if (batch_is_suspended(local) && !batch_is_suspended(remote) &&
	    batch_finished(remote) == NULL) {
		return is_true(local, "Suspended") ? CARRIED_DUE_NOTHING : CARRIED_DUE_SUSPENDED;
	}
	if (keeps_start(batch_is_suspended(local), local->status.start_time != FIELD_NO_TIME,
			remote->status.start_time != FIELD_NO_TIME)) {
		struct api_job with_start = *remote;

		with_start.status.start_time = local->status.start_time;
		return same_status(local, &with_start) ? CARRIED_DUE_NOTHING : CARRIED_DUE_STATUS;
	}
	return same_status(local, remote) ? CARRIED_DUE_NOTHING : CARRIED_DUE_STATUS;
}

/* With SuccessCriteriaMet and FailureTarget the end is decided, and only pods have to stop. */
static bool is_ending(const void *local)
{
	return batch_finished(local) != NULL || is_true(local, "SuccessCriteriaMet") ||
	       is_true(local, "FailureTarget");
}

static bool has_ended(const void *object)
{
	return batch_finished(object) != NULL;
}

static bool is_active(const void *local)
{
	const struct api_job *job = local;

	return job->status.active != 0;
}

static bool is_held(const void *local)
{
	return batch_is_suspended(local);
}

/* --- patches of the local status ---------------------------------------------------------------*/

static void copy_status(const struct jdoc *local, const struct jdoc *remote, struct jdoc *status)
{
	const struct jdoc *to = jdoc_get(remote, "status");

	mirror_difference(jdoc_get(local, "status"), to, status);
	if (keeps_start(jdoc_bool(jdoc_path(local, "spec.suspend"), false),
			jdoc_path(local, "status.startTime") != NULL,
			jdoc_get(to, "startTime") != NULL)) {
		(void)jdoc_remove(status, "startTime");
	}
}

static void say_suspended(const struct jdoc *local, int64_t now, struct jdoc *status)
{
	const struct jdoc *old = jdoc_path(local, "status.conditions");
	struct jdoc *list = jdoc_ensure_array(status, "conditions"), *c;
	char time[CLOCK_RFC3339_MAX];

	/* A list is replaced as a whole: the others stay. */
	for (const struct jdoc *m = jdoc_first(old); m != NULL; m = jdoc_next(m)) {
		if (!jdoc_is_str(jdoc_get(m, "type"), "Suspended")) {
			jdoc_append_take(list, jdoc_copy(m));
		}
	}
	clock_format_time(now, time);
	c = jdoc_append_take(list, jdoc_new_object());
	jdoc_set_str(c, "type", "Suspended");
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "reason", "MultiKueueAdapter");
	jdoc_set_str(c, "message", "The Job is suspended on the manager cluster");
	jdoc_set_str(c, "lastTransitionTime", time);
}

static void sync(const struct jdoc *local, const struct jdoc *remote, enum carried_due what,
		 int64_t now, struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = mirror_patch(local, &status);

	if (what == CARRIED_DUE_SUSPENDED) {
		say_suspended(local, now, status);
	} else {
		copy_status(local, remote, status);
	}
	jdoc_format(patch, out);
}

static void reset(const struct jdoc *local, struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = mirror_patch(local, &status);

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		if (jdoc_get(jdoc_get(local, "status"), counts[i]) != NULL) {
			jdoc_set_int(status, counts[i], 0);
		}
	}
	jdoc_format(patch, out);
}

/* --- the remote Job ----------------------------------------------------------------------------*/

/* Labels of pods that the API server generates for the local Job. batch.kubernetes.io/job-name is
 * the same on every cluster. */
static const char *const generated[] = { "controller-uid", "job-name",
					 "batch.kubernetes.io/controller-uid" };
#define JOB_NAME_LABEL "batch.kubernetes.io/job-name"

/* `to` may be of another kind than an object: then it stays for the worker's API server to refuse.
 */
static void restore(struct jdoc *to, const char *key, const struct jdoc *from)
{
	const struct jdoc *value = jdoc_get(from, key);

	if (jdoc_kind(to) != JDOC_OBJECT) {
		return;
	}
	if (value == NULL) {
		(void)jdoc_remove(to, key);
	} else {
		jdoc_set_take(to, key, jdoc_copy(value));
	}
}

/* An admission on this cluster changes the template: node selector and tolerations of its flavors,
 * labels, annotations and gates. The only pod set of the Workload has it as the user made it, and
 * the worker compares the two. */
static void restore_template(struct jdoc *template, const struct jdoc *podset)
{
	static const char *const of_spec[] = { "nodeSelector", "tolerations", "schedulingGates" };
	struct jdoc *meta = jdoc_ensure_object(template, "metadata");
	struct jdoc *spec = jdoc_ensure_object(template, "spec");
	const struct jdoc *then_meta = jdoc_path(podset, "template.metadata");
	const struct jdoc *then_spec = jdoc_path(podset, "template.spec");
	CLEANUP(jdoc_destroyp)
	struct jdoc *name =
		jdoc_new_str(jdoc_str_or(jdoc_get(jdoc_get(meta, "labels"), JOB_NAME_LABEL), ""));

	restore(meta, "labels", then_meta);
	restore(meta, "annotations", then_meta);
	if (jdoc_str(name)[0] != '\0') {
		struct jdoc *labels = jdoc_ensure_object(meta, "labels");

		if (labels != NULL) {
			jdoc_set_str(labels, JOB_NAME_LABEL, jdoc_str(name));
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(of_spec); i++) {
		restore(spec, of_spec[i], then_spec);
	}
}

/* Only a partial admission changes the number of pods. */
static void restore_count(struct jdoc *spec, const struct jdoc *notes, const struct jdoc *podset)
{
	int64_t count = jdoc_int(jdoc_get(podset, "count"), 1);

	if (jdoc_get(podset, "minCount") == NULL) {
		return;
	}
	jdoc_set_int(spec, "parallelism", count);
	if (jdoc_is_str(jdoc_get(notes, KUEUE_JOB_COMPLETIONS_EQUAL), "true")) {
		jdoc_set_int(spec, "completions", count);
	}
}

static void fill_spec(struct jdoc *spec, const struct jdoc *notes, const struct jdoc *workload)
{
	/* The selector is that of the local Job's UID; made by hand, it needs labels that go. */
	static const char *const members[] = { "selector", "manualSelector", "managedBy",
					       "ttlSecondsAfterFinished" };
	struct jdoc *template = jdoc_ensure_object(spec, "template"), *labels;
	const struct jdoc *sets = jdoc_path(workload, "spec.podSets");

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		(void)jdoc_remove(spec, members[i]);
	}
	jdoc_set_bool(spec, "suspend", true);
	if (template == NULL) {
		return; /* of another kind: the worker's API server refuses it */
	}
	if (jdoc_count(sets) == 1) {
		restore_template(template, jdoc_at(sets, 0));
		restore_count(spec, notes, jdoc_at(sets, 0));
	}
	labels = jdoc_get_mut(jdoc_get_mut(template, "metadata"), "labels");
	for (size_t i = 0; labels != NULL && i < ARRAY_LEN(generated); i++) {
		(void)jdoc_remove(labels, generated[i]);
	}
}

static void create(const struct jdoc *local, const struct jdoc *workload,
		   const struct replica_body_manager *by, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = replica_body_object("batch/v1", "Job", local);
	struct jdoc *labels = replica_body_map(jdoc_path(local, "metadata.labels"));
	struct jdoc *notes = replica_body_map(jdoc_path(local, "metadata.annotations"));
	struct jdoc *spec = jdoc_set_take(d, "spec", replica_body_map(jdoc_get(local, "spec")));

	for (size_t i = 0; i < ARRAY_LEN(generated); i++) {
		(void)jdoc_remove(labels, generated[i]);
	}
	/* Marks of what this cluster's job reconciler has done with the local Job. */
	(void)jdoc_remove(notes, KEYS_STARTED);
	(void)jdoc_remove(notes, KUEUE_STOPPING);
	fill_spec(spec, notes, workload);
	replica_body_name(workload, by, labels, notes, d);
	jdoc_format(d, out);
}

const struct carried_kind carried_job_kind = {
	.api_version = "batch/v1",
	.kind = "Job",
	.resource = SCHED_JOBS,
	.core_finishes = true,
	.meta = meta,
	.refusal = refusal,
	.has_ended = has_ended,
	.is_ending = is_ending,
	.is_active = is_active,
	.is_held = is_held,
	.due = due,
	.sync = sync,
	.reset = reset,
	.create = create,
};
