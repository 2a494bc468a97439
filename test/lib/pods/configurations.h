/* test/lib/pods/configurations.h: configurations of the scheduler with which random worlds of pods
 * are played. Each has a quota plugin with the limits of the tree of queues. Any thread. */
#ifndef TEST_LIB_PODS_CONFIGURATIONS_H
#define TEST_LIB_PODS_CONFIGURATIONS_H

#include <stdbool.h>

struct strbuf;

enum configurations_row {
	CONFIGURATIONS_BUILT_IN,
	CONFIGURATIONS_PROPORTION, /* of Volcano's chart */
	CONFIGURATIONS_DRF,        /* queues by their shares, along a hierarchy */
	CONFIGURATIONS_COUNT_
};

/* Appends the text. evicts: with the actions preempt and reclaim, and without the protection of the
 * plugin gang, so that single pods are evicted, too. */
void configurations_write(enum configurations_row row, bool evicts, struct strbuf *out);

#endif
