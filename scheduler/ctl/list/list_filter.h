/* scheduler/ctl/list/list_filter.h: which objects a list shows, by their labels and by the fields
 * that an API server selects custom resources by. One thread. */
#ifndef SCHEDULER_CTL_LIST_LIST_FILTER_H
#define SCHEDULER_CTL_LIST_LIST_FILTER_H

#include <stdbool.h>

#include "api/meta/selector.h"

struct arena;
struct err;
struct jdoc;

struct list_filter {
	struct arena *arena;
	struct selector labels, fields;
};

/* Texts as kubectl takes them; NULL selects everything. -ERR_INVALID names the option and what is
 * wrong. Of objects without namespace there is no metadata.namespace. */
int list_filter_parse(const char *labels, const char *fields, bool namespaced,
		      struct list_filter *ret, struct err *err);
void list_filter_finish(struct list_filter *f); /* of zeros is fine */
bool list_filter_matches(const struct list_filter *f, const struct jdoc *object);

#endif
