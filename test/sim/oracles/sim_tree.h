/* test/sim/oracles/sim_tree.h: the arithmetic of quota along the cohort tree, computed the simple
 * way from the ClusterQueues, Cohorts and Workloads at the server, without code of the scheduler.
 * Flavors and resources are those that sim_quota_users makes. Owner: the caller. Pure. */
#ifndef TEST_SIM_ORACLES_SIM_TREE_H
#define TEST_SIM_ORACLES_SIM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_TREE_FLAVORS 2
#define SIM_TREE_RESOURCES 2 /* cpu in thousandths, memory in bytes */
#define SIM_TREE_PAIRS (SIM_TREE_FLAVORS * SIM_TREE_RESOURCES)
#define SIM_TREE_NODES 16

struct jdoc;
struct sim_view;

extern const char *const sim_tree_flavors[SIM_TREE_FLAVORS];
extern const char *const sim_tree_resources[SIM_TREE_RESOURCES];

/* Amounts of pairs: flavor f, resource r is at f * SIM_TREE_RESOURCES + r. */
struct sim_tree_amounts {
	int64_t v[SIM_TREE_PAIRS];
};

struct sim_tree_node {
	char name[24];
	bool is_queue, exists;
	int parent;               /* -1: none */
	bool has[SIM_TREE_PAIRS]; /* its resource groups name the pair */
	int64_t nominal[SIM_TREE_PAIRS];
	int64_t borrow[SIM_TREE_PAIRS], lend[SIM_TREE_PAIRS]; /* -1: no limit */
	int64_t used[SIM_TREE_PAIRS]; /* of a ClusterQueue: by its Workloads */
};

struct sim_tree {
	struct sim_tree_node v[SIM_TREE_NODES];
	int n;
};

/* Quotas only: nothing is used. */
void sim_tree_read(struct sim_tree *t, const struct sim_view *view);
bool sim_tree_same(const struct sim_tree *a, const struct sim_tree *b); /* without usage */
/* The use of all Workloads that hold quota. */
void sim_tree_charge(struct sim_tree *t, const struct sim_view *view);
int sim_tree_find(const struct sim_tree *t, const char *queue); /* -1: no such ClusterQueue */
int sim_tree_root(const struct sim_tree *t, int node);
void sim_tree_add(struct sim_tree *t, int node, const struct sim_tree_amounts *a, int sign);
int64_t sim_tree_amount(const char *resource, const char *quantity);

/* The use of a Workload by its admission. */
void sim_tree_usage_of(const struct jdoc *w, struct sim_tree_amounts *ret);

/* The queue's usage of a pair exceeds no limit: its borrowing limit, those of the cohorts that it
 * borrows through, and the quota of the whole tree. strict: checks all ancestors, also where the
 * queue's own quota is enough. */
bool sim_tree_is_within(const struct sim_tree *t, int node, size_t pair, bool strict);
/* More is used than the queue's own quota. */
bool sim_tree_is_borrowing(const struct sim_tree *t, int node, size_t pair);

#endif
