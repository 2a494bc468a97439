#include "scheduler/ctl/list/kueue_kinds.h"

#include <stdio.h>
#include <string.h>

#include "api/kueue/kueue_keys.h"
#include "base/attrs.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"

const struct kinds_row *kueue_kinds_find(const char *alias)
{
	CLEANUP(xmalloc_freep) char *full = NULL;

	if (str_streq(alias, "wl")) { /* as in Kueue's own command */
		alias = "workload";
	}
	full = strchr(alias, '.') != NULL ? xmalloc_dup(alias)
					  : xmalloc_printf("%s." KUEUE_GROUP, alias);
	return str_has_suffix(str_of(full), "." KUEUE_GROUP) ? kinds_by_alias(str_of(full)) : NULL;
}

static const struct kinds_row *find_any(const char *alias)
{
	const struct kinds_row *k = kueue_kinds_find(alias);

	return k != NULL ? k : kinds_by_alias(str_of(alias));
}

const struct kinds_row *kueue_kinds_need(const char *verb, const char *alias,
					 const char *const *kinds)
{
	const struct kinds_row *k = alias == NULL ? NULL : find_any(alias);

	for (size_t i = 0; k != NULL && kinds[i] != NULL; i++) {
		if (str_streq(k->kind, kinds[i])) {
			return k;
		}
	}
	fprintf(stderr, "headgatectl: %s accepts", verb);
	for (size_t i = 0; kinds[i] != NULL; i++) {
		const struct kinds_row *row = find_any(kinds[i]);

		fprintf(stderr, "%s %s", i == 0 ? "" : ",", row == NULL ? kinds[i] : row->plural);
	}
	fprintf(stderr, "%s%s\n", alias == NULL ? "" : ", not ", alias == NULL ? "" : alias);
	return NULL;
}
