/* scheduler/pods/session/ranking_memo.h: results of the predicates and scores of nodes for pods of
 * a shape, kept from one session to the next: a cycle computes them again only for nodes on which
 * pods have come or gone since. A result is of the node without what the session itself has
 * decided. All results are dropped when a Node or CSINode has changed, since scores may compare
 * nodes, and when a resource got or lost its name. Shapes with volumes are not kept: their results
 * depend on other objects as well. The last RANKING_MEMO_SHAPES shapes are kept. Memory: 24 bytes
 * for each node and shape. Owner: struct session, for one configuration. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_RANKING_MEMO_H
#define SCHEDULER_PODS_SESSION_RANKING_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct cluster;
struct node;
struct pod_class;
struct ranking_memo;

#define RANKING_MEMO_SHAPES 8

enum ranking_memo_state {
	RANKING_MEMO_UNKNOWN,
	RANKING_MEMO_REFUSED, /* by the class predicate */
	RANKING_MEMO_ALLOWED, /* by it; the rest is not known */
	RANKING_MEMO_FULL,    /* allowed, but the pod does not fit now */
	RANKING_MEMO_FITS
};

struct ranking_memo_answer {
	uint64_t use_gen; /* of the node, for FULL and FITS */
	double score;     /* FITS */
	enum ranking_memo_state state;
};

struct ranking_memo *ranking_memo_create(void);
void ranking_memo_destroy(struct ranking_memo *m); /* NULL is fine */
/* Answers for the shape, by node id; zeroed where none is known. NULL: none are kept for the class.
 * Valid until the cluster changes, or RANKING_MEMO_SHAPES other shapes were asked for. */
struct ranking_memo_answer *ranking_memo_of(struct ranking_memo *m, const struct cluster *c,
					    const struct pod_class *k, struct str shape);

#endif
