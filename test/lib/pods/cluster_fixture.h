/* test/lib/pods/cluster_fixture.h: short ways to put queues, nodes, PodGroups and tasks into a
 * cluster by hand. Everything is in namespace "ns"; amounts are milli-CPU. Owner: the test. */
#ifndef TEST_LIB_PODS_CLUSTER_FIXTURE_H
#define TEST_LIB_PODS_CLUSTER_FIXTURE_H

#include "scheduler/pods/model/cluster.h"

/* An existing open queue; parent NULL: below the root; cpu < 0: no capability. Topology is updated.
 */
struct queue *cluster_fixture_queue(struct cluster *c, const char *name, const char *parent,
				    int64_t cpu);
/* The interned name, as the model keeps it of labels, keys and values. */
const char *cluster_fixture_name(struct cluster *c, const char *text);
struct node *cluster_fixture_node(struct cluster *c, const char *name, int64_t cpu);
/* cluster_node_changed is not called: for a node that nothing has looked at yet. */
void cluster_fixture_label(struct cluster *c, struct node *n, const char *key, const char *value);
/* A PodGroup that asks for queue (NULL: none). */
struct podgroup *cluster_fixture_podgroup(struct cluster *c, const char *name, const char *queue,
					  int32_t min_member);
/* A pending task of ours with uid "uid-NAME"; podgroup may be NULL. */
struct task *cluster_fixture_task(struct cluster *c, const char *name, struct podgroup *podgroup,
				  int64_t cpu);
/* The task requests u as well. */
void cluster_fixture_request(struct cluster *c, struct task *t, const struct unoffered *u);
/* A class that requests cpu and, besides the one pod, nothing else; one counted reference. */
const struct pod_class *cluster_fixture_class(struct cluster *c, int64_t cpu);

#endif
