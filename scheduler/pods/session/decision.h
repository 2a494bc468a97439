/* scheduler/pods/session/decision.h: the results of a cycle. The list is the only output of a
 * cycle; cycle_assume counts it in the model, pods/writes turns it into API calls. Texts live in
 * the cycle's arena until the next cycle starts. Order matters: decisions are applied and sent in
 * list order. */
#ifndef SCHEDULER_PODS_SESSION_DECISION_H
#define SCHEDULER_PODS_SESSION_DECISION_H

#include "collections/vec.h"
#include "scheduler/pods/model/model.h"

enum decision_kind {
	DECISION_UNGATE,   /* task: charge it (unless `uncharged`) and patch our gate away */
	DECISION_RESERVE,  /* task: charge it; another client took our gate off */
	DECISION_REVOKE,   /* task: take its charge away (limit, time-out); the quota of a published
			      pod is free once its withdrawal is acknowledged; retry_at: when it may
			      be decided again */
	DECISION_MOVE,     /* task, queue: its charge goes there */
	DECISION_STAY,     /* task, queue: that queue refuses the charge, which stays where it is;
			      remembered, so that it is reported once */
	DECISION_PUBLISH,  /* task: PodScheduled=False/Unschedulable with message, nominated node
			      only after evictions */
	DECISION_WITHDRAW, /* task: PodScheduled=False/NotReadyForScheduling with message */
	DECISION_CONDITION,   /* task: PodScheduled=False with reason and message (pods that did not
				 opt in) */
	DECISION_TAKE_VOLUME, /* claim, volume: it is reserved for the claim of task, before its
				 BIND */
	DECISION_BIND,        /* task, node; its Binding waits where a claim of it is not bound */
	DECISION_FINISH_BIND, /* task, node: its claims are bound by now */
	DECISION_GIVE_BACK,   /* task: it gives its node back, since its claims were not bound there
				 (message: why); it is decided again from retry_at on */
	DECISION_EVICT,       /* task: the victim; reason, message; by: the pod that gets its room,
				 MODEL_NONE: none */
	DECISION_AWAIT, /* task, node: room on the node is held for it. node MODEL_NONE: the hold
			   ends; warning: pods were evicted for it in vain; retry_at: no pod is
			   evicted for it before */
	DECISION_AWAIT_QUOTA, /* task, queue: charge it beside the pods that are evicted for it */
	DECISION_OVERDUE,     /* task: it is overdue, or no longer (pods/cycle/overdue.h) */
	DECISION_STUCK,       /* task: it should have been gone long ago (pods/cycle/stuck.h) */
	DECISION_PODGROUP_PHASE,     /* PodGroup: phase */
	DECISION_PODGROUP_CONDITION, /* PodGroup: type (in condition_type), status true, reason,
					message */
	DECISION_EVENT, /* task or PodGroup or queue: event reason and message, warning or not */
	DECISION_QUEUE_SCANNED, /* queue: remember scan */
	DECISION_KIND_COUNT_
};

struct decision {
	enum decision_kind kind;
	uint32_t task, podgroup, queue, node, by, claim, volume; /* ids; MODEL_NONE: not used */
	bool uncharged;    /* UNGATE without charge (best effort, feature off, annotation gone) */
	bool warning;      /* EVENT */
	bool hint;         /* EVENT: there may be very many; dropped first when events pile up */
	bool overdue;      /* OVERDUE */
	uint8_t phase;     /* PODGROUP_PHASE */
	int64_t retry_at;  /* REVOKE, AWAIT, GIVE_BACK */
	uint32_t in_vain;  /* AWAIT: how many pods were evicted for room that it does not take */
	uint32_t attempts; /* REVOKE, WITHDRAW: how many reservations in a row ended without a
			      node; 0: that is not the reason */
	uint64_t hash;     /* PODGROUP_CONDITION, EVENT about a task: of its text without counts and
			      amounts that change often, so that it is not repeated for these. 0 in
			      an EVENT: of its message */
	const char *reason, *condition_type, *message; /* NULL: not used */
	struct queue_scan scan;                        /* QUEUE_SCANNED */
};

struct decisions VEC(struct decision); /* in the order in which they are to be carried out */

/* Appends a decision of that kind, which names no object yet; valid until the next append. */
struct decision *decision_add(struct decisions *d, enum decision_kind kind);
void decision_finish(struct decisions *d);

#endif
