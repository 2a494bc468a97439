/* test/apiserver/verbs/fieldset.h: sets of field paths in the FieldsV1 form of managedFields:
 * "f:name" for members, k:{"key":"value"} for items of associative lists, v:"value" for members of
 * sets; a leaf is an empty object. All trees are jdoc objects. Pure. */
#ifndef TEST_APISERVER_VERBS_FIELDSET_H
#define TEST_APISERVER_VERBS_FIELDSET_H

#include <stdbool.h>

struct jdoc;

/* Where a walk is: which lists merge depends on the schema (custom kinds) or on field names. */
struct fieldset_type {
	bool is_custom;
	const struct jdoc *schema; /* of this node; NULL: unknown */
	const char *parent, *field;
};

/* The top of a document; schema: of a custom kind. */
struct fieldset_type fieldset_type_root(bool is_custom, const struct jdoc *schema);

/* All leaves of an object, without what identifies it (apiVersion, kind, name, uid, ...). */
struct jdoc *fieldset_of(const struct jdoc *doc, struct fieldset_type type);
/* Leaves that changed or appeared from old to new. */
struct jdoc *fieldset_changed(const struct jdoc *old, const struct jdoc *new,
			      struct fieldset_type type);
bool fieldset_is_empty(const struct jdoc *set);
void fieldset_subtract(struct jdoc *set, const struct jdoc *other); /* leaves of other */
void fieldset_add(struct jdoc *set, const struct jdoc *other);
/* Leaves in both sets with different values in a and b. */
struct jdoc *fieldset_disputed(const struct jdoc *set, const struct jdoc *other,
			       const struct jdoc *a, const struct jdoc *b);
/* Writes the values that `from` has at the leaves of set into `to`. */
void fieldset_copy(const struct jdoc *set, const struct jdoc *from, struct jdoc *to);
/* Removes the leaves of set from doc; items and objects that end up empty go, too. */
void fieldset_remove(const struct jdoc *set, struct jdoc *doc);
/* Appends the paths of the leaves (".spec.replicas") as strings. */
void fieldset_paths(const struct jdoc *set, const char *prefix, struct jdoc *out);

#endif
