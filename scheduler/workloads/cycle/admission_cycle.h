/* scheduler/workloads/cycle/admission_cycle.h: one scheduling cycle over Workloads (Kueue:
 * scheduler.schedule). Pops the heads, nominates, orders and processes them, and requeues those
 * that are not admitted. Changes only the pending side of the model (heap, inadmissible, scan
 * positions): admissions and preemptions are decisions, which the caller applies (admission_apply)
 * before the next cycle. Owner: the sched thread. Pure; now is handed in. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_ADMISSION_CYCLE_H
#define SCHEDULER_WORKLOADS_CYCLE_ADMISSION_CYCLE_H

#include "collections/vec.h"
#include "scheduler/workloads/cycle/entry_order.h"

enum admission_decision_kind {
	QUOTA_DECIDE_ADMIT,   /* workload, node, assignment */
	QUOTA_DECIDE_PREEMPT, /* workload: victim; by, victim_reason, message; ongoing: evicted
				 already */
	QUOTA_DECIDE_PENDING, /* workload, node: requeued; status, where, requeue, reason, message,
				 assignment */
};

/* The second nomination of an entry with victims that another entry of the cycle has claimed. */
enum quota_recompute {
	QUOTA_RECOMPUTE_NONE,
	QUOTA_RECOMPUTE_DEFERRED_FIT,
	QUOTA_RECOMPUTE_NEW_TARGETS,
	QUOTA_RECOMPUTE_SKIPPED,
};

struct admission_decision {
	enum admission_decision_kind kind;
	uint32_t workload, by, node; /* MODEL_NONE where the kind has none */
	enum victim_reason victim_reason;
	bool ongoing;
	enum entry_status status; /* PENDING; ENTRY_GATED: a preemption gate is closed */
	enum quota_where where;   /* after the cycle */
	enum quota_requeue requeue;
	enum nofit_reason reason;
	enum quota_recompute recompute; /* ADMIT and PENDING */
	const char *message;
	const struct assignment *assignment; /* NULL: it was not nominated */
};

struct admission_decisions VEC(struct admission_decision); /* they point into the cycle's arena */

struct admission_cycle; /* arena and scratch that live from cycle to cycle */

/* f is borrowed and must outlive it. */
struct admission_cycle *admission_cycle_create(struct forest *f);
void admission_cycle_destroy(struct admission_cycle *c); /* NULL is fine */
/* Decisions live until the next run: those of the entries in the order in which they were
 * processed, then the requeued workloads. */
const struct admission_decisions *admission_cycle_run(struct admission_cycle *c, int64_t now);

#endif
