/* scheduler/pods/plugins/water_fill.h: weighted water filling in one dimension, as Volcano's
 * proportion plugin divides the cluster among queues. Pure; any thread. */
#ifndef SCHEDULER_PODS_PLUGINS_WATER_FILL_H
#define SCHEDULER_PODS_PLUGINS_WATER_FILL_H

#include <stddef.h>
#include <stdint.h>

struct water_fill {
	int64_t weight;    /* below 1: it gets what is guaranteed, and nothing else */
	int64_t want;      /* at most this, except for what is guaranteed; not negative */
	int64_t guarantee; /* at least this, whatever the others get; not negative */
	int64_t share;     /* the result */
	int64_t fraction;  /* of the share, while it is worked out */
};

/* Each gets its weight's part of total, but no more than it wants and no less than is guaranteed.
 * The rest is divided in the same way among those that want more. Fractions are cut
 * off at the end. O(n) for each round, in which one at least has enough; mostly a few rounds. */
void water_fill(struct water_fill *v, size_t n, int64_t total);

#endif
