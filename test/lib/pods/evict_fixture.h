/* test/lib/pods/evict_fixture.h: a cycle with the actions allocate, preempt and reclaim, where
 * PodGroups of any size may lose pods. Owner: the test. */
#ifndef TEST_LIB_PODS_EVICT_FIXTURE_H
#define TEST_LIB_PODS_EVICT_FIXTURE_H

#include "lib/pods/cycle_fixture.h"

extern const char evict_fixture_conf[];

/* A PodGroup of that priority, with the UID "uid-NAME". */
struct podgroup *evict_fixture_podgroup(struct cluster *c, const char *name, const char *queue,
					int32_t min_member, int32_t priority);
/* A pod that runs on the node, is charged, and may be evicted. */
struct task *evict_fixture_running(struct cluster *c, const char *name, struct podgroup *g,
				   int64_t cpu, struct node *n);
/* The victim is gone. */
void evict_fixture_end(struct cluster *c, const char *name);

#endif
