/* common/schema/schema.h: structural schemas of CustomResourceDefinitions: pruning, defaulting and
 * validation of type, nullable, enum, minimum/maximum (exclusive too), min/maxLength, pattern
 * (POSIX extended subset), min/maxItems, min/maxProperties, required, additionalProperties,
 * x-kubernetes-int-or-string, x-kubernetes-preserve-unknown-fields, x-kubernetes-embedded-resource,
 * list-type map and set, anyOf/oneOf/allOf/not. x-kubernetes-validations are kept and not
 * evaluated. Pure. Recursion is bounded by the depth of JSON documents. */
#ifndef COMMON_SCHEMA_SCHEMA_H
#define COMMON_SCHEMA_SCHEMA_H

struct jdoc;
struct strmap;

/* Pruning and defaulting treat doc as the root of a custom resource: apiVersion, kind and metadata
 * stay. */
void schema_prune(const struct jdoc *schema, struct jdoc *doc);
/* Appends the paths of the members that pruning would remove ("spec.a") as strings. */
void schema_unknown(const struct jdoc *schema, const struct jdoc *doc, struct jdoc *out);
void schema_default(const struct jdoc *schema, struct jdoc *doc);
/* The patterns of a schema as they were compiled, for schema_validate; strmap_destroy ends it. */
struct strmap *schema_patterns_create(void);
/* Appends causes in the words of Kubernetes. */
void schema_validate(const struct jdoc *schema, struct strmap *patterns, const struct jdoc *doc,
		     struct jdoc *causes);
/* The sub-schema of an object's member, following properties and additionalProperties; NULL: none.
 */
const struct jdoc *schema_member(const struct jdoc *schema, const char *name);

#endif
