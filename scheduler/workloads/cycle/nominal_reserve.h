/* scheduler/workloads/cycle/nominal_reserve.h: keeps nominal quota that the next workloads of
 * a ClusterQueue are about to use from being borrowed. A cycle takes one head of each queue. After
 * a head that is admitted without borrowing, the next workloads of its heap come in the next
 * cycles, and would have to reclaim what this cycle lends. So the first of them that fit into
 * nominal quota are counted as admitted when an entry wants to borrow. This is done only for queues
 * with an admitted head: so every cycle that makes a borrower wait admits something, and the
 * waiting ends when the nominal quota is used or the queue is empty. Owner: the sched thread. Pure.
 */
#ifndef SCHEDULER_WORKLOADS_CYCLE_NOMINAL_RESERVE_H
#define SCHEDULER_WORKLOADS_CYCLE_NOMINAL_RESERVE_H

#include "collections/vec.h"
#include "scheduler/workloads/cycle/nomination.h"

#define NOMINAL_RESERVE_AHEAD 4 /* workloads of a queue that are considered */

struct nominal_reserve {             /* zero: no head was admitted, nothing is reserved */
	struct VEC(uint32_t) queues; /* with a head that this cycle admitted without borrowing */
	size_t nreserved;            /* those before this index have their reserve in `forest` */
	struct forest *forest;       /* with the reserves charged; NULL: not needed yet */
};

void nominal_reserve_begin(struct nominal_reserve *n); /* of a cycle */
void nominal_reserve_end(struct nominal_reserve *n);   /* of the cycle */
void nominal_reserve_finish(struct nominal_reserve *n);
/* A head of the queue was admitted without borrowing. */
void nominal_reserve_admitted(struct nominal_reserve *n, uint32_t queue);
/* The same changes of usage as in the cycle's forest. */
void nominal_reserve_add(struct nominal_reserve *n, uint32_t node,
			 const struct quota_amounts *usage);
void nominal_reserve_remove(struct nominal_reserve *n, uint32_t node,
			    const struct quota_amounts *usage);
/* Whether usage fits at node beside the reserves. c->forest: as the cycle has it by now. */
bool nominal_reserve_fits(struct nominal_reserve *n, const struct nominate_context *c,
			  uint32_t node, const struct quota_amounts *usage);

#endif
