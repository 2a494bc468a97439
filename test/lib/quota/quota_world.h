/* test/lib/quota/quota_world.h: a quota world from a compact text, for unit tests of the Workload
 * engine. One object per line, words apart by blanks, '#' starts a comment, '\' at the end of a
 * line joins the next one to it:
 *
 *   option fair_sharing=true heads=2           members of struct quota_options
 *   flavor f label:k=v taint:k=v:NoSchedule toleration:k=v:NoSchedule topology=t   (or "missing")
 *   check c active=false kind=multikueue       an AdmissionCheck (kind: or provisioning)
 *   namespace ns label:team=a
 *   cohort c parent=root weight=2
 *   queue q cohort=c strategy=StrictFIFO within=LowerPriority reclaim=Any borrow=LowerPriority \
 *           threshold=10 whenborrow=TryNextFlavor whenpreempt=MayStopSearch \
 *           preference=PreemptionOverBorrowing weight=2 stop=Hold checks=c,d namespaces=none \
 *           usage-based terminating       (namespaces=k:v: those with the label; else all)
 *   quota q default cpu nominal=10 borrow=5 lend=2      of a queue; "cohort/c" for a cohort
 *   local ns/lq queue=q stop=Hold weight=2 usage=0.5
 *   workload ns/w queue=q prio=5 cpu=3 memory=1Gi pods=4 min=2 created=-60s
 *   podset worker pods=4 cpu=1 group=g         one more pod set of the workload above
 *   workload ns/v queue=q cpu=3 holds=default reserved=-60s    holds quota
 *
 * Amounts are quantities ("500m", "1Gi") or "unlimited". Flavors and queues that are only named in
 * a quota line exist; groups follow: one flavor serves all resources it is named with. A workload
 * has one pod set "main" of `pods` pods (1); amounts are those of one pod. More words for it:
 *   uid=U (its key without) local=lq (a LocalQueue "queue-NAME" is made where absent) boost=N
 * cost=N active=false finished admission-gated preemption-gated on-hold requeued-false check-blocks
 *   holds=default or holds=cpu:default,memory:x (at=q: other than queue) admitted pods-ready
 *   evicted=-5s preempted=-5s requeue=10s evicted-by=check|timeout reclaimed  generation=N
 *   allowed=f,g
 *   selector:k=v affinity:k=v (one required term each) toleration:k=v:NoSchedule topology invalid
 * Times are seconds from now. An unknown word fails the test. Owner: the test. */
#ifndef TEST_LIB_QUOTA_QUOTA_WORLD_H
#define TEST_LIB_QUOTA_QUOTA_WORLD_H

#include "scheduler/workloads/forest/forest.h"
#include "scheduler/workloads/model/quota_store.h"

#define QUOTA_WORLD_NOW (INT64_C(1700000000) * 1000000000)

struct quota_world {
	struct quota_model *q;
	struct forest *f; /* synchronised, holders charged */
	int64_t now;
	/* While a text is read: */
	struct workload *last;
	char *holds, *at; /* of `last`: charged after its pod sets */
};

/* Builds; the world is ready for use: nodes resolved, forest synchronised. Pending workloads have
 * their queue, but are in no list: the test calls pending_update. */
void quota_world_init(struct quota_world *w, const char *text);
/* More of it. Objects that are there already are changed; workloads must be new. */
void quota_world_add(struct quota_world *w, const char *text);
void quota_world_finish(struct quota_world *w);

/* By name, and there must be one: "a" is a queue or else a cohort, "cohort/a" a cohort. */
struct quota_node *quota_world_node(const struct quota_world *w, const char *name);
uint32_t quota_world_id(const struct quota_world *w, const char *name); /* of a node */
/* By "namespace/name"; without a namespace it is "ns". */
struct workload *quota_world_workload(const struct quota_world *w, const char *key);
uint32_t quota_world_flavor(const struct quota_world *w, const char *name);
uint32_t quota_world_resource(const struct quota_world *w, const char *name);
uint32_t quota_world_pair(const struct quota_world *w, const char *flavor, const char *resource);
/* "3", "500m", "unlimited" as an amount of the resource. */
int64_t quota_world_amount(const char *resource, const char *text);

#endif
