/* scheduler/pods/ledger/offers.h: resource names that appear on a node or a Queue for the first
 * time. Earlier requests for them are kept by name (pods/values/unoffered.h) and now become
 * ordinary amounts, also in the sums of nodes and queues. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_PODS_LEDGER_OFFERS_H
#define SCHEDULER_PODS_LEDGER_OFFERS_H

struct cluster;

/* Called after from_api_node and from_api_queue. Does nothing while there is no new name; else
 * looks once through all classes of pods, and at the pods of those that asked for a new name. */
void offers_resolve(struct cluster *c);

#endif
