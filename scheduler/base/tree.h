/* scheduler/base/tree.h: a forest over dense indices, given as parent[]; and amounts on it that are
 * charged upwards, with undo. Both wings use it with rules of their own. Any size: nothing
 * recurses. Owner: one thread. Pure. */
#ifndef SCHEDULER_BASE_TREE_H
#define SCHEDULER_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_NONE UINT32_MAX

struct tree;

/* parent[i] is an index below n or TREE_NONE for a root. Nodes on a cycle, or below one, are kept
 * but not placed: they have no depth and appear in no order. The array is copied. O(n). */
struct tree *tree_create(const uint32_t *parent, size_t n);
void tree_destroy(struct tree *t); /* NULL is fine */

bool tree_is_placed(const struct tree *t, uint32_t node);
bool tree_is_leaf(const struct tree *t, uint32_t node);
uint32_t tree_parent(const struct tree *t, uint32_t node); /* TREE_NONE for a root */
/* Whether the node is its own ancestor; false for nodes that only hang below a cycle. */
bool tree_is_on_cycle(const struct tree *t, uint32_t node);
/* All placed nodes, parents before children, by depth and then index. */
const uint32_t *tree_order(const struct tree *t, size_t *ret_n);
/* The deepest node that is an ancestor of both a and b, or one of them; TREE_NONE in different
 * trees. Only placed nodes. */
uint32_t tree_common(const struct tree *t, uint32_t a, uint32_t b);
/* The node on the path from `node` to the root that is a child of `above`; `node` itself when node
 * == above. above must be on that path, or TREE_NONE for the root of the path. */
uint32_t tree_below(const struct tree *t, uint32_t node, uint32_t above);

/* Amounts: one vector of `width` int64 per node, saturating. */
struct tree_sums;

/* Returns the part of `amount`, charged at `node` in dimension dim, that is charged to its parent.
 * `before` is what the node held. NULL as rule: all of it. */
typedef int64_t (*tree_rise_fn)(void *ctx, uint32_t node, unsigned dim, int64_t before,
				int64_t amount);

/* All zero. The tree is borrowed and must outlive the sums. */
struct tree_sums *tree_sums_create(const struct tree *t, unsigned width);
struct tree_sums *tree_sums_copy(const struct tree_sums *from); /* without the undo log */
void tree_sums_destroy(struct tree_sums *s);                    /* NULL is fine */
const int64_t *tree_sums_of(const struct tree_sums *s, uint32_t node);
/* Adds amount, in dimension dim, to node and the part that rises to its ancestors, stopping when
 * nothing rises any more. A node that is not placed is charged alone. O(depth). */
void tree_sums_charge(struct tree_sums *s, uint32_t node, unsigned dim, int64_t amount,
		      tree_rise_fn rise, void *ctx);
/* Charges since a mark can be undone exactly, latest mark first; forgetting a mark drops the undo
 * log and keeps the amounts. */
size_t tree_sums_mark(const struct tree_sums *s);
void tree_sums_undo(struct tree_sums *s, size_t mark);
void tree_sums_forget(struct tree_sums *s);

#endif
