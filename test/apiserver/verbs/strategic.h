/* test/apiserver/verbs/strategic.h: strategic merge patch for the built-in kinds: lists with a
 * merge key are merged item by item ($patch: delete|replace|merge, $deleteFromPrimitiveList/x), all
 * others are replaced. $setElementOrder/x orders the merged list; $retainKeys drops the other keys.
 * Pure. Merge keys go by field name, as the API types tag them. */
#ifndef TEST_APISERVER_VERBS_STRATEGIC_H
#define TEST_APISERVER_VERBS_STRATEGIC_H

#include <stdbool.h>

struct err;
struct jdoc;

/* -ERR_INVALID: an item without its merge key or a bad directive; *doc is unspecified then. */
int strategic_apply(struct jdoc **doc, const struct jdoc *patch, struct err *err);
/* The merge key of a list of objects by the names of the list and of its parent field ("" at the
 * top); NULL: atomic. Primitive lists that merge as sets answer "". */
const char *strategic_merge_key(const char *parent, const char *field);

#endif
