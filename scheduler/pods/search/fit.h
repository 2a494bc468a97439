/* scheduler/pods/search/fit.h: which node a pod goes to. Pods that are equal but for their terms
 * about other pods share one pass over the nodes (pods/search/ranking.h); pods of one class and
 * one view of topology domains share what follows from the terms, which is asked once for all nodes
 * in the same domains. Ties go to the node with the smaller id. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_FIT_H
#define SCHEDULER_PODS_SEARCH_FIT_H

#include "scheduler/pods/session/session.h"

/* Rankings kept at a time, and classes with a view that use them; the oldest makes room. */
#define FIT_RANKINGS_MAX 64

enum fit_result {
	FIT_NONE,
	FIT_IDLE,      /* fits what is free now */
	FIT_RELEASING, /* fits when what is being released is gone */
};

/* The best node for t, O(log nodes) per changed node, and O(cells) when the domains have changed.
 * The nominated node goes first. */
enum fit_result fit_find(struct session *s, const struct task *t, const struct node **ret_node);
/* Whether t fits this node: now, or when what is being released there is gone. */
enum fit_result fit_on(struct session *s, const struct task *t, const struct node *n);
/* Why t fits no node now: "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had ...". In the
 * session's arena; made once for equal pods of a session. */
const char *fit_explain(struct session *s, const struct task *t);

#endif
