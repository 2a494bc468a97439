/* test/play/oracle.h: the promise of the gate feature, checked from Pods, PodGroups and Queues
 * alone (never from the scheduler's own statuses): at every queue and each of its
 * ancestors, the resources of published opted-in pods (PodScheduled=False/Unschedulable, what
 * autoscalers buy nodes for) are at most max(0, configured limit - allocated). Objects are fed in
 * resourceVersion order. After a change from outside that lowers a limit, moves pods to another
 * queue or makes a pod ask for more, an excess is tolerated for ORACLE_GRACE_NS. Pods on a node
 * that were moved to another PodGroup or queue, or marked for another queue, are not counted as
 * allocated: which of the queues is charged cannot be seen from outside; nor are pods that were
 * bound by something other than the scheduler, for which no reservation is revoked. Pods that did
 * not opt in may take the place of terminating ones before these have gone.
 *
 * Pods of default-scheduler that opted in are placed by others, which may do so as soon as they are
 * ungated: one that Headgate has ungated (the mark shows it) counts like one with a node. At the
 * moment of each such ungating what is held and published in its queue and in each ancestor is at
 * most the limit. Owner: one thread. */
#ifndef TEST_PLAY_ORACLE_H
#define TEST_PLAY_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_GRACE_NS INT64_C(5000000000)

struct err;
struct jdoc;
struct oracle;

enum oracle_resource { ORACLE_PODS, ORACLE_PODGROUPS, ORACLE_QUEUES };

/* hierarchy: as the capacity plugin's enableHierarchy; otherwise every queue stands alone. sticky:
 * as --gate-sticky; a pod with reserved quota stays opted in. */
struct oracle *oracle_create(bool hierarchy, bool sticky);
void oracle_destroy(struct oracle *o);
/* key: "namespace/name" or "name"; object NULL: gone. now: any clock, ns. */
void oracle_set(struct oracle *o, enum oracle_resource r, const char *key,
		const struct jdoc *object, int64_t now);
/* 0, or -ERR_INTERNAL with queue, resource and amounts of the first breach (queues in name order).
 */
int oracle_check(struct oracle *o, int64_t now, struct err *err);
/* False when the published pods may exceed a limit: pods that may be charged to one of several
 * queues count in each of them. No grace. */
bool oracle_has_room(struct oracle *o);
/* The most opted-in pods that have ever been published at one time. */
size_t oracle_published_peak(const struct oracle *o);
bool oracle_is_published(const struct oracle *o, const char *pod_key);

#endif
