/* scheduler/ctl/list/list_filter.h: selects the objects of a list by labels and by the fields that
 * an API server supports for custom resources. One thread. */
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

/* Selectors in kubectl's form; NULL selects everything. -ERR_INVALID names the option and the
 * error. metadata.namespace is supported for namespaced objects only. */
int list_filter_parse(const char *labels, const char *fields, bool namespaced,
		      struct list_filter *ret, struct err *err);
void list_filter_finish(struct list_filter *f); /* of zeros is fine */
bool list_filter_matches(const struct list_filter *f, const struct jdoc *object);

#endif
