/* scheduler/orchestrate/price.h: the cost of letting a Workload preempt on one worker cluster
 * (ORCHESTRATE_COST). The victims are those that the worker's own rules would choose: the search is
 * the engine's (workloads/cycle/dry_run.h), on a model of that worker, for this Workload alone and
 * as if its preemption gates were open. Pure; owned by the caller.
 *
 * Costs are in pod-seconds, whole numbers that saturate. Each term can be read off the Workloads:
 *
 *   work = pods * (seconds + PRICE_RESTART_S * (1 + evictions))
 *   cost of a victim = work + work * priority + preemptionCost
 *   cost = sum over the victims + pods of the preemptor * longest grace period of a victim
 *
 *   pods            that hold quota, so without reclaimable ones
 *   seconds         since it was admitted; 0: it has quota and is not admitted yet
 *   evictions       so far, of all reasons (status.schedulingStats), PRICE_MAX_EVICTIONS at most
 *   priority        of the victim divided by that of the preemptor, boosts included, from 0 to 1:
 *                   work of the preemptor's priority counts twice. A preemptor of priority 0 or
 *                   less: 1 when the victim's is not below, else 0
 *   preemptionCost  status.preemptionCost (KEP-7990) in whole units, but not beyond the work in
 *                   either direction
 *   grace period    terminationGracePeriodSeconds of the pod templates, PRICE_DEFAULT_GRACE_S where
 *                   absent, PRICE_MAX_GRACE_S at most
 *
 * A victim that is evicted already costs nothing itself. Between the Workloads of a queue
 * preemptionCost breaks ties. Costs of clusters are hardly ever equal, so that it would not count
 * at all here; without a bound whatever may write the status of one Workload would choose for all
 * clusters.
 *
 * Seconds are differences of two times of the worker, never of a time of the worker and one of the
 * manager: a clock that is wrong by an hour changes no cost. */
#ifndef SCHEDULER_ORCHESTRATE_PRICE_H
#define SCHEDULER_ORCHESTRATE_PRICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct forest;
struct workload;

#define PRICE_RESTART_S 60
#define PRICE_MAX_EVICTIONS 9
#define PRICE_MAX_GRACE_S 1200 /* as long as an attempt lasts (orchestrate_defaults) */
#define PRICE_DEFAULT_GRACE_S 30

/* Of a Workload, what struct workload does not have. */
struct price_facts {
	int64_t admitted_at; /* transition of Admitted, wall ns of the worker; MODEL_TIME_NONE */
	int64_t pods;
	int64_t grace_s;
	int64_t evictions;
};

struct price_request {
	struct forest *forest;           /* unchanged on return */
	struct workload *w;              /* the replica; unchanged but for its scan position */
	const struct price_facts *facts; /* by id of the Workload */
	size_t nfacts;                   /* those beyond count as not admitted, without pods */
	int64_t now;                     /* wall ns of the worker's clock: see price_model.h */
	/* Keys of Workloads that are to be victims of other tokens: no candidates any more, and
	 * their room is what those tokens get. Unknown ones have no effect. */
	const char *const *promised;
	size_t npromised;
};

enum price_verdict {
	PRICE_UNKNOWN,  /* the model cannot say: not there, or a feature that it lacks */
	PRICE_CANNOT,   /* it does not fit, and preemption would not help */
	PRICE_FITS,     /* without preemption, or it has quota already */
	PRICE_PREEMPTS, /* with these victims */
	PRICE_VERDICT_COUNT_
};

struct price_victim {
	const char *key;
	int64_t pods, seconds, evictions, grace_s;
	int64_t priority; /* effective */
	int64_t preemption_cost;
	int64_t cost;
	bool leaving; /* evicted already */
};

struct price {
	enum price_verdict verdict;
	const char *message;          /* why it is unknown or cannot; else NULL */
	struct price_victim *victims; /* in the order in which they were chosen */
	size_t n;
	int64_t pods; /* of the preemptor; of PREEMPTS */
	int64_t wait_s;
	/* For struct replica: REPLICA_COST_UNKNOWN; REPLICA_COST_CANNOT; 0: FITS. */
	int64_t cost;
};

/* Texts and victims live in the arena or as long as the model. O(Workloads) and the search. */
void price_find(const struct price_request *r, struct arena *arena, struct price *ret);
const char *price_verdict_name(enum price_verdict v); /* "Preempts", for explanations */

#endif
