/* scheduler/workloads/preempt/candidates.h: who may be preempted for a request, and in which order
 * they are tried (sorted in ranking.h). What the order looks at is copied out of the workloads, so
 * that sorting stays within the cache. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_PREEMPT_CANDIDATES_H
#define SCHEDULER_WORKLOADS_PREEMPT_CANDIDATES_H

#include "scheduler/workloads/forest/forest_over.h"
#include "scheduler/workloads/preempt/victims.h"

/* Workloads are many, and all over the memory: so many before its turn what is looked at of one is
 * fetched. */
#define CANDIDATES_AHEAD 12

struct candidate { /* of one cache line: a search looks at nothing else of a workload, but for
		      cost, uid and key where all else is equal, and the amounts */
	const struct workload *w;
	struct quota_amount *usage; /* borrowed: does not change while quota is held */
	int64_t priority;           /* effective */
	int64_t reserved;           /* when quota was reserved; now where that is not known */
	double local_usage;         /* of its LocalQueue, where by_usage */
	uint32_t nusage;
	uint32_t id;       /* of w */
	uint32_t holds;    /* the ClusterQueue */
	uint32_t above;    /* classical: the lowest cohort above it and the preemptor */
	uint8_t rank;      /* of the list it is in, before all else */
	uint8_t reason;    /* enum victim_reason */
	bool by_usage;     /* admission fair sharing has a say */
	bool has_cost;     /* w->cost counts */
	bool evicted;      /* already on its way out */
	bool outside;      /* in another ClusterQueue than the preemptor */
	uint8_t no_borrow; /* enum passed_over_rule of a preemptor that borrows */
	bool banned;       /* fair sharing: it would not be a legal victim */
};

struct candidates {
	struct candidate **v; /* in the arena */
	size_t n, cap;
};

/* What the order needs to know of a workload that holds quota. rank, above, reason and the flags of
 * the searches are zero. */
void candidates_describe(const struct victims_request *r, const struct workload *w,
			 struct candidate *ret);
/* Smaller: tried first. Already evicted; other ClusterQueues; (admission fair sharing, in one
 * ClusterQueue) the LocalQueue that used more; lower priority; lower preemption cost (KEP-7990);
 * later reservation; uid; key. rank is not looked at. */
int candidates_cmp(const struct candidate *a, const struct candidate *b);
/* Appends the workloads that hold quota in `node`, use one of the request's pairs and may be
 * preempted by the policy; not those whose status cannot be written. */
void candidates_collect(const struct victims_request *r, uint32_t node, enum quota_policy policy,
			struct arena *arena, struct candidates *out);
/* What c uses will be looked at soon: starts to bring it near. */
static inline void candidates_fetch(const struct candidate *c)
{
	__builtin_prefetch(c->usage);
}
/* What c uses; borrowed. */
static inline struct quota_amounts candidates_usage(const struct candidate *c)
{
	return (struct quota_amounts){ .v = c->usage, .n = c->nusage, .cap = c->nusage };
}
/* status.preemptionCost */
static inline __int128 candidates_cost(const struct candidate *c)
{
	return c->has_cost ? c->w->cost : 0;
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
/* Those of another list, behind those that are there. */
void candidates_append(struct candidates *out, const struct candidates *more, struct arena *arena);

#endif
