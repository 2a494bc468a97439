/* test/lib/pods/invariants.h: invariants that hold after every cycle, for any input. NULL: all
 * hold, else a text about the violation. Quadratic in places: for tests. */
#ifndef TEST_LIB_PODS_INVARIANTS_H
#define TEST_LIB_PODS_INVARIANTS_H

struct cluster;
struct decisions;

/* Before the decisions are assumed: no task bound, ungated, published or evicted twice, nothing
 * bound that is gated or already has a node, nothing but preemptable tasks evicted, gangs bound
 * whole, no pod that opted in published or bound without quota; a pod that another scheduler places
 * is neither bound nor published, and keeps its quota. */
const char *invariants_of_decisions(const struct cluster *c, const struct decisions *d);
/* Accounts of nodes, PodGroups and queues equal the sums of their tasks, no quota is held twice. */
const char *invariants_of_cluster(const struct cluster *c);
/* Right after the decisions are assumed: no node that got a pod is overcommitted in what the pod
 * asks for. Later it may be, by a node that shrinks, or by a binding that a former leader sent and
 * the server met late; a pod that asks for nothing goes there as well. */
const char *invariants_of_nodes(const struct cluster *c, const struct decisions *d);
/* Right after a cycle with a quota plugin: where a queue is charged beyond its capability, nothing
 * below it holds quota without a node, except pods with a patch in flight. */
const char *invariants_of_quota(const struct cluster *c);

#endif
