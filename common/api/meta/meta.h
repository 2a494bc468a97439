/* common/api/meta/meta.h: metav1.ObjectMeta and conditions. Decoded strings live in the object's
 * arena. managedFields and the last-applied annotation are never kept. Plain data. */
#ifndef COMMON_API_META_META_H
#define COMMON_API_META_META_H

#include "enc/field.h"

struct api_owner {
	const char *api_version, *kind, *name, *uid;
	int8_t controller, block_owner_deletion; /* -1 absent */
};

struct api_meta {
	const char *name, *generate_name, *namespace_, *uid, *resource_version;
	int64_t generation;
	int64_t created, deleted; /* wall ns, FIELD_NO_TIME */
	struct field_map labels, annotations;
	struct FIELD_LIST(struct api_owner) owners;
	struct field_strs finalizers;
};

/* A condition of a pod, node, PodGroup or Workload. */
struct api_condition {
	const char *type, *status, *reason, *message, *transition_id;
	int64_t last_transition;     /* wall ns, FIELD_NO_TIME */
	int64_t observed_generation; /* 0 absent */
};
struct api_conditions FIELD_LIST(struct api_condition);

extern const struct field_table meta_fields;
extern const struct field_table meta_condition_fields;

const struct api_owner *meta_controller(const struct api_meta *m); /* NULL: none */
const struct api_condition *meta_condition(const struct api_conditions *c,
					   const char *type); /* NULL: none */
/* Whether there is one of this type, with status True. */
bool meta_condition_is_true(const struct api_conditions *c, const char *type);
/* resourceVersion as a number for ordering; 0 when absent or not a number. */
int64_t meta_version(const struct api_meta *m);

#endif
