/* common/api/kinds.h: the kinds that Headgate reads or writes. A constant table. Any thread. */
#ifndef COMMON_API_KINDS_H
#define COMMON_API_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "enc/field.h"

#define KINDS_API_VERSION_MAX 128

struct kinds_row {
	const char *group; /* "" for the core group */
	const char *plural, *version, *kind, *singular;
	const char *short_names; /* separated by commas, "" for none */
	bool namespaced;
	const struct field_table *fields;
};

/* Sorted by group, then plural. */
const struct kinds_row *kinds_all(size_t *ret_n);
/* NULL: unknown. */
const struct kinds_row *kinds_by_kind(const char *api_version, const char *kind);
/* The kind that is decoded by this table. */
const struct kinds_row *kinds_by_fields(const struct field_table *fields);
/* Finds a kind as a user types it: plural, singular, kind in any case, or short name, optionally
 * followed by ".group". Names take precedence over short names. */
const struct kinds_row *kinds_by_alias(struct str alias);
/* "v1" or "group/version". Returns ret. */
const char *kinds_api_version(const struct kinds_row *k, char ret[KINDS_API_VERSION_MAX]);

#endif
