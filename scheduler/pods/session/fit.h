/* scheduler/pods/session/fit.h: which node a pod goes to. Equal pods (one pod class, and one view
 * of topology domains) share one pass over the nodes: what depends on class and node alone is asked
 * once, the ranking is a tournament tree, and only nodes with changed use are played again. Ties go
 * to the node with the smaller id. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_FIT_H
#define SCHEDULER_PODS_SESSION_FIT_H

#include "scheduler/pods/session/session.h"

#define FIT_CLASSES_MAX 64 /* rankings kept at a time; the oldest makes room */

struct fit;

enum fit_result {
	FIT_NONE,
	FIT_IDLE,      /* fits what is free now */
	FIT_RELEASING, /* fits when what is being released is gone */
};

/* In the session's arena. */
struct fit *fit_create(struct session *s);
/* The best node for t, O(log nodes) per changed node. The nominated node goes first. */
enum fit_result fit_find(struct session *s, const struct task *t, const struct node **ret_node);
/* Whether t fits this node: now, or when what is being released there is gone. */
enum fit_result fit_on(struct session *s, const struct task *t, const struct node *n);
/* Why t fits no node now: "0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had ...". In the
 * session's arena; made once per class and session. */
const char *fit_explain(struct session *s, const struct task *t);

#endif
