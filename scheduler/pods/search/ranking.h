/* scheduler/pods/search/ranking.h: the nodes with room for pods of one shape (a pod class without
 * its terms about other pods, and of its images what decides a score), best first within each cell.
 * Terms about other pods treat nodes alike that have the same values of some labels, the topology
 * keys: such nodes form a cell; without keys all nodes are one. So pods with different terms share
 * the pass over the nodes, and ask about their terms once for each cell. Each cell is ranked by a
 * tournament tree, in which only nodes with changed use are played again. Ties go to the node with
 * the smaller id. Owner: struct fit; memory: the session's arena. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_RANKING_H
#define SCHEDULER_PODS_SEARCH_RANKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct domain_key;
struct node;
struct pod_class;
struct ranking_memo_answer;
struct session;
struct task;

#define RANKING_NONE UINT32_MAX

/* Nodes that exist, by id. A place is an index into v. */
struct ranking_nodes {
	const struct node **v;
	uint32_t *place; /* by node id; RANKING_NONE */
	size_t n;
	uint32_t *made, *made_for; /* scratch memory of ranking_fill, n + 1 each */
};

struct ranking {
	uint64_t id; /* no two fillings have the same; 0: not filled */
	const struct ranking_nodes *nodes;
	struct str shape;  /* pod_class_format_shape and hooks_node_score_key */
	const char **keys; /* interned names of the topology keys */
	size_t nkeys;
	struct ranking_memo_answer *memo; /* while it is filled; NULL: none */
	uint64_t *may;                    /* bit set by place: the class predicate passes */
	uint32_t *version;                /* by place: of the node when it was last played */
	double *score;                    /* by place, of those that fit */
	uint32_t *cell;                   /* by place */
	uint32_t *order;                  /* places, cell by cell */
	uint32_t *at;                     /* by place: its index in order */
	uint32_t *start;                  /* by cell, and one more: into order */
	size_t ncells;                    /* at least 1 */
	/* A tree of 2 * n for each cell of n nodes, in the order of cells. Node 1 is the root, the
	 * last n are the leaves; RANKING_NONE: no node fits. */
	uint32_t *tree;
	size_t seen;    /* how many entries of overlay->touched have been played */
	uint64_t whole; /* how often all nodes were played again */
	const char
		*explain; /* for fit.c: why pods without a view fit no node; NULL: not asked yet */
};

/* Without memory of its own yet. */
struct ranking *ranking_create(struct session *s, const struct ranking_nodes *nodes);
/* Ranks the nodes for t. shape: of its class, copied; keys: of what its terms depend on.
 * O(nodes * keys). */
void ranking_fill(struct session *s, struct ranking *r, const struct task *t, struct str shape,
		  const struct domain_key *const *keys, size_t nkeys);
/* Whether r was filled for this shape and these keys. */
bool ranking_serves(const struct ranking *r, struct str shape, const struct domain_key *const *keys,
		    size_t nkeys);
/* Plays the nodes again of which the use has changed; all: all nodes. t: a pod of the shape. */
void ranking_refresh(struct session *s, struct ranking *r, const struct task *t, bool all);

/* The best place of the cell; whether the node at this place fits; the first place of the cell that
 * the class predicate allows. RANKING_NONE: none. */
static inline uint32_t ranking_best(const struct ranking *r, size_t cell)
{
	return r->start[cell] == r->start[cell + 1] ? RANKING_NONE
						    : r->tree[2 * r->start[cell] + 1];
}
bool ranking_fits(const struct ranking *r, uint32_t place);
uint32_t ranking_sample(const struct ranking *r, size_t cell);

/* Whether what the class requests is free on the node: now, and when the pods that terminate there
 * are gone (session_node_taken_later). */
bool ranking_room_now(const struct session *s, const struct pod_class *k, const struct node *n);
bool ranking_room_later(const struct session *s, const struct pod_class *k, const struct node *n);

#endif
