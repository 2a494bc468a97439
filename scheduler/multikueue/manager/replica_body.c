#include "scheduler/multikueue/manager/replica_body.h"

#include <string.h>

#include "api/core/batch.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/meta/validate.h"
#include "api/volcano/keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/decode.h"
#include "enc/encode.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/condition_text.h"
#include "scheduler/orchestrate/token.h"

bool replica_body_is_ours(const struct api_meta *m, const struct replica_body_manager *by)
{
	const char *cluster = field_map_get(&m->annotations, REPLICA_BODY_MANAGER);

	return field_map_is(&m->labels, KUEUE_MULTIKUEUE_ORIGIN, by->origin) &&
	       (cluster == NULL || str_streq(cluster, by->cluster));
}

const char *replica_body_workload_of(const struct api_meta *job)
{
	const char *name = field_map_get(&job->annotations, KUEUE_PREBUILT_WORKLOAD);

	return name != NULL ? name : field_map_get(&job->labels, KUEUE_PREBUILT_WORKLOAD);
}

/* --- objects -----------------------------------------------------------------------------------*/

/* A copy of the map; an empty one if there is none. */
static struct jdoc *copy_map(const struct jdoc *map)
{
	return jdoc_kind(map) == JDOC_OBJECT ? jdoc_copy(map) : jdoc_new_object();
}

static void set_map(struct jdoc *meta, const char *key, struct jdoc *map)
{
	if (jdoc_first(map) != NULL) {
		jdoc_set_take(meta, key, map);
	} else {
		jdoc_destroy(map);
	}
}

static void copy_str(const struct jdoc *from, const char *key, struct jdoc *to)
{
	const char *text = jdoc_str(jdoc_get(from, key));

	if (text != NULL) {
		jdoc_set_str(to, key, text);
	}
}

/* An object with the name and the namespace of this one; the caller owns it. */
static struct jdoc *new_object(const char *api_version, const char *kind, const struct jdoc *of)
{
	struct jdoc *d = jdoc_new_object(), *meta;
	const struct jdoc *from = jdoc_get(of, "metadata");

	jdoc_set_str(d, "apiVersion", api_version);
	jdoc_set_str(d, "kind", kind);
	meta = jdoc_ensure_object(d, "metadata");
	copy_str(from, "name", meta);
	copy_str(from, "namespace", meta);
	return d;
}

/* A user may have written the same keys. */
static void set_manager(struct jdoc *labels, struct jdoc *notes,
			const struct replica_body_manager *by)
{
	jdoc_set_str(labels, KUEUE_MULTIKUEUE_ORIGIN, by->origin);
	if (by->cluster != NULL) {
		jdoc_set_str(notes, REPLICA_BODY_MANAGER, by->cluster);
	} else {
		(void)jdoc_remove(notes, REPLICA_BODY_MANAGER);
	}
}

void replica_body_create(const struct jdoc *local, const struct replica_body_manager *by,
			 bool gated, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = new_object(KUEUE_API_VERSION, "Workload", local);
	struct jdoc *meta = jdoc_get_mut(d, "metadata");
	struct jdoc *labels = copy_map(jdoc_path(local, "metadata.labels"));
	struct jdoc *notes = copy_map(jdoc_path(local, "metadata.annotations"));
	struct jdoc *spec = jdoc_set_take(d, "spec", copy_map(jdoc_get(local, "spec")));

	(void)jdoc_remove(labels, KUEUE_JOB_UID);
	set_manager(labels, notes, by);
	set_map(meta, "labels", labels);
	(void)jdoc_remove(notes, TOKEN_ANNOTATION);
	(void)jdoc_remove(notes, KUEUE_ADD_PREEMPTION_GATE);
	set_map(meta, "annotations", notes);
	(void)jdoc_remove(spec, "preemptionGates");
	if (gated) {
		struct jdoc *gates = jdoc_ensure_array(spec, "preemptionGates");

		jdoc_set_str(jdoc_append_take(gates, jdoc_new_object()), "name",
			     KUEUE_GATE_MULTIKUEUE);
	}
	jdoc_format(d, out);
}

/* --- the Job -----------------------------------------------------------------------------------*/

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

void replica_body_job(const struct jdoc *local_job, const struct jdoc *local_workload,
		      const struct replica_body_manager *by, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = new_object("batch/v1", "Job", local_job);
	struct jdoc *meta = jdoc_get_mut(d, "metadata");
	struct jdoc *labels = copy_map(jdoc_path(local_job, "metadata.labels"));
	struct jdoc *notes = copy_map(jdoc_path(local_job, "metadata.annotations"));
	struct jdoc *spec = jdoc_set_take(d, "spec", copy_map(jdoc_get(local_job, "spec")));
	const char *name = jdoc_str_or(jdoc_path(local_workload, "metadata.name"), "");

	for (size_t i = 0; i < ARRAY_LEN(generated); i++) {
		(void)jdoc_remove(labels, generated[i]);
	}
	set_manager(labels, notes, by);
	(void)jdoc_remove(labels, KUEUE_PREBUILT_WORKLOAD);
	if (validate_is_label_value(str_of(name))) {
		jdoc_set_str(labels, KUEUE_PREBUILT_WORKLOAD, name);
	}
	/* Marks of what this cluster's job reconciler has done with the local Job. */
	(void)jdoc_remove(notes, KEYS_STARTED);
	(void)jdoc_remove(notes, KUEUE_STOPPING);
	jdoc_set_str(notes, KUEUE_PREBUILT_WORKLOAD, name);
	fill_spec(spec, notes, local_workload);
	set_map(meta, "labels", labels);
	set_map(meta, "annotations", notes);
	jdoc_format(d, out);
}

/* --- small writes ------------------------------------------------------------------------------*/

/* The object as it was seen: the API server refuses the write for another one or another version.
 */
static void begin(const struct api_meta *replica, struct api_workload *ret)
{
	decode_init(&kueue_workload_fields, ret);
	ret->meta.uid = replica->uid;
	ret->meta.resource_version = replica->resource_version;
}

void replica_body_priority(const struct api_workload *local, const struct api_meta *replica,
			   struct strbuf *out)
{
	struct api_workload patch;
	const void *const nulls[] = { &patch.spec.priority, &patch.spec.priority_class_ref, NULL };

	begin(replica, &patch);
	patch.spec.priority = local->spec.priority;
	patch.spec.priority_class_ref = local->spec.priority_class_ref;
	encode_merge(&kueue_workload_fields, &patch, nulls, out);
}

void replica_body_class(const struct api_job *local, const struct api_meta *remote,
			struct strbuf *out)
{
	const struct field_pair label = {
		KUEUE_PRIORITY_CLASS, field_map_get(&local->meta.labels, KUEUE_PRIORITY_CLASS)
	};
	struct api_job patch;

	decode_init(&batch_job_fields, &patch);
	patch.meta.uid = remote->uid;
	patch.meta.resource_version = remote->resource_version;
	patch.meta.labels = (struct field_map){ &label, 1 }; /* none: it is removed */
	encode_merge(&batch_job_fields, &patch, NULL, out);
}

void replica_body_evict(const struct api_meta *replica, const char *message, int64_t now,
			struct strbuf *out)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct api_condition c = { .type = KUEUE_DEACTIVATION_TARGET,
				   .status = "True",
				   .reason = KUEUE_REASON_EVICTED_ON_MANAGER,
				   .last_transition = now };
	struct api_workload apply;

	begin(replica, &apply);
	apply.api_version = KUEUE_API_VERSION;
	apply.kind = "Workload";
	apply.meta.name = replica->name;
	apply.meta.namespace_ = replica->namespace_;
	condition_text_message(message, &text);
	c.message = text.p;
	apply.status.conditions.v = &c;
	apply.status.conditions.n = 1;
	encode_text(&kueue_workload_fields, &apply, out);
}

bool replica_body_has_finalizer(const struct api_meta *replica)
{
	for (size_t i = 0; i < replica->finalizers.n; i++) {
		if (str_streq(replica->finalizers.v[i], KUEUE_FINALIZER)) {
			return true;
		}
	}
	return false;
}

void replica_body_without_finalizer(const struct api_meta *replica, struct strbuf *out)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const char **v = arena_zero(arena, replica->finalizers.n, sizeof(*v));
	struct api_workload patch;
	size_t n = 0;

	for (size_t i = 0; i < replica->finalizers.n; i++) {
		if (!str_streq(replica->finalizers.v[i], KUEUE_FINALIZER)) {
			v[n++] = replica->finalizers.v[i];
		}
	}
	begin(replica, &patch);
	patch.meta.finalizers = (struct field_strs){ v, n };
	encode_merge(&kueue_workload_fields, &patch, NULL, out);
}

void replica_body_delete(const struct api_meta *m, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp) struct jdoc *d = jdoc_new_object();

	jdoc_set_str(d, "apiVersion", "v1");
	jdoc_set_str(d, "kind", "DeleteOptions");
	jdoc_set_str(d, "propagationPolicy", "Background");
	jdoc_set_str(jdoc_ensure_object(d, "preconditions"), "uid", m->uid);
	jdoc_format(d, out);
}
