/* test/lib/pods/configurations.h: configurations of the scheduler with which random worlds of pods
 * are played. Each has a quota plugin with the limits of the tree of queues. Any thread. */
#ifndef TEST_LIB_PODS_CONFIGURATIONS_H
#define TEST_LIB_PODS_CONFIGURATIONS_H

#define CONFIGURATIONS_BUILT_IN 0
#define CONFIGURATIONS_PROPORTION 1 /* of Volcano's chart */
#define CONFIGURATIONS_DRF 2
#define CONFIGURATIONS_COUNT 3

struct strbuf;

/* Actions that evict. With any of them the plugin gang leaves PodGroups of one pod to preempt and
 * reclaim. */
enum configurations_evict {
	CONFIGURATIONS_EVICT_NONE,
	CONFIGURATIONS_EVICT_PODS,  /* preempt, reclaim */
	CONFIGURATIONS_EVICT_GANGS, /* gangpreempt, gangreclaim */
	CONFIGURATIONS_EVICT_BOTH,
	CONFIGURATIONS_EVICT_COUNT_
};

/* Appends that configuration. Asserts that there is such a row. */
void configurations_add(unsigned row, enum configurations_evict evict, struct strbuf *out);

#endif
