/* scheduler/workloads/preempt/fair_tournament.h: with fair sharing, the ClusterQueue of the next
 * victim. For each victim the tree is walked down from its root to the child with the highest share
 * that still has candidates; shares follow the removals. Nodes are numbered among themselves: the
 * preemptor's queue, the queues that have candidates, and the cohorts above them. Owner: the
 * search. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_FAIR_TOURNAMENT_H
#define SCHEDULER_WORKLOADS_PREEMPT_FAIR_TOURNAMENT_H

#include "collections/vec.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/preempt/candidates.h"

#define FAIR_TOURNAMENT_NONE MODEL_NONE

struct arena;
struct fair_tournament_node;
struct fair_tournament_entry;

struct fair_tournament {
	struct forest *forest;
	struct arena *arena;
	struct VEC(struct fair_tournament_node) nodes;
	struct fair_tournament_entry *entries; /* by node; of the nodes that still compete */
	uint32_t *node_at; /* the number of a node of the forest; FAIR_TOURNAMENT_NONE */
	uint32_t root, own;
	struct candidates all; /* of all queues */
};

struct fair_tournament_shares { /* of the two right below the lowest cohort above preemptor and
				   target */
	uint32_t target;
	struct share preemptor, old; /* the target's */
};

/* Finds the candidates: those of the preemptor's queue by withinClusterQueue, those of the queues
 * of its tree that borrow what is needed by reclaimWithinCohort. */
void fair_tournament_init(struct fair_tournament *t, const struct victims_request *r,
			  struct arena *arena);
void fair_tournament_finish(struct fair_tournament *t);
/* Orders the candidates of each queue; once, before the first round. */
void fair_tournament_rank(struct fair_tournament *t);
/* Begins a round: shares are computed again, and no candidate is kept. */
void fair_tournament_reset(struct fair_tournament *t);
/* Begins a pass over all candidates that are not banned; the second one over those kept. */
void fair_tournament_begin(struct fair_tournament *t, bool second_pass);

/* The queue of the next victim; FAIR_TOURNAMENT_NONE: no candidate is left. */
uint32_t fair_tournament_next(struct fair_tournament *t);
/* Plays the matches of the queue and of the cohorts above it again, after its turn. */
void fair_tournament_settle(struct fair_tournament *t, uint32_t queue);
/* Its next candidate; NULL: none is left. */
struct candidate *fair_tournament_pop(struct fair_tournament *t, uint32_t queue);
/* Leaves the candidate for the second pass. */
void fair_tournament_keep(struct fair_tournament *t, uint32_t queue, struct candidate *c);
/* Takes the queue out for the rest of this pass. */
void fair_tournament_skip(struct fair_tournament *t, uint32_t queue);

/* The queue in which a candidate holds quota. */
uint32_t fair_tournament_queue_of(const struct fair_tournament *t, const struct candidate *c);
/* The usage of the queue changed: shares from it up to the root are outdated. */
void fair_tournament_changed(struct fair_tournament *t, uint32_t queue);
struct share fair_tournament_share(struct fair_tournament *t, uint32_t id);
/* The shares that the strategies compare, for a queue that is not the preemptor's. */
struct fair_tournament_shares fair_tournament_compare(struct fair_tournament *t, uint32_t queue);
/* The node of the forest, from the queue up, that keeps it from its turn, as it does not borrow;
 * MODEL_NONE: nothing does. */
uint32_t fair_tournament_find_within_quota(struct fair_tournament *t, uint32_t queue);
/* The node of the forest that has this number. */
uint32_t fair_tournament_forest_node(const struct fair_tournament *t, uint32_t id);

#endif
