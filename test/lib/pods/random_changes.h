/* test/lib/pods/random_changes.h: PodGroups and pods in two queues that change at random, for tests
 * of what plugins keep from session to session. Owner: the test. */
#ifndef TEST_LIB_PODS_RANDOM_CHANGES_H
#define TEST_LIB_PODS_RANDOM_CHANGES_H

#include "base/rng.h"
#include "scheduler/pods/model/cluster.h"

#define RANDOM_CHANGES_PODGROUPS 4
#define RANDOM_CHANGES_TASKS 8

struct random_changes {
	struct cluster *c;
	struct rng rng;
	struct queue *left, *right; /* below p */
	struct node *node;
	struct podgroup *g[RANDOM_CHANGES_PODGROUPS]; /* the first one without minResources */
	struct task *t[RANDOM_CHANGES_TASKS];
};

void random_changes_init(struct random_changes *r, struct cluster *c, uint64_t seed);
/* None, one or two changes of a PodGroup or a pod, of any kind. */
void random_changes_step(struct random_changes *r);
/* As if a session had looked at some of the queues: what changed in them before is not listed
 * again. */
void random_changes_scan(struct random_changes *r);
void random_changes_finish(struct random_changes *r); /* releases the charges */

#endif
