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
/* t is evicted to make room for the pod `by`. */
void statement_evict(struct session *s, const struct task *t, const struct task *by,
		     const char *message);
/* From now on, over cycles and until it is bound, room on the node is held for t, which is
 * pipelined. n NULL: the hold ends; retry_at: no pod is evicted for t before. */
void statement_await(struct session *s, const struct task *t, const struct node *n,
		     int64_t retry_at);
/* Charges t to its PodGroup's queue, if statement_await_quota has not done so; decision UNGATE
 * while our gate is on it, else RESERVE. */
void statement_reserve(struct session *s, const struct task *t);
/* Charges t beside the pods that are evicted for it; statement_reserve follows when these are gone.
 */
void statement_await_quota(struct session *s, const struct task *t);
void statement_revoke(struct session *s, const struct task *t, int64_t retry_at, uint32_t attempts);
/* Phase of the PodGroup in this session; the decision is made once, when the cycle ends. */
void statement_set_phase(struct session *s, const struct podgroup *g, enum podgroup_phase phase);
/* For gangs that wait for resources that are being released: takes back the decisions, and keeps
 * the rest for this session, so that later PodGroups do not get the room. Allocated pods become
 * pipelined. */
void statement_hold(struct session *s, struct statement st);
void statement_commit(struct session *s, struct statement st);
void statement_discard(struct session *s, struct statement st);

#endif
