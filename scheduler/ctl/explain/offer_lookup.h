/* scheduler/ctl/explain/offer_lookup.h: reads what the explanation of an offer to worker clusters
 * needs: the token of the local Workload, the clusters of its MultiKueueConfig, and the replica on
 * each of them, at the same time and with a limit for each. Main thread; blocks. */
#ifndef SCHEDULER_CTL_EXPLAIN_OFFER_LOOKUP_H
#define SCHEDULER_CTL_EXPLAIN_OFFER_LOOKUP_H

#include "scheduler/ctl/explain/offer_explain.h"

struct cluster_args;
struct jdoc;
struct live_workloads;

/* key: of a Workload of s, "namespace/name". Where the user may not read something, or the objects
 * are from manifests, the offer is explained without it. ret->arena stays NULL if the Workload
 * waits for no worker cluster. */
void offer_lookup(const struct cluster_args *a, const struct live_workloads *s, const char *key,
		  struct offer *ret);

#endif
