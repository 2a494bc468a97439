/* common/api/kueue/custom_kinds.h: kinds of objects that a configuration names, as
 * "Kind.version.group". Of such an object only custom_job.h is known. Its key begins with the name
 * of the kind: "Kind.version.group/namespace/name". Any thread. */
#ifndef COMMON_API_KUEUE_CUSTOM_KINDS_H
#define COMMON_API_KUEUE_CUSTOM_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define CUSTOM_KINDS_MAX 32 /* of a configuration */

struct arena;
struct err;
struct jdoc;

struct custom_kind {
	const char *name; /* "Kind.version.group" */
	const char *kind, *version, *group;
	const char *api_version; /* "group/version" */
};

struct custom_kinds {
	const struct custom_kind *v;
	size_t n;
};

/* Limits: those of Kubernetes, 63 bytes for kind and version, 253 for the group. The result lives
 * in the arena. The error says what is wrong with the name. */
int custom_kinds_parse(const char *name, struct arena *arena, struct custom_kind *ret,
		       struct err *err);
/* The kind with this name, or of an object with this key; NULL: there is none. */
const struct custom_kind *custom_kinds_find(const struct custom_kinds *k, struct str name);
const struct custom_kind *custom_kinds_of_key(const struct custom_kinds *k, struct str key);
/* How an API server serves the kind, by its APIResourceList of group and version; NULL: it does not
 * serve these. Returns why objects of the kind cannot be carried: "is not served", static; NULL:
 * they can, and *ret_plural is the name of the resource, of the list. */
const char *custom_kinds_problem(const struct custom_kind *k, const struct jdoc *list,
				 const char **ret_plural);
/* "namespace/name" of a key. */
struct str custom_kinds_object(struct str key);

#endif
