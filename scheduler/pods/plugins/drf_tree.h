/* scheduler/pods/plugins/drf_tree.h: hierarchical dominant resource fairness, for the drf plugin
 * only. The tree is made of the paths in the annotations volcano.sh/hierarchy of queues
 * ("root/a/b", of which the first name stands for the root of all), with the weights of
 * volcano.sh/hierarchy-weights ("1/2/3"). PodGroups hang at the end of their queue's path, or at
 * the root without one.
 *
 * Volcano's rules: a PodGroup is saturated when it has all that it asks for of a resource, or has
 * some of one that the cluster has no more of. The use of a node is the sum of those below it,
 * where the unsaturated ones are scaled down to the smallest share among them; it is saturated when
 * all below it are. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_PLUGINS_DRF_TREE_H
#define SCHEDULER_PODS_PLUGINS_DRF_TREE_H

struct drf_tree;
struct podgroup;
struct queue;
struct res;
struct session;

#define DRF_TREE_LEVELS_MAX 64 /* of a path; names beyond are left out */

struct drf_tree *drf_tree_create(void);
void drf_tree_destroy(struct drf_tree *t); /* NULL is fine */

/* Begins a session without PodGroups. The paths are read again when queues have changed. */
void drf_tree_open(struct drf_tree *t, const struct session *s);
/* Adds a PodGroup, of a queue that exists, with the amounts that it has. */
void drf_tree_add(struct drf_tree *t, const struct session *s, const struct podgroup *g,
		  const struct res *allocated);
/* All PodGroups are there: works out the tree. O(all). */
void drf_tree_settle(struct drf_tree *t);
/* The PodGroup, which was added, has these amounts now. O(siblings) at each level, or O(all) when
 * the cluster has run out of a resource, or not any more. */
void drf_tree_change(struct drf_tree *t, const struct session *s, const struct podgroup *g,
		     const struct res *allocated);
/* Negative: a goes first. Compares the nodes of their paths from the root on: an unsaturated one
 * goes first, then that with the smaller share by weight. */
int drf_tree_compare(const struct drf_tree *t, const struct queue *a, const struct queue *b);

#endif
