/* scheduler/workloads/preempt/fair_tournament.h: with fair sharing, which ClusterQueue is to give
 * the next victim. Again and again the tree is walked down from its root to the child with the
 * highest share that still has candidates; shares follow what is taken. Queues and cohorts go by
 * their number among those that matter: the preemptor's queue, those that have candidates, and the
 * cohorts above. Owner: the search. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_FAIR_TOURNAMENT_H
#define SCHEDULER_WORKLOADS_PREEMPT_FAIR_TOURNAMENT_H

#include "base/vec.h"
#include "scheduler/workloads/forest/share.h"
#include "scheduler/workloads/preempt/candidates.h"

#define FAIR_TOURNAMENT_NONE MODEL_NONE

struct arena;
struct fair_tournament_spot;
struct fair_tournament_entry;

struct fair_tournament {
	struct forest *forest;
	struct arena *arena;
	struct VEC(struct fair_tournament_spot) spots;
	struct fair_tournament_entry *entries; /* of those that may give, by their numbers */
	uint32_t *spot_of;                     /* of a node; FAIR_TOURNAMENT_NONE */
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
/* Once, before the first round: without it there is no order among candidates. */
void fair_tournament_rank(struct fair_tournament *t);
/* A new round: usage is another one, nobody was kept. */
void fair_tournament_reset(struct fair_tournament *t);
/* A new pass: everybody who is not banned may give, the second time only who was kept. */
void fair_tournament_begin(struct fair_tournament *t, bool second_pass);

/* The queue that is to give next; FAIR_TOURNAMENT_NONE: nobody has anything left. */
uint32_t fair_tournament_next(struct fair_tournament *t);
/* After its turn: it is put in its place again. */
void fair_tournament_settle(struct fair_tournament *t, uint32_t queue);
/* Its next candidate; NULL: none is left. */
struct candidate *fair_tournament_pop(struct fair_tournament *t, uint32_t queue);
/* The candidate is dealt with in the second pass. */
void fair_tournament_keep(struct fair_tournament *t, uint32_t queue, struct candidate *c);
/* It gives nothing more in this pass. */
void fair_tournament_skip(struct fair_tournament *t, uint32_t queue);

/* The number of the queue in which a candidate holds quota. */
uint32_t fair_tournament_queue_of(const struct fair_tournament *t, const struct candidate *c);
/* Usage of the queue changed. */
void fair_tournament_changed(struct fair_tournament *t, uint32_t queue);
struct share fair_tournament_share(struct fair_tournament *t, uint32_t id);
/* Of a queue that is not the preemptor's. */
struct fair_tournament_shares fair_tournament_compare(struct fair_tournament *t, uint32_t queue);
/* The node of the forest, from the queue up, that keeps it from its turn, as it does not borrow;
 * MODEL_NONE: nothing does. */
uint32_t fair_tournament_find_within_quota(struct fair_tournament *t, uint32_t queue);
/* The node of the forest that has this number. */
uint32_t fair_tournament_node(const struct fair_tournament *t, uint32_t id);

#endif
