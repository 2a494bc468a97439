/* common/schema/meta_rules.h: Kubernetes' validation of metadata, with its messages. Pure. */
#ifndef COMMON_SCHEMA_META_RULES_H
#define COMMON_SCHEMA_META_RULES_H

#include <stdbool.h>

struct jdoc;

struct meta_rules_kind {
	const char *group, *name; /* "apps", "Deployment" */
	bool is_custom;           /* defined by a CustomResourceDefinition */
};

/* Adds causes about the name of a new object, labels, annotations, finalizers and owners. old NULL:
 * it is created. */
void meta_rules_check(const struct meta_rules_kind *kind, const struct jdoc *doc,
		      const struct jdoc *old, struct jdoc *causes);
/* `Invalid value: "name": why` when it is no label or no qualified name. */
void meta_rules_check_label_name(const char *field, const char *name, struct jdoc *causes);
void meta_rules_check_qualified(const char *field, const char *name, struct jdoc *causes);

#endif
