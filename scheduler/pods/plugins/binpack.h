/* scheduler/pods/plugins/binpack.h: the score of Volcano's binpack plugin: fuller nodes first.
 * Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_BINPACK_H
#define SCHEDULER_PODS_PLUGINS_BINPACK_H

#include <stddef.h>

#include "scheduler/pods/values/resources.h"

/* Dimensions without a weight do not count; one of weight 0 does not speak against a node. */
struct binpack_weights {
	double plugin; /* multiplies the score; 0 switches it off */
	struct binpack_weight {
		unsigned dim;
		double weight;
	} * v;
	size_t n; /* each dimension once */
};

/* 0 .. 100 * w->plugin. A node without room for the request scores 0. */
double binpack_score(const struct binpack_weights *w, const struct res *request,
		     const struct res *used, const struct res *allocatable);

#endif
