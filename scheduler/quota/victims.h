/* scheduler/quota/victims.h: whom to preempt (Kueue: preemption; KEP-83; KEP-7990 for the cost).
 * The classical search is in victims_classical.c, fair sharing in victims_fair.c, the order of
 * candidates in candidates.c. Usage of the forest is as before on return. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_QUOTA_VICTIMS_H
#define SCHEDULER_QUOTA_VICTIMS_H

#include "quota/assign.h"

enum victim_reason { /* of the Preempted condition */
		     VICTIM_IN_CLUSTER_QUEUE,
		     VICTIM_IN_COHORT_RECLAMATION,
		     VICTIM_IN_COHORT_FAIR_SHARING,
		     VICTIM_IN_COHORT_RECLAIM_WHILE_BORROWING,
};

struct victim {
	uint32_t workload;
	enum victim_reason reason;
};

struct victims {
	struct victim *v; /* in the arena */
	size_t n;
};

struct victims_request {
	struct forest *forest;
	const struct workload *w;
	uint32_t node;                    /* its ClusterQueue */
	const struct quota_amounts *need; /* by pair: all that it asks */
	const uint32_t *pairs;            /* those that must be preempted for, sorted */
	size_t npairs;
	int64_t now; /* wall ns: of candidates whose QuotaReserved has no time */
	/* Workloads that are no candidates: victims of other entries of this cycle, whose usage the
	 * caller has taken away. */
	const uint32_t *gone;
	size_t ngone;
};

/* An empty set: there is none that would do. Equal input gives equal output; no member could be
 * left out; every member is allowed by the policies. */
void victims_find(const struct victims_request *r, struct arena *arena, struct victims *ret);

/* What assign_flavors asks (an assign_oracle_fn); ctx is a struct victims_oracle. */
struct victims_oracle {
	struct forest *forest;
	struct arena *arena;
	uint32_t node;
	int64_t now;
	const uint32_t *gone; /* as in struct victims_request */
	size_t ngone;
};
enum assign_answer victims_oracle_ask(void *ctx, const struct workload *w, uint32_t pair,
				      int64_t amount, unsigned *level);

/* Whether the policy lets p preempt c (3.1): never, lower priority, or equal and newer. */
bool victims_allowed(const struct quota *q, enum quota_policy policy, const struct workload *p,
		     const struct workload *c);

/* The order of candidates: already evicted first; other queues first; (admission fair sharing) of
 * the LocalQueue that used more; lower priority; lower preemption cost; later reservation; uid;
 * key. */
struct candidates_order {
	const struct quota *q;
	uint32_t node; /* of the preemptor */
	int64_t now;
};
int candidates_cmp(const struct candidates_order *o, const struct workload *a,
		   const struct workload *b);

/* What the two searches share: who in `node` may be preempted for the request and uses one of its
 * pairs, appended and sorted. */
struct candidates {
	const struct workload **v; /* in the arena */
	size_t n, cap;
};
void candidates_collect(const struct victims_request *r, uint32_t node, enum quota_policy policy,
			struct arena *arena, struct candidates *out);
void victims_classical(const struct victims_request *r, struct arena *arena, struct victims *ret);
void victims_fair(const struct victims_request *r, struct arena *arena, struct victims *ret);
const char *victim_reason_name(enum victim_reason r); /* "InClusterQueue", ... */

#endif
