/* common/kube/list_page.h: cuts a LIST response into its items without building a tree. Any thread.
 * Slices point into the body. Limit: LIST_PAGE_MAX_ITEMS items. */
#ifndef COMMON_KUBE_LIST_PAGE_H
#define COMMON_KUBE_LIST_PAGE_H

#include "enc/json/cut.h"

#define LIST_PAGE_MAX_ITEMS 1000000

struct err;

struct list_page {
	struct str resource_version; /* of the list, raw */
	struct str continue_;        /* raw; absent or empty: last page */
	size_t items;
};

typedef void (*list_page_fn)(void *ctx, struct str object, const struct cut_meta *meta);

/* fn is called for each item in order, even when a later part of the body is broken; items without
 * metadata.name are counted but skipped. -ERR_INVALID: the body is not a list. */
int list_page_cut(struct str body, list_page_fn fn, void *ctx, struct list_page *ret,
		  struct err *err);

#endif
