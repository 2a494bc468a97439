/* scheduler/core/session.h: one cycle's view: the frozen cluster plus an overlay of what this cycle
 * has decided so far. Everything that differs from the cluster is in the overlay and every change
 * is recorded in an undo log, so a statement can be rolled back exactly. Memory: one arena, reset
 * per cycle. Thread: sched. Pure. Plugins and actions read through session_*; actions change
 * through core/statement.h only. */
#ifndef SCHEDULER_CORE_SESSION_H
#define SCHEDULER_CORE_SESSION_H

#include "core/decision.h"
#include "core/plugin.h"
#include "model/cluster.h"

struct arena;
struct hooks;      /* core/hooks.h: plugins compiled from the configuration */
struct sched_conf; /* conf/conf.h */

struct session;

const struct cluster *session_cluster(const struct session *s);
const struct sched_conf *session_conf(const struct session *s);
const struct hooks *session_hooks(const struct session *s);
struct arena *session_arena(const struct session *s); /* mutable memory of this cycle */
int64_t session_now(const struct session *s);         /* wall ns */
struct decisions *session_decisions(struct session *s);

static inline const struct task *session_task(const struct session *s, uint32_t id)
{
	return session_cluster(s)->tasks.v[id];
}

/* Overlaid state. */
enum task_status session_task_status(const struct session *s, const struct task *t);
uint32_t session_task_node(const struct session *s, const struct task *t); /* MODEL_NONE */
enum charge_state session_task_charge(const struct session *s, const struct task *t);
const struct res *session_node_used(const struct session *s, const struct node *n);
const struct res *session_node_pipelined(const struct session *s, const struct node *n);
uint32_t session_node_version(const struct session *s,
			      const struct node *n); /* bumped per overlay change */
/* Tasks placed on the node by this cycle come after the cluster's; i runs from 0 until it returns
 * NULL. */
const struct task *session_node_added(const struct session *s, const struct node *n, size_t i);
uint32_t session_job_count(const struct session *s, const struct job *j, enum task_status status);
enum job_phase session_job_phase(const struct session *s, const struct job *j);
const struct res *session_queue_charged(const struct session *s,
					const struct queue *q); /* with releasing */
const struct res *session_queue_releasing(const struct session *s, const struct queue *q);
/* Configured limit from the quota plugins (RES_UNLIMITED where none). */
const struct res *session_queue_limit(const struct session *s, const struct queue *q);
bool session_has_quota_plugin(const struct session *s);

/* Readiness arithmetic of Volcano's JobInfo. */
int32_t
session_job_ready_count(const struct session *s,
			const struct job *j); /* bound, binding, running, allocated, succeeded */
int32_t session_job_waiting_count(const struct session *s, const struct job *j); /* pipelined */
int32_t session_job_best_effort_pending(const struct session *s, const struct job *j);

#endif
