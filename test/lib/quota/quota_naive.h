/* test/lib/quota/quota_naive.h: quota and usage of a forest for one pair of flavor and resource,
 * computed from the definitions at each call. Plain values. Owner: the test. */
#ifndef TEST_LIB_QUOTA_QUOTA_NAIVE_H
#define TEST_LIB_QUOTA_QUOTA_NAIVE_H

#include "scheduler/workloads/forest/forest.h"

#define QUOTA_NAIVE_MAX 32
#define QUOTA_NAIVE_NONE (-1)

struct quota_naive {
	struct {
		int parent; /* QUOTA_NAIVE_NONE: a root */
		bool is_queue;
		int64_t nominal, borrow, lend; /* QUOTA_NAIVE_NONE: no limit */
		int64_t used;                  /* by Workloads that hold quota in it */
	} v[QUOTA_NAIVE_MAX];
	int n, ncohorts; /* cohorts come first where there is an order */
};

/* The world, by the ids of its nodes: the configuration and the Workloads that hold quota. A node
 * that is on or below a circle stands alone. ncohorts stays 0. */
void quota_naive_read(struct quota_naive *t, const struct forest *f, uint32_t pair);

int64_t quota_naive_subtree(const struct quota_naive *t, int i);
int64_t quota_naive_local(const struct quota_naive *t, int i); /* private to the node */
int64_t quota_naive_used(const struct quota_naive *t, int i);
int64_t quota_naive_available(const struct quota_naive *t, int i);
int64_t quota_naive_potential(const struct quota_naive *t, int i);
/* The forest has the same numbers for the node id as t has for i. */
bool quota_naive_is(const struct quota_naive *t, int i, const struct forest *f, uint32_t id,
		    uint32_t pair);

#endif
