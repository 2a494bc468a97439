/* scheduler/workloads/preempt/victims.h: the search for victims (Kueue: preemption; KEP-83;
 * KEP-7990 for the cost). The classical search is in victims_classical.c, fair sharing in
 * victims_fair.c and fair_tournament.c, candidates and their order in candidates.h. Usage of the
 * forest is as before on return. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_VICTIMS_H
#define SCHEDULER_WORKLOADS_PREEMPT_VICTIMS_H

#include "scheduler/workloads/assign/assign.h"
#include "scheduler/workloads/model/quota_store.h"
#include "scheduler/workloads/preempt/passed_over.h"
#include "scheduler/workloads/preempt/victim.h"

struct victims {
	struct victim *v; /* in the arena; in the order in which they were taken */
	size_t n;
};

struct victims_request {
	struct forest *forest;
	const struct workload *w;
	uint32_t node;                    /* its ClusterQueue */
	const struct quota_amounts *need; /* by pair: the whole request */
	const uint32_t *pairs;            /* the pairs that need preemption, sorted */
	size_t npairs;
	int64_t now; /* wall ns: for candidates with a QuotaReserved that has no time */
	/* Ids of workloads that are no candidates: victims of other entries of this cycle; the
	 * caller has removed their usage from the forest. In any order. */
	const uint32_t *gone;
	size_t ngone;
	struct arena *scratch; /* emptied by every search, which saves allocations; NULL: its own */
	/* NULL, or a zeroed array by workload id: the search records in it why each holder is
	 * passed over. It looks at all holders of the tree then, with the same result. */
	struct passed_over *passed_over;
};

/* An empty set: preemption cannot help. Equal input gives equal output; no member could be left
 * out; every member is allowed by the policies. The request must not fit already.
 * O(c log c + c * d) for c candidates in a forest of depth d. */
void victims_find(const struct victims_request *r, struct arena *arena, struct victims *ret);

/* Whether the policy lets p preempt c (PASSED_OVER_NOT: it does): never, lower priority, or equal
 * and newer. */
static inline enum passed_over_rule victims_policy_rule(const struct quota_model *q,
							enum quota_policy policy,
							const struct workload *p,
							const struct workload *c)
{
	int64_t pp, pc;

	switch (policy) {
	case QUOTA_NEVER:
		return PASSED_OVER_POLICY;
	case QUOTA_ANY:
		return PASSED_OVER_NOT;
	case QUOTA_LOWER_PRIORITY:
	case QUOTA_LOWER_OR_NEWER_EQUAL:
		break;
	}
	pp = workload_priority(q, p);
	pc = workload_priority(q, c);
	if (pp != pc) {
		return pp > pc ? PASSED_OVER_NOT : PASSED_OVER_PRIORITY;
	}
	if (policy == QUOTA_LOWER_PRIORITY) {
		return PASSED_OVER_PRIORITY;
	}
	return workload_queue_time(q, p) < workload_queue_time(q, c) ? PASSED_OVER_NOT
								     : PASSED_OVER_AGE;
}

/* Whether borrowWithinCohort of the preemptor's queue lets it borrow by preempting a workload of
 * another queue, by the priorities of both (PASSED_OVER_NOT: it does). */
static inline enum passed_over_rule victims_borrow_rule(const struct cluster_queue *queue,
							int64_t preemptor, int64_t victim)
{
	if (queue->borrow_within == QUOTA_NEVER) {
		return PASSED_OVER_BORROW_POLICY;
	}
	if (victim >= preemptor) {
		return PASSED_OVER_BORROW_PRIORITY;
	}
	return queue->has_threshold && victim > queue->threshold ? PASSED_OVER_BORROW_THRESHOLD
								 : PASSED_OVER_NOT;
}

struct victims_found { /* for one pair alone */
	uint32_t pair;
	int64_t amount;
	struct victims victims;
	struct victims_found *next;
};

/* The assign_probe_fn of assign.h: runs the whole search for one pair alone. *level is set when
 * there are victims: the level of borrowing with all of them gone. */
struct victims_probe {
	struct forest *forest;
	uint32_t node; /* the ClusterQueue of the workload */
	int64_t now;
	const uint32_t *gone; /* as in struct victims_request */
	size_t ngone;
	struct arena *arena;           /* of what it found */
	struct arena *scratch;         /* as in struct victims_request */
	struct victims_found *answers; /* the last one first */
};
/* ctx: a struct victims_probe. */
enum assign_answer victims_probe_ask(void *ctx, const struct workload *w, uint32_t pair,
				     int64_t amount, unsigned *level);
/* victims_find for a request of the same workload; an equal request that the probe has answered
 * is not searched again. The forest must be as it was then. */
void victims_probe_find(const struct victims_probe *o, const struct victims_request *r,
			struct victims *ret);

/* The two searches; their data and the result live in the arena. `gone` is sorted, the ClusterQueue
 * is in a tree (not on a cycle). */
void victims_classical(const struct victims_request *r, struct arena *arena, struct victims *ret);
void victims_fair(const struct victims_request *r, struct arena *arena, struct victims *ret);

#endif
