/* scheduler/orchestrate/orchestrate.h: on which cluster a Workload may preempt, one at a time
 * (KEP-8303, scheduler section). Pure: one call gives the next thing to do, from the token as it
 * stands in the local object and from what has been observed of the replicas. It is called again
 * after each change of either, and at the time that it names; it needs no memory of its own, so
 * that any call may be lost. It is not called while a write of the token or of a gate is under way,
 * nor after one that was not answered before what it wrote has been read again.
 *
 * These promises hold whatever happens (the tests name them by their numbers):
 *  I1 At most one gate that the manager can reach is open. Another one is opened after the first
 * was seen closed, its replica was seen gone, or its cluster was out of reach until its time was
 * over and this manager had time to connect; such a one is closed before anything else once it is
 * back. I2 No gate is opened while a
 * replica that can be reached has quota, or is about to (for ahead_ns). I3 No gate is opened before
 * each replica has been looked at by its worker, those of clusters that are about to be offered
 * included, or the window is over, which begins anew for those when an attempt has ended. I4 A
 * grant is written to the local object before the gate is opened. I5 Only the manager's clock
 * counts. I6 A candidate that stays one gets the token: after at most the window, ahead_ns, and for
 * each time that another one has failed less often the longest attempt (progress_ns). I10 With each
 * attempt stands how many Workloads were evicted for it, as far as its worker has shown that.
 *
 * A gate that is open although this manager never opened it (by hand, or by another manager before
 * this one) counts as a grant. */
#ifndef SCHEDULER_ORCHESTRATE_ORCHESTRATE_H
#define SCHEDULER_ORCHESTRATE_ORCHESTRATE_H

#include "scheduler/orchestrate/replica.h"
#include "scheduler/orchestrate/token.h"

enum orchestrate_mode {
	ORCHESTRATE_COMPAT, /* the first that asked, as Kueue's manager does */
	ORCHESTRATE_ORDER,  /* the first in the order of the MultiKueueConfig */
	ORCHESTRATE_COST,   /* the one where preemption costs least */
};

struct orchestrate_options {
	enum orchestrate_mode mode;
	int64_t window_ns;   /* to wait for the answers of all, from the first signal on; 0: not at
				all */
	int64_t timeout_ns;  /* of an attempt (singleClusterPreemptionTimeout) */
	int64_t progress_ns; /* of an attempt with victims on their way out; at least timeout_ns */
	int64_t probe_ns;    /* for a worker to react to the open gate */
	int64_t ahead_ns;    /* how long a replica that preempts by itself, or has quota and is not
			      * admitted, holds the others back */
	int64_t pause_ns;    /* before the next attempt at the same cluster; doubles with each */
};

#define ORCHESTRATE_PAUSE_DOUBLINGS 6
#define ORCHESTRATE_MAX_COSTS 100 /* of so many candidates the median is taken */

/* Mode COST, and the times of docs: a window of 10 s, attempts of 5 minutes. */
void orchestrate_defaults(struct orchestrate_options *ret);

struct orchestrate_view {
	const struct token *token;
	/* One for each cluster that it is offered to, in configured order, and for each other one
	 * that may still have a replica: what is not here is gone for certain. */
	const struct replica *replicas;
	size_t n;
	/* Wall ns until which this manager may still be making its first connections: a cluster
	 * that cannot be reached may be back at any moment. Not later than now: it has made them.
	 */
	int64_t connecting_until;
	/* Wall ns until which it may be offered to one more cluster, which is waited for as one
	 * that has not answered. Not later than now: to none. */
	int64_t offers_until;
	bool wanted; /* the local Workload has quota, and waits for the answer of a cluster */
	int64_t now; /* wall ns of the manager */
};

enum orchestrate_act {
	ORCHESTRATE_WAIT,   /* until `at`, or until something changes */
	ORCHESTRATE_RECORD, /* write `token` to the local object; then call again */
	ORCHESTRATE_OPEN,   /* the gate of `replica` */
	ORCHESTRATE_CLOSE,
};

struct orchestrate_step {
	enum orchestrate_act act;
	size_t replica;
	int64_t at;         /* wall ns; CLOCK_NEVER: only a change matters */
	struct token token; /* of RECORD */
	struct token_room room;
};

/* ret borrows texts of the token and the replicas. The view is not changed. */
void orchestrate_next(const struct orchestrate_options *opt, const struct orchestrate_view *view,
		      struct orchestrate_step *ret);

#endif
