/* scheduler/multikueue/manager/offer.h: a local Workload with quota that runs nowhere yet: it is
 * offered to worker clusters until one has admitted it. Pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_OFFER_H
#define SCHEDULER_MULTIKUEUE_MANAGER_OFFER_H

struct pass;

/* 1. A replica that has finished already, for a manager before this one, is the end.
 * 2. An admitted one is recorded, and the others go.
 * 3. Else clusters are nominated, and get replicas. */
void offer(struct pass *p);

#endif
