/* scheduler/workloads/cycle/entry_order.h: the order in which the entries of a cycle are processed
 * (Kueue: entry ordering): a sort, or with fair sharing a tournament that is played again for each
 * winner, because the admissions before it count. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_ENTRY_ORDER_H
#define SCHEDULER_WORKLOADS_CYCLE_ENTRY_ORDER_H

#include "scheduler/workloads/preempt/victims.h"

enum entry_status {
	ENTRY_NOT_NOMINATED,
	ENTRY_NOMINATED,
	ENTRY_SKIPPED,
	ENTRY_GATED,
	ENTRY_ASSUMED,
	ENTRY_EVICTED, /* its victims were issued, or are on their way */
};

struct entry { /* a head within a cycle */
	struct workload *w;
	uint32_t node;
	struct assignment assignment;
	struct victims victims;
	enum entry_status status;
	enum quota_requeue requeue;
	enum nofit_reason reason;
	const char *message;
	uint8_t recompute;   /* enum quota_recompute */
	bool has_assignment; /* it was nominated */
	bool is_preemptor;   /* its queue's sticky preemptor */
	bool keep_tried;     /* the position of the scan stays for the next cycle */
};

struct entry_order;
/* Entries that were nominated; both live in the arena. */
struct entry_order *entry_order_create(struct forest *f, struct entry **entries, size_t n,
				       struct arena *arena);
/* NULL at the end. Between two calls usage may change only by what the entry of the last call adds
 * to its ClusterQueue: with fair sharing only the shares on its way to the root are computed
 * again. */
struct entry *entry_order_next(struct entry_order *o);

#endif
