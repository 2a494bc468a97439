/* test/lib/pods/configurations.h: configurations of the scheduler with which random worlds of pods
 * are played. Each has a quota plugin with the limits of the tree of queues. Any thread. */
#ifndef TEST_LIB_PODS_CONFIGURATIONS_H
#define TEST_LIB_PODS_CONFIGURATIONS_H

#include <stdbool.h>

#define CONFIGURATIONS_BUILT_IN 0
#define CONFIGURATIONS_PROPORTION 1 /* of Volcano's chart */
#define CONFIGURATIONS_DRF 2
#define CONFIGURATIONS_COUNT 3

struct strbuf;

/* Appends that configuration. evicts: with the actions preempt and reclaim, to which the plugin
 * gang leaves PodGroups of one pod as well. Asserts that there is such a row. */
void configurations_add(unsigned row, bool evicts, struct strbuf *out);

#endif
