/* scheduler/pods/session/statement.h: a transaction over the session's overlay. Operations take
 * effect at once; statement_discard undoes them in reverse order, byte for byte; statement_commit
 * turns them into decisions. Statements nest like a stack: only the youngest may be discarded or
 * committed into the older one. Thread: sched. */
#ifndef SCHEDULER_PODS_SESSION_STATEMENT_H
#define SCHEDULER_PODS_SESSION_STATEMENT_H

#include "scheduler/pods/session/session.h"

/* A mark in the session's undo log and decision list. */
struct statement {
	size_t undo_mark, decision_mark;
};

struct statement statement_begin(struct session *s);
void statement_allocate(struct session *s, const struct task *t,
			const struct node *n); /* BIND on commit */
void statement_pipeline(struct session *s, const struct task *t,
			const struct node *n); /* no decision */
/* t is to end, for the pod by. */
void statement_evict(struct session *s, const struct task *t, const struct task *by,
		     const char *message);
/* Room on the node is held for t, which is pipelined, from now on: over cycles, until it is bound.
 * NULL: no more; retry_at: when pods may be evicted for it again. */
void statement_await(struct session *s, const struct task *t, const struct node *n,
		     int64_t retry_at);
/* Charge t to its PodGroup's queue, unless it awaits quota and is; decision UNGATE or RESERVE
 * depending on its gate. */
void statement_reserve(struct session *s, const struct task *t);
/* Charge t beside the pods that are evicted for it; statement_reserve follows when they are gone.
 */
void statement_await_quota(struct session *s, const struct task *t);
void statement_revoke(struct session *s, const struct task *t, int64_t retry_at, uint32_t attempts);
/* Phase of the PodGroup in this session; the decision is made once, when the cycle ends. */
void statement_set_phase(struct session *s, const struct podgroup *g, enum podgroup_phase phase);
/* Keeps what was done in this session, so that it holds room against later PodGroups, but takes
 * back the decisions: for gangs that wait for resources that are being released. Allocated pods are
 * pipelined then. */
void statement_hold(struct session *s, struct statement st);
void statement_commit(struct session *s, struct statement st);
void statement_discard(struct session *s, struct statement st);

#endif
