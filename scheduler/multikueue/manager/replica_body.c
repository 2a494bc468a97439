#include "scheduler/multikueue/manager/replica_body.h"

#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "api/meta/validate.h"
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

const char *replica_body_workload_of(const struct api_meta *object)
{
	const char *name = field_map_get(&object->annotations, KUEUE_PREBUILT_WORKLOAD);

	return name != NULL ? name : field_map_get(&object->labels, KUEUE_PREBUILT_WORKLOAD);
}

/* --- objects -----------------------------------------------------------------------------------*/

struct jdoc *replica_body_map(const struct jdoc *map)
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

struct jdoc *replica_body_object(const char *api_version, const char *kind, const struct jdoc *of)
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

void replica_body_name(const struct jdoc *workload, const struct replica_body_manager *by,
		       struct jdoc *labels_take, struct jdoc *notes_take, struct jdoc *object)
{
	const char *name = jdoc_str_or(jdoc_path(workload, "metadata.name"), "");
	struct jdoc *meta = jdoc_get_mut(object, "metadata");

	set_manager(labels_take, notes_take, by);
	(void)jdoc_remove(labels_take, KUEUE_PREBUILT_WORKLOAD);
	if (validate_is_label_value(str_of(name))) {
		jdoc_set_str(labels_take, KUEUE_PREBUILT_WORKLOAD, name);
	}
	jdoc_set_str(notes_take, KUEUE_PREBUILT_WORKLOAD, name);
	set_map(meta, "labels", labels_take);
	set_map(meta, "annotations", notes_take);
}

void replica_body_create(const struct jdoc *local, const struct replica_body_manager *by,
			 bool gated, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = replica_body_object(KUEUE_API_VERSION, "Workload", local);
	struct jdoc *meta = jdoc_get_mut(d, "metadata");
	struct jdoc *labels = replica_body_map(jdoc_path(local, "metadata.labels"));
	struct jdoc *notes = replica_body_map(jdoc_path(local, "metadata.annotations"));
	struct jdoc *spec = jdoc_set_take(d, "spec", replica_body_map(jdoc_get(local, "spec")));

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

/* The metadata of all kinds is the same. */
void replica_body_class(const struct api_meta *local, const struct api_meta *remote,
			struct strbuf *out)
{
	const struct field_pair label = { KUEUE_PRIORITY_CLASS,
					  field_map_get(&local->labels, KUEUE_PRIORITY_CLASS) };
	struct api_workload patch;

	begin(remote, &patch);
	patch.meta.labels = (struct field_map){ &label, 1 }; /* none: it is removed */
	encode_merge(&kueue_workload_fields, &patch, NULL, out);
}

void replica_body_ended(const struct api_meta *replica, const struct api_meta *remote,
			struct strbuf *out)
{
	const struct field_pair note = { REPLICA_BODY_ENDED, replica->uid };
	struct api_workload patch;

	begin(remote, &patch);
	patch.meta.annotations = (struct field_map){ &note, 1 };
	encode_merge(&kueue_workload_fields, &patch, NULL, out);
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
