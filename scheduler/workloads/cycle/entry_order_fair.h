/* scheduler/workloads/cycle/entry_order_fair.h: the tournament of fair sharing (Kueue:
 * fairSharingIterator). In each cohort the winners of its children compete, by the share that a
 * child would have with its winner admitted; the winner at the root is next. Trees come one after
 * the other, by the names of their roots. Owner: the sched thread. Pure.
 *
 * Only the matches that the last winner can have changed are played again, so an entry costs the
 * depth of its tree times the logarithm of the number of siblings, not a new tournament. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_ENTRY_ORDER_FAIR_H
#define SCHEDULER_WORKLOADS_CYCLE_ENTRY_ORDER_FAIR_H

#include "scheduler/workloads/cycle/entry_order.h"

struct entry_order_fair;

/* Entries of one ClusterQueue stay in the order given, those that hold quota first. */
struct entry_order_fair *entry_order_fair_create(struct forest *f, struct entry **entries, size_t n,
						 struct arena *arena);
/* As entry_order_next. */
struct entry *entry_order_fair_next(struct entry_order_fair *o);

#endif
