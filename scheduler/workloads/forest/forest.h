/* scheduler/workloads/forest/forest.h: quota and usage on the forest of cohorts and ClusterQueues
 * (Kueue: resource_node). Kept live: a cycle changes usage and undoes its changes by mark and undo,
 * so there is no snapshot (Kueue copies). Charges go to a parent only beyond what is private to the
 * node. Nodes and pairs by their ids in struct quota_model. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_FOREST_H
#define SCHEDULER_WORKLOADS_FOREST_FOREST_H

#include "scheduler/workloads/model/quota_model.h"

struct forest;

/* Borrows the model. forest_sync must be called before use, and whenever model->forest_gen may have
 * changed: rebuilds trees and limits and charges every holder again. Nothing may be marked then. */
struct forest *forest_create(struct quota_model *model);
void forest_destroy(struct forest *f); /* NULL is fine */
void forest_sync(struct forest *f);
struct quota_model *forest_model(const struct forest *f);

/* The workload holds its `usage` at node from now on, or no longer; kept in queue->holders. These
 * are changes of the model, synchronise first, and may not happen while charges of a cycle are not
 * undone. `usage` must not change in between. */
void forest_hold(struct forest *f, struct workload *w, uint32_t node);
void forest_release(struct forest *f, struct workload *w); /* bumps allocatable_gen of the queue */

/* Within a cycle: usage comes and goes, and can be undone, youngest mark first. A cycle ends with
 * everything undone. */
size_t forest_mark(const struct forest *f);
void forest_undo(struct forest *f, size_t mark);
void forest_add(struct forest *f, uint32_t node, const struct quota_amounts *usage);
void forest_remove(struct forest *f, uint32_t node, const struct quota_amounts *usage);

/* The same trees with usage of their own, which begins as that of f is now. Destroyed before f
 * changes; it is not synchronised, and nothing is held or released in it. */
struct forest *forest_fork(const struct forest *f);

/* The configured nominal quota of the node itself, and its SubtreeQuota. */
int64_t forest_nominal(const struct forest *f, uint32_t node, uint32_t pair);
int64_t forest_borrowing(const struct forest *f, uint32_t node, uint32_t pair); /* QUOTA_NO_LIMIT */
int64_t forest_subtree(const struct forest *f, uint32_t node, uint32_t pair);
/* The node, or one below it, configures the pair. */
bool forest_has(const struct forest *f, uint32_t node, uint32_t pair);
int64_t forest_usage(const struct forest *f, uint32_t node, uint32_t pair);
int64_t forest_local_available(const struct forest *f, uint32_t node, uint32_t pair);
/* May be negative; a scheduler takes max(0, it) for a ClusterQueue. */
int64_t forest_available(const struct forest *f, uint32_t node, uint32_t pair);
int64_t forest_potential(const struct forest *f, uint32_t node, uint32_t pair);
/* Of a resource: sum of potential over the pairs of the tree (Kueue: lendable; the node is the
 * parent of the one that the share is for). */
int64_t forest_lendable(const struct forest *f, uint32_t node, uint32_t resource);
/* The pairs that some node in the tree configures, by resource name, then id. */
const uint32_t *forest_pairs(const struct forest *f, uint32_t node, size_t *ret_n);
bool forest_borrows_with(const struct forest *f, uint32_t node, uint32_t pair, int64_t extra);
bool forest_within_nominal(const struct forest *f, uint32_t node, const uint32_t *pairs, size_t n);
/* The first node from `node` up, but below `above`, that is within nominal; MODEL_NONE: all of them
 * use more than their quota of some pair. */
uint32_t forest_find_within_nominal(const struct forest *f, uint32_t node, uint32_t above,
				    const uint32_t *pairs, size_t n);
/* Whether all of req fits the quota of this node alone; the part that its parent must provide goes
 * to *ret_rest, which is sorted as req and owned by the caller. req may be the same list. */
bool forest_fits_here(const struct forest *f, uint32_t node, const struct quota_amounts *req,
		      struct quota_amounts *ret_rest);
/* Every pair of req: amount <= max(0, available). */
bool forest_fits(const struct forest *f, uint32_t node, const struct quota_amounts *req);
/* Kueue: FindHeightOfLowestSubtreeThatFits. *ret_reclaim: it is smaller than the whole tree. */
unsigned forest_level(const struct forest *f, uint32_t node, uint32_t pair, int64_t amount,
		      bool *ret_reclaim);

bool forest_is_placed(const struct forest *f, uint32_t node);  /* false: on or below a cycle */
uint32_t forest_parent(const struct forest *f, uint32_t node); /* MODEL_NONE for a root */
uint32_t forest_root(const struct forest *f, uint32_t node);
uint32_t forest_common(const struct forest *f, uint32_t a, uint32_t b);
/* The child of `above` on the way from node up to it. */
uint32_t forest_below(const struct forest *f, uint32_t node, uint32_t above);
/* Children, cohorts and queues, sorted by name (cohorts first). */
const uint32_t *forest_children(const struct forest *f, uint32_t node, size_t *ret_n);
/* The cohorts among them. */
const uint32_t *forest_cohorts(const struct forest *f, uint32_t node, size_t *ret_n);
/* "/root/team/queue", for messages; in the caller's buffer, snprintf-like. */
size_t forest_path(const struct forest *f, uint32_t node, char *buf, size_t size);

#endif
