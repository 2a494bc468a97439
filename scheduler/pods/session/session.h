/* scheduler/pods/session/session.h: one cycle's view: the frozen cluster plus an overlay of what
 * this cycle has decided so far. Everything that differs from the cluster is in the overlay and
 * every change is recorded in an undo log, so a statement can be rolled back exactly. Memory: one
 * arena, reset per cycle. Thread: sched. Pure. Plugins and actions read through session_*; actions
 * change through pods/session/statement.h only. */
#ifndef SCHEDULER_PODS_SESSION_SESSION_H
#define SCHEDULER_PODS_SESSION_SESSION_H

#include "scheduler/pods/model/cluster.h"
#include "scheduler/pods/session/decision.h"
#include "scheduler/pods/session/plugin.h"

struct arena;
struct hooks;      /* pods/session/hooks.h: plugins compiled from the configuration */
struct sched_conf; /* pods/conf/conf.h */

struct session;

struct podgroup_list {
	const struct podgroup **v;
	size_t n;
};

/* How the last attempt to place a task ended. */
enum attempt {
	ATTEMPT_NONE,
	ATTEMPT_QUOTA,     /* the quota vote said no */
	ATTEMPT_NO_NODE,   /* fits no node */
	ATTEMPT_ALLOCATED, /* fits, but its gang was short */
	ATTEMPT_PIPELINED, /* fits what is being released */
};

/* For pods/cycle/cycle.c: one object serves many sessions, one after the other, and keeps its
 * memory between them. conf and hooks are borrowed. */
struct session *session_create(const struct sched_conf *conf, const struct hooks *hooks);
void session_destroy(struct session *s); /* NULL is fine */
void session_open(struct session *s, const struct cluster *c, int64_t now);
void session_close(struct session *s);

const struct cluster *session_cluster(const struct session *s);
int64_t session_now(const struct session *s); /* by the clock of the times in the cluster */
const struct sched_conf *session_conf(const struct session *s);
const struct hooks *session_hooks(const struct session *s);
struct arena *session_arena(const struct session *s); /* mutable memory of this cycle */
struct decisions *session_decisions(struct session *s);
const struct decisions *session_decisions_so_far(const struct session *s);

static inline const struct task *session_task(const struct session *s, uint32_t id)
{
	return session_cluster(s)->tasks.v[id];
}

/* The state as this cycle has changed it so far: the cluster, where it has not. */
enum task_status session_task_status(const struct session *s, const struct task *t);
uint32_t session_task_node(const struct session *s, const struct task *t); /* MODEL_NONE */
/* The node on which room is held for it over cycles; MODEL_NONE. */
uint32_t session_task_awaits(const struct session *s, const struct task *t);
enum charge_state session_task_charge(const struct session *s, const struct task *t);
/* Where the charge that the task had when the session was opened is booked; MODEL_NONE: it had
 * none. */
uint32_t session_task_charge_queue(const struct session *s, const struct task *t);
/* The same; without a charge the queue of its PodGroup, where one would be booked; MODEL_NONE: it
 * has none. */
uint32_t session_task_queue(const struct session *s, const struct task *t);
const struct res *session_node_used(const struct session *s, const struct node *n);
const struct res *session_node_pipelined(const struct session *s, const struct node *n);
const struct res *session_node_releasing(const struct session *s, const struct node *n);
/* The resources that are taken there when the pods that terminate are gone. Room that is held for
 * pods which wait for releases on the node is taken, though no pod uses it. */
struct res session_node_taken_later(const struct session *s, const struct node *n);
uint32_t session_node_version(const struct session *s,
			      const struct node *n); /* bumped per overlay change */
/* Tasks placed on the node by this cycle come after the cluster's; i runs from 0 until it returns
 * NULL. */
const struct task *session_node_added(const struct session *s, const struct node *n, size_t i);
/* The node for which the volume of an unbound claim is to be made (MODEL_NONE: none is chosen yet),
 * and how many pods that have a node use the claim. */
uint32_t session_claim_node(const struct session *s, const struct claim *cl);
uint32_t session_claim_placed(const struct session *s, const struct claim *cl);
/* Whether the volume, one of the unclaimed of its class, is still free for a claim. */
bool session_volume_is_free(const struct session *s, const struct volume *v);
uint32_t session_podgroup_count(const struct session *s, const struct podgroup *g,
				enum task_status status);
enum podgroup_phase session_podgroup_phase(const struct session *s, const struct podgroup *g);
const struct res *session_queue_charged(const struct session *s,
					const struct queue *q); /* with releasing */
const struct res *session_queue_releasing(const struct session *s, const struct queue *q);
/* Configured limit from the quota plugins (RES_UNLIMITED where none). */
const struct res *session_queue_limit(const struct session *s, const struct queue *q);
/* The nearest queue, from q upwards, in which t does not fit beside what is charged; ret_over: the
 * dimensions in which it does not. NULL: it fits in all of them. */
const struct queue *session_find_full_queue(const struct session *s, const struct queue *q,
					    const struct task *t, uint32_t *ret_over);
/* The message about it, in the session's arena: "queue a has not enough quota left: insufficient
 * cpu". */
const char *session_describe_full_queue(const struct session *s, const struct queue *full,
					uint32_t over);
bool session_has_quota_plugin(const struct session *s);
/* Whether some pod in or below the queue holds quota without having a node. A pod that got its node
 * in this session may still count. O(tasks) at the first call of a session. */
bool session_queue_has_unbound(struct session *s, const struct queue *q);
/* Whether this cycle looks at the queue; the others have not changed since they were looked at. */
bool session_is_due(const struct session *s, const struct queue *q);
/* The PodGroups of the queue that this cycle looks at: for the others it would decide nothing. In
 * the order of queue->podgroups, or of queue->waiting for a queue that does not exist. Empty for a
 * queue that is not due. */
const struct podgroup_list *session_podgroups(const struct session *s, const struct queue *q);
/* Whether this cycle looks at the PodGroup, which is in a queue. O(log of those). */
bool session_podgroup_is_due(const struct session *s, const struct podgroup *g);
/* Ids of the PodGroups that this session may have changed so far, each once: their phase, or the
 * status or charge of a task. Valid until the next change. */
const uint32_t *session_touched_podgroups(const struct session *s, size_t *ret_n);
/* True when it lost its charge in this cycle: it is not charged again before the next. */
bool session_task_was_revoked(const struct session *s, const struct task *t);
/* Left alone for now: an API call for it failed, for good (until the pod changes) or for a while.
 */
bool session_task_is_set_aside(const struct session *s, const struct task *t);
/* False: evictions for it were in vain lately, and no pod is evicted for it before t->preempt_at.
 */
bool session_task_may_preempt(const struct session *s, const struct task *t);
/* Whether its pods were tried on nodes in this session: members still without one do not fit. */
bool session_podgroup_was_tried(const struct session *s, const struct podgroup *g);

/* Notes, from which the end of the cycle makes conditions and events. A statement that is rolled
 * back does not take them back. Texts live in the session's arena or are static. */
void session_note_tried(struct session *s, const struct podgroup *g);
/* The PodGroup waits for resources that are being released: the next cycle looks at its queue
 * again.
 */
void session_note_held(struct session *s, const struct podgroup *g);
void session_note_attempt(struct session *s, const struct task *t, enum attempt what,
			  const struct node *n, const char *message);
void session_note_refusal(struct session *s, const struct podgroup *g, const char *code,
			  const char *message); /* the first one counts */
/* Look at the waiting PodGroups of the queue again: when a node changes; when what PodGroups of any
 * queue hold or ask for changes (cluster->demand_gen); at this time. Changes of the queue's own
 * configuration, charges and limits need no call. A plugin that refuses something for any other
 * reason must call one of them. */
void session_wait_for_nodes(struct session *s, const struct queue *q);
void session_wait_for_podgroups(struct session *s, const struct queue *q);
void session_wait_until(struct session *s, const struct queue *q, int64_t at);

/* Readiness arithmetic of Volcano's JobInfo. A task is ready that has a node, or had one and
 * succeeded. */
static inline bool session_is_ready_status(enum task_status status)
{
	return status == TASK_ALLOCATED || status == TASK_BINDING || status == TASK_BOUND ||
	       status == TASK_RUNNING || status == TASK_SUCCEEDED;
}
int32_t session_podgroup_ready_count(const struct session *s, const struct podgroup *g);
int32_t session_podgroup_best_effort_pending(const struct session *s, const struct podgroup *g);

#endif
