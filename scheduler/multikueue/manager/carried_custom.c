#include "scheduler/multikueue/manager/carried_custom.h"

#include "api/kueue/custom_job.h"
#include "api/kueue/custom_kinds.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "scheduler/multikueue/manager/mirror.h"
#include "scheduler/multikueue/manager/replica_body.h"

static const struct api_meta *meta(const void *object)
{
	const struct api_custom_job *job = object;

	return &job->meta;
}

static const char *refusal(const void *local, struct arena *arena)
{
	const struct api_custom_job *job = local;
	const char *by = job->spec.managed_by;

	return str_streq(by, KUEUE_MULTIKUEUE_CONTROLLER)
		       ? NULL
		       : arena_printf(arena,
				      "The owner is not managed by Kueue: Expecting "
				      ".spec.managedBy to be \"%s\" not \"%s\"",
				      KUEUE_MULTIKUEUE_CONTROLLER, by == NULL ? "" : by);
}

static bool never(const void *object UNUSED)
{
	return false;
}

static uint64_t digest(const struct jdoc *object)
{
	const struct jdoc *status = jdoc_get(object, "status");

	return jdoc_kind(status) == JDOC_OBJECT ? mirror_digest(status) | 1 : 0;
}

static enum carried_due due(const struct carried_object *local, const struct carried_object *remote)
{
	return meta(local->object)->deleted != FIELD_NO_TIME || local->too_large ||
			       remote->digest == 0 || local->digest == remote->digest
		       ? CARRIED_DUE_NOTHING
		       : CARRIED_DUE_STATUS;
}

static void sync(const struct jdoc *local, const struct jdoc *remote, enum carried_due what UNUSED,
		 int64_t now UNUSED, struct strbuf *out)
{
	struct jdoc *status;
	CLEANUP(jdoc_destroyp) struct jdoc *patch = mirror_patch(local, &status);

	mirror_difference(jdoc_get(local, "status"), jdoc_get(remote, "status"), status);
	jdoc_format(patch, out);
}

static bool is_copied(const struct jdoc *member)
{
	static const char *const others[] = { "apiVersion", "kind", "metadata", "status" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (str_streq(jdoc_key(member), others[i])) {
			return false;
		}
	}
	return true;
}

static void create(const struct jdoc *local, const struct jdoc *workload,
		   const struct replica_body_manager *by, struct strbuf *out)
{
	CLEANUP(jdoc_destroyp)
	struct jdoc *d = replica_body_object(jdoc_str_or(jdoc_get(local, "apiVersion"), ""),
					     jdoc_str_or(jdoc_get(local, "kind"), ""), local);
	struct jdoc *labels = replica_body_map(jdoc_path(local, "metadata.labels"));
	struct jdoc *notes = replica_body_map(jdoc_path(local, "metadata.annotations"));
	struct jdoc *spec;

	for (const struct jdoc *m = jdoc_first(local); m != NULL; m = jdoc_next(m)) {
		if (is_copied(m)) {
			jdoc_set_take(d, jdoc_key(m), jdoc_copy(m));
		}
	}
	spec = jdoc_get_mut(d, "spec");
	if (jdoc_kind(spec) == JDOC_OBJECT) {
		(void)jdoc_remove(spec, "managedBy");
		if (jdoc_kind(jdoc_get(spec, "suspend")) == JDOC_BOOL) {
			jdoc_set_bool(spec, "suspend", true);
		}
	}
	(void)jdoc_remove(notes, REPLICA_BODY_ENDED);
	replica_body_name(workload, by, labels, notes, d);
	jdoc_format(d, out);
}

const struct carried_kind carried_custom_kind = {
	.resource = SCHED_CUSTOM,
	.ends_unseen = true,
	.meta = meta,
	.refusal = refusal,
	.has_ended = never,
	.is_ending = never,
	.is_active = never,
	.digest = digest,
	.due = due,
	.sync = sync,
	.create = create,
};

struct carried_kind carried_custom_row(const struct custom_kind *k)
{
	struct carried_kind row = carried_custom_kind;

	row.api_version = k->api_version;
	row.kind = k->kind;
	row.custom = k;
	return row;
}
