/* scheduler/workloads/cycle/admission_cycle.h: one scheduling cycle over Workloads (Kueue:
 * scheduler.schedule). Pops the heads, nominates, orders and processes them, puts back who did not
 * get in. Changes nothing of the world but the pending side (heap, inadmissible, scan positions):
 * quota that was given and victims are decisions, which the caller applies (admission_apply) before
 * the next cycle. Owner: the sched thread. Pure; now is handed in. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_ADMISSION_CYCLE_H
#define SCHEDULER_WORKLOADS_CYCLE_ADMISSION_CYCLE_H

#include "scheduler/workloads/cycle/entry_order.h"

enum quota_decision_kind {
	QUOTA_DECIDE_ADMIT,   /* workload, node, assignment */
	QUOTA_DECIDE_PREEMPT, /* workload: victim; by, victim_reason, message; ongoing: evicted
				 already */
	QUOTA_DECIDE_PENDING, /* workload, node: looked at, not in: status, where, requeue, reason,
				 message, assignment */
};

/* What came of an entry whose victims were claimed by another one of the cycle. */
enum quota_recompute {
	QUOTA_RECOMPUTE_NONE,
	QUOTA_RECOMPUTE_DEFERRED_FIT,
	QUOTA_RECOMPUTE_NEW_TARGETS,
	QUOTA_RECOMPUTE_SKIPPED,
};

struct admission_decision {
	enum quota_decision_kind kind;
	uint32_t workload, by, node; /* MODEL_NONE where not meant */
	enum victim_reason victim_reason;
	bool ongoing;
	enum entry_status status; /* PENDING; ENTRY_GATED: a preemption gate is closed */
	enum quota_where where;   /* after the cycle */
	enum quota_requeue requeue;
	enum nofit_reason reason;
	enum quota_recompute recompute; /* ADMIT and PENDING */
	const char *message;
	const struct assignment *assignment; /* NULL: flavors were not looked at */
};

struct admission_decisions {
	struct admission_decision *v; /* what they point to is in the cycle's arena */
	size_t n, cap;
};

struct admission_cycle; /* arena and scratch that live from cycle to cycle */

/* f is borrowed and must outlive it. */
struct admission_cycle *admission_cycle_create(struct forest *f);
void admission_cycle_destroy(struct admission_cycle *c); /* NULL is fine */
/* Decisions live until the next run: those of the entries in the order in which they were
 * processed, then the workloads that were put back. */
const struct admission_decisions *admission_cycle_run(struct admission_cycle *c, int64_t now);

#endif
