/* scheduler/pods/model/cluster.h: building and changing a struct cluster with its accounts kept
 * right: node use, PodGroup counts, generations. Its Queues are pods/model/queue.h's, and quota
 * charges pods/ledger/ledger.h's: a caller that removes or re-books a task releases its charge
 * first (asserted). Owner: the sched thread. Pure: no I/O, no clock. */
#ifndef SCHEDULER_PODS_MODEL_CLUSTER_H
#define SCHEDULER_PODS_MODEL_CLUSTER_H

#include "base/str.h"
#include "scheduler/pods/model/model.h"
#include "scheduler/pods/model/queue.h"
#include "scheduler/pods/values/pod_class.h"

struct strbuf;

struct priority_class {
	int32_t value;
	bool global_default;
};

/* A cluster with nothing but the root queue; destroy frees all that is in it and accepts NULL. */
struct cluster *cluster_create(void);
void cluster_destroy(struct cluster *c);

/* PodGroups, by "namespace/name" of Volcano's. */
struct podgroup *cluster_podgroup_get(struct cluster *c, struct str namespace_, struct str name);
/* The PODGROUP_ALONE of the pod with this name; it is removed with the pod. */
struct podgroup *cluster_podgroup_get_alone(struct cluster *c, struct str namespace_,
					    struct str name);
/* The PODGROUP_KUBE, and its PODGROUP_PART for a queue; name is a DNS subdomain. A part is removed
 * with its last pod. */
struct podgroup *cluster_podgroup_get_kube(struct cluster *c, struct str namespace_,
					   struct str name);
struct podgroup *cluster_podgroup_get_part(struct cluster *c, struct str namespace_,
					   struct str name, struct str queue);
/* After a change of exists, min_member, priority, created or uid of a PODGROUP_KUBE: its parts
 * follow. */
void cluster_podgroup_kube_changed(struct cluster *c, const struct podgroup *whole);
struct podgroup_key {
	struct str namespace_, name;
	enum podgroup_kind kind;
	struct str queue; /* PODGROUP_PART */
};
void cluster_podgroup_key(const struct podgroup_key *k, struct strbuf *out);
struct podgroup_key cluster_podgroup_key_of(const struct cluster *c, const struct podgroup *g);
struct podgroup *cluster_podgroup_find(const struct cluster *c, struct str key);
/* For dumps: a new record, not linked yet; and the link of a part to its PODGROUP_KUBE. */
struct podgroup *cluster_podgroup_add(struct cluster *c, const struct podgroup_key *k);
void cluster_podgroup_link_part(struct cluster *c, struct podgroup *whole, struct podgroup *part);
void cluster_podgroup_set_queue(struct cluster *c, struct podgroup *g, struct str queue_name);
/* After a change of the PodGroup or of one of its tasks: puts it into the open and changed lists of
 * its queue as it belongs there, and bumps the queue's podgroups_gen. */
void cluster_podgroup_changed(struct cluster *c, struct podgroup *g);
/* Whether it waits for something outside of it: a pod for quota or a node, a charge for room in the
 * queue that the PodGroup names now, or the PodGroup to be enqueued. All else that a cycle reports
 * of it follows from its own changes. */
bool cluster_podgroup_is_open(const struct podgroup *g);
/* The first n of the changed list were looked at. */
void cluster_podgroup_drop_changed(struct cluster *c, struct queue *q, size_t n);
void cluster_podgroup_set_phase(struct cluster *c, struct podgroup *g, enum podgroup_phase phase);
/* After a change of what it asks for or of its members, and when nodes or volumes may suit it now:
 * its tasks with a retry_at of MODEL_TIME_NEVER are decided again. O(1) without any. */
void cluster_podgroup_try_again(struct cluster *c, struct podgroup *g);
/* Why no pod of the PodGroup is started, for people: names the field, and what to do. NULL: none
 * of its fields is in the way. */
const char *cluster_podgroup_unsupported(const struct podgroup *g);
/* Records that pods of g were evicted for `by`, its rival. Of more than PODGROUP_RIVALS_MAX records
 * those without effect go first, then the oldest. A rival without a PodGroup object is not
 * recorded: its one pod does not come back. */
void cluster_podgroup_note_rival(struct cluster *c, struct podgroup *g, const struct podgroup *by);
/* The PodGroup of the record; NULL: the record has no effect any more, since the PodGroup is gone
 * or Queues have changed. */
const struct podgroup *cluster_podgroup_rival(const struct cluster *c,
					      const struct podgroup_rival *r);
void cluster_podgroup_prune(
	struct cluster *c,
	struct podgroup *g); /* removes it when it has neither PodGroup nor tasks */

/* Tasks, by "namespace/name". A new task is PENDING without PodGroup, node and class. set_podgroup,
 * set_class and remove call cluster_task_try_again. */
struct task *cluster_task_add(struct cluster *c, struct str namespace_, struct str name,
			      struct str uid);
struct task *cluster_task_find(const struct cluster *c, struct str key);
void cluster_task_remove(struct cluster *c, struct task *t);
void cluster_task_set_podgroup(struct cluster *c, struct task *t,
			       struct podgroup *g); /* NULL: none */
/* The only writer of refused_queue; MODEL_NONE: none. */
void cluster_task_set_refused(struct cluster *c, struct task *t, uint32_t queue);
/* The only writer of retry_at. MODEL_TIME_NEVER: of a task with a PodGroup. */
void cluster_task_set_retry(struct cluster *c, struct task *t, int64_t at);
/* cluster_podgroup_try_again for the PodGroup of a task that changes while it is PENDING: one with
 * a node changes nothing for those of its gang that found none. */
void cluster_task_try_again(struct cluster *c, const struct task *t);
/* Autoscalers may see the pod as unschedulable: the condition says so, or a write of it ended
 * without a clear answer. */
bool cluster_task_may_be_published(const struct task *t);
/* Pods were evicted for it, and what was held for it is lost without a decision: its PodGroup or
 * its Queue went away. Nothing but an event says that they were evicted in vain. */
bool cluster_task_has_lost_hold(const struct task *t);
/* That; or a pod that opted in and is published, but has neither quota nor a PodGroup with a queue
 * that could give it some: nothing but a withdrawal keeps autoscalers from buying a node for it. */
bool cluster_task_is_stranded(const struct cluster *c, const struct task *t);
/* The priority that counts between PodGroups, where one pod is evicted for another: that of the
 * PodGroup, which any tenant may choose, but no more than the pod was granted. Of a task with a
 * PodGroup. */
int32_t cluster_task_standing(const struct cluster *c, const struct task *t);
/* It exists at the API server, and is not in backoff after a failed write. */
bool cluster_task_may_be_written(const struct task *t, int64_t now);
/* Puts it into c->stranded, once. Amortised O(1). */
void cluster_task_note_stranded(struct cluster *c, struct task *t);
/* The pod of entry i of c->stranded; NULL: the entry is outdated. */
const struct task *cluster_task_stranded_at(const struct cluster *c, size_t i);
/* A pod of ours that may be bound without another write before: no gate, not opted in. */
bool cluster_task_may_be_adopted(const struct task *t);
void cluster_task_set_class(struct cluster *c, struct task *t, const struct pod_class *klass_take);
/* Moves a task between statuses and nodes with all accounts (node NULL: none). */
void cluster_task_set_status(struct cluster *c, struct task *t, enum task_status status,
			     struct node *n);
/* Whether it terminates on a node, and so is in c->ending. */
bool cluster_task_is_ending(const struct task *t);
void cluster_task_set_nominated(struct cluster *c, struct task *t, struct node *n); /* NULL: none */
/* Holds room on the node for it; NULL: ends the hold. */
void cluster_task_set_awaits(struct cluster *c, struct task *t, struct node *n);
void cluster_task_changed(struct cluster *c,
			  struct task *t); /* after flags, priority, cond, ... changed */
/* The pause after so many failures in a row: 1 s, 2 s, ... 256 s, in ns. failures: those before. */
int64_t cluster_task_pause(unsigned failures);
size_t cluster_task_key(const struct task *t, char *buf,
			size_t size); /* "ns/name", snprintf-like */

struct node *cluster_node_get(struct cluster *c, struct str name); /* placeholder when unknown */
struct node *cluster_node_find(const struct cluster *c, struct str name);
/* All expressions of the term. A term without expressions selects nothing, as in Kubernetes. */
bool cluster_node_matches(const struct node *n, const struct match_term *t);
/* After labels, taints, unschedulable, allocatable or exists changed. old_allocatable: NULL if the
 * node did not exist before. */
void cluster_node_changed(struct cluster *c, struct node *n, const struct res *old_allocatable,
			  bool spec);
/* The request of a pod counts on the node, or does not any more. */
void cluster_node_book(struct cluster *c, struct node *n, const struct res *request);
void cluster_node_unbook(struct cluster *c, struct node *n, const struct res *request);
void cluster_node_prune(
	struct cluster *c,
	struct node *n); /* removes it when it neither exists nor holds or attracts tasks */

/* The class equal to a normalised candidate (copied when it is new), with one more reference. */
const struct pod_class *cluster_class_intern(struct cluster *c, const struct pod_class *candidate);
const struct pod_class *cluster_class_ref(struct cluster *c, const struct pod_class *klass);
void cluster_class_unref(struct cluster *c, const struct pod_class *klass);

/* Frees the names (cluster->names) that nothing in the cluster uses any more, and likewise the
 * further dimensions of amounts (struct res_more). Walks the whole cluster, but only when enough of
 * them may have gathered: over time it costs no more than adding them did. No pointer to a name,
 * and no id of one, may be held outside the cluster; a struct res outside it has lost its further
 * dimensions when res_swept has grown. Not during a session. */
void cluster_names_sweep(struct cluster *c);

/* a -= b for an account: what would go below zero is held at zero and counted in c->drift. */
void cluster_account_sub(struct cluster *c, struct res *a, const struct res *b);
/* Sum of room_gen over the queue and its ancestors. */
uint64_t cluster_chain_gen(const struct cluster *c, const struct queue *q);
/* Recomputes every account from the tasks and compares; NULL when right, else a static text of what
 * is off. For tests. */
const char *cluster_verify(const struct cluster *c);

#endif
