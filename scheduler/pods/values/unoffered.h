/* scheduler/pods/values/unoffered.h: amounts of resources that neither a node nor a Queue has.
 * Names of resources become dimensions (pods/values/resources.h) only when a node or a Queue has
 * them, since any tenant may invent names in a pod or a PodGroup. Until then requests for them are
 * kept here, by name: no node satisfies them, and no queue limits them. Plain data in one
 * allocation. Owner: as of the struct it is in. */
#ifndef SCHEDULER_PODS_VALUES_UNOFFERED_H
#define SCHEDULER_PODS_VALUES_UNOFFERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/pods/values/resources.h"

struct unoffered_amount {
	const char *name;
	int64_t amount; /* above 0 */
};

struct unoffered {
	struct unoffered_amount *v; /* in the order given; one allocation with the names */
	size_t n;
};

/* A deep copy; nothing is allocated for an empty list. */
struct unoffered unoffered_copy(const struct unoffered *u);
void unoffered_finish(struct unoffered *u);
/* The same amounts of the same names in the same order. */
bool unoffered_eq(const struct unoffered *a, const struct unoffered *b);
/* Sets the amounts of names that have a dimension by now in *into and takes them off the list.
 * Returns how many these were. */
size_t unoffered_resolve(struct unoffered *u, struct res_names *names, struct res *into);

#endif
