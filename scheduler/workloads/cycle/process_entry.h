/* scheduler/workloads/cycle/process_entry.h: what becomes of a nominated entry when its turn comes,
 * given what entries before it took and whom they preempt (Kueue: scheduler.processEntry). Owner:
 * the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_PROCESS_ENTRY_H
#define SCHEDULER_WORKLOADS_CYCLE_PROCESS_ENTRY_H

#include "scheduler/workloads/cycle/admission_cycle.h"
#include "scheduler/workloads/cycle/nominal_first.h"

struct process {
	struct forest *forest; /* marked by the caller; entries leave their usage in it */
	struct forest *after;  /* the same without the claimed ones; NULL: nobody is claimed */
	struct arena *arena, *scratch; /* as in struct nominate_context */
	int64_t now;
	struct admission_decisions *decisions;
	struct VEC(uint32_t) claimed;     /* victims of entries processed so far */
	struct VEC(uint8_t) claimed_mark; /* by workload id */
	struct nominal_first nominal;
	bool blocked; /* somebody's pods are not ready yet: nobody else gets in */
};

/* For a new cycle: nobody is claimed. */
void process_entry_begin(struct process *p, struct forest *f, struct arena *arena,
			 struct arena *scratch, int64_t now, struct admission_decisions *decisions);
void process_entry_end(struct process *p); /* of the cycle */
void process_entry_finish(struct process *p);
/* Sets status, requeue, reason, message; adds the decisions to admit or to preempt. */
void process_entry_entry(struct process *p, struct entry *e);
/* It lost its place in this cycle. */
void process_entry_skip(struct entry *e, const char *message);

#endif
