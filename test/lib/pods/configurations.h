/* test/lib/pods/configurations.h: configurations of the scheduler with which random worlds of pods
 * are played. Each has a quota plugin with the limits of the tree of queues. Any thread. */
#ifndef TEST_LIB_PODS_CONFIGURATIONS_H
#define TEST_LIB_PODS_CONFIGURATIONS_H

#define CONFIGURATIONS_BUILT_IN 0
#define CONFIGURATIONS_PROPORTION 1 /* of Volcano's chart */
#define CONFIGURATIONS_DRF 2
#define CONFIGURATIONS_COUNT 3

/* Asserts that there is such a row. */
const char *configurations_text(unsigned row);

#endif
