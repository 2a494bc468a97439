#include "scheduler/ctl/list/workload_owner.h"

#include <string.h>
#include <strings.h>

#include "api/kinds.h"
#include "enc/json/jdoc.h"

const struct jdoc *workload_owner_of(const struct jdoc *workload)
{
	return jdoc_first(jdoc_path(workload, "metadata.ownerReferences"));
}

bool workload_owner_is(const struct jdoc *workload, const char *type, const char *name)
{
	const struct jdoc *owner = workload_owner_of(workload);
	const char *kind = jdoc_str_or(jdoc_get(owner, "kind"), "");
	const struct kinds_row *known = kinds_by_alias(str_of(type));
	struct str rest = str_of(type), first = str_next(&rest, '.');

	/* Kinds that are not known here are compared by name without regard to case, as people
	 * type them. */
	return jdoc_is_str(jdoc_get(owner, "name"), name) &&
	       ((known != NULL && str_streq(known->kind, kind)) ||
		(first.len == strlen(kind) && strncasecmp(first.p, kind, first.len) == 0));
}
