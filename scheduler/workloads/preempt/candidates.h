/* scheduler/workloads/preempt/candidates.h: the workloads that may be preempted for a request, and
 * the order in which they are tried (sorted in ranking.h). The keys of the order are copied out of
 * the workloads, so that sorting stays within the CPU's cache. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_CANDIDATES_H
#define SCHEDULER_WORKLOADS_PREEMPT_CANDIDATES_H

#include "scheduler/workloads/forest/forest_over.h"
#include "scheduler/workloads/preempt/victims.h"

/* Workloads are spread over the memory: the data of one is prefetched so many steps ahead. */
#define CANDIDATES_AHEAD 12

struct candidate { /* one cache line: a search reads nothing else of a workload, but its amounts
		      and, where all else is equal, cost, uid and key */
	const struct workload *w;
	struct quota_amount *usage; /* borrowed: does not change while quota is held */
	int64_t priority;           /* effective */
	int64_t reserved;           /* when quota was reserved; now where that is not known */
	double local_usage;         /* of its LocalQueue, where by_usage */
	uint32_t nusage;
	uint32_t id;       /* of w */
	uint32_t holds;    /* the ClusterQueue */
	uint32_t above;    /* classical: the lowest cohort above it and the preemptor */
	uint8_t rank;      /* of its list; compared before candidates_cmp (ranking.h) */
	uint8_t reason;    /* enum victim_reason */
	bool by_usage;     /* local_usage counts (admission fair sharing) */
	bool has_cost;     /* w->cost counts */
	bool evicted;      /* already: its quota comes free by itself */
	bool outside;      /* in another ClusterQueue than the preemptor */
	uint8_t no_borrow; /* enum passed_over_rule of a preemptor that borrows */
	bool banned;       /* fair sharing: no legal victim, found in an earlier round */
};

struct candidates {
	struct candidate **v; /* in the arena */
	size_t n, cap;
};

/* Fills in the keys of a workload that holds quota. rank, above, reason and the flags of the
 * searches are zero. */
void candidates_describe(const struct victims_request *r, const struct workload *w,
			 struct candidate *ret);
/* Smaller: tried first. Already evicted; other ClusterQueues; (admission fair sharing, in one
 * ClusterQueue) the LocalQueue that used more; lower priority; lower preemption cost (KEP-7990);
 * later reservation; uid; key. rank does not count. In the classical search rank has decided the
 * first two keys already: it puts evicted candidates first, and each list is of one kind of queue.
 */
int candidates_cmp(const struct candidate *a, const struct candidate *b);
/* Appends the workloads that hold quota in `node`, use one of the request's pairs and may be
 * preempted by the policy; not those with a status that cannot be written. */
void candidates_collect(const struct victims_request *r, uint32_t node, enum quota_policy policy,
			struct arena *arena, struct candidates *out);
/* Prefetches the amounts that c uses. */
static inline void candidates_fetch(const struct candidate *c)
{
	__builtin_prefetch(c->usage);
}
/* The amounts that c uses; borrowed. */
static inline struct quota_amounts candidates_usage(const struct candidate *c)
{
	return (struct quota_amounts){ .v = c->usage, .n = c->nusage, .cap = c->nusage };
}
/* status.preemptionCost */
static inline __int128 candidates_cost(const struct candidate *c)
{
	return c->has_cost ? c->w->object.cost : 0;
}
/* Takes the candidates from the index `from` on out of the list again, and records why: r has a
 * record. */
void candidates_pass_over(const struct victims_request *r, struct candidates *out, size_t from,
			  enum passed_over_rule rule, uint32_t node);
/* Appends the queues right below the cohort that can have candidates, which are those that use more
 * than their quota; with a record all of them, so that it can say that of the others. */
void candidates_find_queues(const struct victims_request *r, uint32_t cohort,
			    struct forest_over_list *out);
void candidates_push(struct candidates *out, struct candidate *c, struct arena *arena);
/* Appends another list. */
void candidates_append(struct candidates *out, const struct candidates *more, struct arena *arena);

#endif
