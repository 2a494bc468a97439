/* scheduler/pods/ledger/offers.h: resources that a node or a Queue has for the first time. Requests
 * for them that came before are kept by name (pods/model/unoffered.h) and become amounts like any
 * other now, in the accounts of nodes and queues as well. Owner: the sched thread. Pure. */
#ifndef SCHEDULER_PODS_LEDGER_OFFERS_H
#define SCHEDULER_PODS_LEDGER_OFFERS_H

struct cluster;

/* Called after from_api_node and from_api_queue. Does nothing while there is no new name; else
 * looks once through all classes of pods, and at the pods of those that asked for a new name. */
void offers_resolve(struct cluster *c);

#endif
