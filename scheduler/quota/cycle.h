/* scheduler/quota/cycle.h: one scheduling cycle over Workloads (Kueue: scheduler.schedule). Pops
 * the heads, nominates, orders and processes them, puts back who did not get in. Changes nothing of
 * the world but the pending side (heap, inadmissible, scan positions): quota that was given and
 * victims are decisions, which the caller applies (quota_apply) before the next cycle. Owner: the
 * sched thread. Pure; now is handed in. */
#ifndef SCHEDULER_QUOTA_CYCLE_H
#define SCHEDULER_QUOTA_CYCLE_H

#include "quota/order.h"

enum quota_decision_kind {
	QUOTA_DECIDE_ADMIT,   /* workload, node, assignment */
	QUOTA_DECIDE_PREEMPT, /* workload: victim; by, victim_reason; ongoing: evicted already */
	QUOTA_DECIDE_PENDING, /* workload, node: looked at, not in: requeue, where, reason,
				 assignment */
};

struct quota_decision {
	enum quota_decision_kind kind;
	uint32_t workload, by, node; /* MODEL_NONE where not meant */
	enum victim_reason victim_reason;
	bool ongoing;
	bool gated; /* PENDING: a preemption gate is closed: BlockedOnPreemptionGates */
	enum entry_status status;
	enum quota_where where; /* after the cycle */
	enum quota_requeue requeue;
	enum quota_reason reason;
	const char *message;
	const struct assignment *assignment; /* NULL: flavors were not looked at */
};

struct quota_decisions {
	struct quota_decision *v; /* in the cycle's arena, like all they point to */
	size_t n, cap;
};

struct quota_cycle; /* arena and scratch that live from cycle to cycle */

struct quota_cycle *quota_cycle_create(struct forest *f);
void quota_cycle_destroy(struct quota_cycle *c); /* NULL is fine */
/* Decisions live until the next run. */
const struct quota_decisions *quota_cycle_run(struct quota_cycle *c, int64_t now);
/* Assumes a decision: an admitted workload holds its quota, a victim is Evicted (it keeps its quota
 * until its job has stopped). */
void quota_apply(struct forest *f, const struct quota_decision *d, int64_t now);
const char *quota_reason_name(enum quota_reason r);   /* "WaitingForQuota"; "" for NONE */
const char *quota_requeue_name(enum quota_requeue r); /* "NoFit"; "" for NONE */

#endif
