/* scheduler/workloads/cycle/process_entry.h: decides about a nominated entry, given the usage and
 * the victims of the entries before it (Kueue: scheduler.processEntry). Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_PROCESS_ENTRY_H
#define SCHEDULER_WORKLOADS_CYCLE_PROCESS_ENTRY_H

#include "scheduler/workloads/cycle/admission_cycle.h"
#include "scheduler/workloads/cycle/nominal_reserve.h"

struct process {
	struct forest *forest; /* marked by the caller; entries leave their usage in it */
	struct forest *after;  /* the same without the claimed workloads; NULL: none is claimed */
	struct arena *arena, *scratch; /* as in struct nominate_context */
	int64_t now;
	struct admission_decisions *decisions;
	struct VEC(uint32_t) claimed;     /* victims of entries processed so far */
	struct VEC(uint8_t) claimed_mark; /* by workload id */
	struct nominal_reserve nominal;
	bool blocked; /* pods of an admitted workload are not ready: no other is admitted */
};

/* For a new cycle: no workload is claimed. */
void process_entry_begin(struct process *p, struct forest *f, struct arena *arena,
			 struct arena *scratch, int64_t now, struct admission_decisions *decisions);
void process_entry_end(struct process *p); /* of the cycle */
void process_entry_finish(struct process *p);
/* Sets status, requeue, reason, message; adds the decisions to admit or to preempt. */
void process_entry_decide(struct process *p, struct entry *e);
/* It is not admitted in this cycle. */
void process_entry_skip(struct entry *e, const char *message);

#endif
