/* scheduler/pods/plugins/binpack.h: the score of Volcano's binpack plugin: fuller nodes first.
 * Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_BINPACK_H
#define SCHEDULER_PODS_PLUGINS_BINPACK_H

#include <stdint.h>

#include "scheduler/pods/values/resources.h"

struct binpack_weights {
	double plugin;         /* multiplies the score; 0 switches it off */
	double dim[RES_DENSE]; /* of each of these dimensions; others do not weigh */
	uint32_t weighted;     /* dimensions that have a weight, even one of 0 */
};

/* 0 .. 100 * w->plugin. A node without room for the request scores 0. */
double binpack_score(const struct binpack_weights *w, const struct res *request,
		     const struct res *used, const struct res *allocatable);

#endif
