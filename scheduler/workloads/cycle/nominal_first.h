/* scheduler/workloads/cycle/nominal_first.h: nobody borrows what a ClusterQueue's own workloads are
 * about to use. A cycle takes one head of each queue. Where it was admitted without borrowing, the
 * next ones in the heap come in the next cycles, and would then have to take back what was lent in
 * this one. So the first of them that fit into nominal quota are counted as admitted when it comes
 * to those who borrow. Only behind a head that got in: so whoever is held up sees the cycle go on,
 * until the nominal quota is used or nobody of the queue waits any more. Owner: the sched thread.
 * Pure. */
#ifndef SCHEDULER_WORKLOADS_CYCLE_NOMINAL_FIRST_H
#define SCHEDULER_WORKLOADS_CYCLE_NOMINAL_FIRST_H

#include "base/vec.h"
#include "scheduler/workloads/cycle/nomination.h"

#define NOMINAL_FIRST_AHEAD 4 /* workloads of a queue that are looked at */

struct nominal_first {               /* zero: nobody was admitted, nothing is kept */
	struct VEC(uint32_t) queues; /* where a head got in without borrowing, in this cycle */
	size_t looked;               /* at those before */
	struct forest *kept;         /* as if their next ones had got in, too; NULL: nobody asked */
};

void nominal_first_begin(struct nominal_first *n); /* of a cycle */
void nominal_first_end(struct nominal_first *n);   /* of the cycle */
void nominal_first_finish(struct nominal_first *n);
/* A head of the queue was admitted without borrowing. */
void nominal_first_admitted(struct nominal_first *n, uint32_t queue);
/* What the cycle does to usage, this has to know as well. */
void nominal_first_add(struct nominal_first *n, uint32_t node, const struct quota_amounts *usage);
void nominal_first_remove(struct nominal_first *n, uint32_t node,
			  const struct quota_amounts *usage);
/* Whether usage fits at node besides what is kept. c->forest: as the cycle has it by now. */
bool nominal_first_leaves(struct nominal_first *n, const struct nominate_context *c, uint32_t node,
			  const struct quota_amounts *usage);

#endif
