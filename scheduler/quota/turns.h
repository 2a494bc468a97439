/* scheduler/quota/turns.h: with fair sharing, which ClusterQueue is to give the next victim. Again
 * and again the tree is walked down from its root to the child with the highest share that still
 * has candidates; shares follow what is taken. Queues and cohorts go by their number among those
 * that matter: the preemptor's queue, those that have candidates, and the cohorts above. Owner: the
 * search. Pure. */
#ifndef SCHEDULER_QUOTA_TURNS_H
#define SCHEDULER_QUOTA_TURNS_H

#include "base/vec.h"
#include "quota/candidates.h"
#include "quota/share.h"

#define TURNS_NONE MODEL_NONE

struct arena;
struct turns_spot;
struct turns_entry;

struct turns {
	struct forest *forest;
	struct arena *arena;
	struct VEC(struct turns_spot) spots;
	struct turns_entry *entries; /* of those that may give, by their numbers */
	uint32_t *spot_of;           /* of a node; TURNS_NONE */
	uint32_t root, own;
	struct candidates all; /* of all queues */
};

struct turns_shares { /* of the two right below the lowest cohort above preemptor and target */
	uint32_t target;
	struct share preemptor, old; /* the target's */
};

/* Finds the candidates: those of the preemptor's queue by withinClusterQueue, those of the queues
 * of its tree that borrow what is needed by reclaimWithinCohort. */
void turns_init(struct turns *t, const struct victims_request *r, struct arena *arena);
void turns_finish(struct turns *t);
/* Once, before the first round: without it there is no order among candidates. */
void turns_rank(struct turns *t);
/* A new round: usage is another one, nobody was kept. */
void turns_reset(struct turns *t);
/* A new pass: everybody who is not banned may give, the second time only who was kept. */
void turns_begin(struct turns *t, bool second_pass);

/* The queue that is to give next; TURNS_NONE: nobody has anything left. */
uint32_t turns_next(struct turns *t);
/* After its turn: it is put in its place again. */
void turns_settle(struct turns *t, uint32_t queue);
/* Its next candidate; NULL: none is left. */
struct candidate *turns_pop(struct turns *t, uint32_t queue);
/* The candidate is dealt with in the second pass. */
void turns_keep(struct turns *t, uint32_t queue, struct candidate *c);
/* It gives nothing more in this pass. */
void turns_skip(struct turns *t, uint32_t queue);

/* The number of the queue in which a candidate holds quota. */
uint32_t turns_queue_of(const struct turns *t, const struct candidate *c);
/* Usage of the queue changed. */
void turns_changed(struct turns *t, uint32_t queue);
struct share turns_share(struct turns *t, uint32_t id);
/* Of a queue that is not the preemptor's. */
struct turns_shares turns_compare(struct turns *t, uint32_t queue);

#endif
