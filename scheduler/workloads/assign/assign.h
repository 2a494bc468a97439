/* scheduler/workloads/assign/assign.h: assigns a flavor to each resource of a workload (Kueue:
 * flavorassigner): resource groups, taints and node affinity of flavors, FlavorFungibility, the
 * flavor with which the next scan begins, and partial admission. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_H
#define SCHEDULER_WORKLOADS_ASSIGN_ASSIGN_H

#include "scheduler/workloads/forest/forest.h"

struct arena;

enum assign_mode { /* worst to best */
		   ASSIGN_NO_FIT,
		   ASSIGN_PREEMPT,      /* has candidates, or none: see assigned_flavor.mode */
		   ASSIGN_DEFERRED_FIT, /* fits once the victims of another entry of this cycle are
					   gone */
		   ASSIGN_FIT,
};

enum flavor_mode { /* of one resource in one flavor, worst to best */
		   FLAVOR_NO_FIT,
		   FLAVOR_NO_CANDIDATES,
		   FLAVOR_PREEMPT,
		   FLAVOR_RECLAIM,
		   FLAVOR_FIT,
};

struct assigned_flavor {
	uint32_t resource, flavor;
	enum flavor_mode mode;
	int32_t tried; /* TriedFlavorIdx: -1 when the scan reached the last flavor */
	unsigned level;
};

struct assigned_podset {
	int32_t count;
	struct assigned_flavor *flavors; /* sorted by resource; those that got one */
	size_t nflavors;
	enum assign_mode mode;
	const char *message; /* why it does not fit, or not without preemption; NULL: it fits */
};

struct assignment {
	enum assign_mode mode;
	unsigned level; /* of borrowing: height of the smallest cohort that holds it; 0: none */
	struct assigned_podset *podsets;
	size_t npodsets;            /* all of the workload; after the first group that fails
				       the rest is not tried: NO_FIT, without message */
	struct quota_amounts usage; /* by pair; arrays live in the arena */
	enum nofit_reason reason;   /* of NoFit */
	const char *message;
	bool is_partial;
};

/* The search for victims for one pair at one node: no targets, all outside of the queue, or some in
 * it; *level is the level of borrowing without them. */
enum assign_answer { ASSIGN_NO_TARGETS, ASSIGN_TARGETS_OUTSIDE, ASSIGN_TARGETS_INSIDE };
typedef enum assign_answer (*assign_probe_fn)(void *ctx, const struct workload *w, uint32_t pair,
					      int64_t amount, unsigned *level);

struct assign_request {
	struct forest *forest;
	const struct workload *w;
	uint32_t node;                   /* the ClusterQueue */
	const int32_t *counts;           /* per pod set; NULL: those of its spec */
	bool from_start;                 /* ignore where the last scan stopped */
	const struct assignment *pinned; /* only these flavors; NULL: any */
	assign_probe_fn probe;           /* NULL: nothing can be preempted */
	void *ctx;
};

/* Everything in *ret lives in the arena. */
void assign_flavors(const struct assign_request *r, struct arena *arena, struct assignment *ret);

/* Lower-bound search over the sizes between full and minimal counts (Kueue: PodSetReducer): the
 * largest counts that are admitted, if smaller ones would be, too. try_counts gets the counts of
 * all pod sets; true: they can be admitted. Its last success was at ret_counts (one per pod set).
 * False: no size can, or no pod set may be smaller. */
typedef bool (*assign_try_fn)(void *ctx, const int32_t *counts);
bool assign_search_counts(const struct workload *w, struct arena *arena, assign_try_fn try_counts,
			  void *ctx, int32_t *ret_counts);

/* Whether the stored position of the last scan is void (Kueue: lastAssignmentOutdated). */
bool assign_last_is_outdated(const struct quota_model *q, const struct workload *w,
			     const struct cluster_queue *queue);
/* Stores in w where the scan for this assignment stopped. *ret_pending: some resource has flavors
 * left, so that the next try may come at once. a NULL: clears it, nothing is pending. */
void assign_store_last(const struct assignment *a, struct workload *w, const struct quota_model *q,
		       const struct cluster_queue *queue, bool *ret_pending);

#endif
