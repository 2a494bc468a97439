/* scheduler/workloads/forest/forest_priv.h: the inside of a forest; for forest*.c only.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_FOREST_FOREST_PRIV_H
#define SCHEDULER_WORKLOADS_FOREST_FOREST_PRIV_H

#include "scheduler/base/tree.h"
#include "scheduler/workloads/forest/forest.h"

/* Of one node and one pair; constant until the forest changes. */
struct forest_limit {
	bool has; /* the node, or one below it, configures the pair */
	int64_t nominal, subtree;
	int64_t local;     /* part of subtree that is private: not lent */
	int64_t borrowing; /* QUOTA_NO_LIMIT */
	int64_t potential;
};

struct forest {
	struct quota_model *model;
	bool is_built, is_fork; /* a fork owns its sums alone */
	uint64_t gen;           /* model->forest_gen of what follows */
	uint64_t state;         /* from 1; changes when a workload holds or releases */
	size_t n;               /* nodes, free ids included */
	unsigned width, ncolumns;
	struct tree *tree;
	struct tree_sums *sums;      /* usage */
	struct forest_limit *limits; /* node * width + pair */
	uint32_t *height, *root;     /* per node */
	uint32_t *column; /* by resource: its place in lendable; resources without a pair share 0 */
	size_t nresources;
	int64_t *lendable;  /* node * ncolumns + column */
	uint32_t *children; /* those of node i: from child_at[i] up to child_at[i + 1] */
	size_t *child_at;
	uint32_t *pairs; /* those of the tree of root i: likewise; by resource name, then id */
	size_t *pair_at;
	struct forest_over *over; /* forest_over.h; by pair; NULL: not needed yet */
};

/* Fills everything but sums from the model; frees what was there before. */
void forest_build_from_model(struct forest *f);
void forest_build_free(struct forest *f);

#endif
