#include "api/meta/meta.h"

/* kubectl keeps a copy of the whole object in it, which no decision needs. */
#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

static const struct field owner_rows[] = {
	F_STR(struct api_owner, api_version, "apiVersion"),
	F_STR(struct api_owner, kind, "kind"),
	F_STR(struct api_owner, name, "name"),
	F_STR(struct api_owner, uid, "uid"),
	F_TRI(struct api_owner, controller, "controller"),
	F_TRI(struct api_owner, block_owner_deletion, "blockOwnerDeletion"),
};
static const struct field_table owner_fields = FIELD_TABLE(struct api_owner, owner_rows);

static const struct field meta_rows[] = {
	F_STR(struct api_meta, name, "name"),
	F_STR(struct api_meta, generate_name, "generateName"),
	F_STR(struct api_meta, namespace_, "namespace"),
	F_STR(struct api_meta, uid, "uid"),
	F_STR(struct api_meta, resource_version, "resourceVersion"),
	F_I64(struct api_meta, generation, "generation"),
	F_TIME(struct api_meta, created, "creationTimestamp"),
	F_TIME(struct api_meta, deleted, "deletionTimestamp"),
	F_MAP(struct api_meta, labels, "labels"),
	F_MAP_SKIP(struct api_meta, annotations, "annotations", LAST_APPLIED),
	F_LIST(struct api_meta, owners, "ownerReferences", owner_fields),
	F_STRS(struct api_meta, finalizers, "finalizers"),
};
const struct field_table meta_fields = FIELD_TABLE(struct api_meta, meta_rows);

static const struct field condition_rows[] = {
	F_TIME(struct api_condition, last_transition, "lastTransitionTime"),
	F_STR(struct api_condition, message, "message"),
	F_I64(struct api_condition, observed_generation, "observedGeneration"),
	F_STR(struct api_condition, reason, "reason"),
	F_STR(struct api_condition, status, "status"),
	F_STR(struct api_condition, transition_id, "transitionID"),
	F_STR(struct api_condition, type, "type"),
};
const struct field_table meta_condition_fields = FIELD_TABLE(struct api_condition, condition_rows);

const struct api_owner *meta_controller(const struct api_meta *m)
{
	for (size_t i = 0; i < m->owners.n; i++) {
		if (m->owners.v[i].controller > 0) {
			return &m->owners.v[i];
		}
	}
	return NULL;
}

const struct api_condition *meta_condition(const struct api_conditions *c, const char *type)
{
	for (size_t i = 0; i < c->n; i++) {
		if (str_streq(c->v[i].type, type)) {
			return &c->v[i];
		}
	}
	return NULL;
}

bool meta_condition_is_true(const struct api_conditions *c, const char *type)
{
	const struct api_condition *found = meta_condition(c, type);

	return found != NULL && str_streq(found->status, "True");
}

int64_t meta_version(const struct api_meta *m)
{
	int64_t n = 0;

	return str_to_i64(str_of(m->resource_version), &n) && n > 0 ? n : 0;
}
