/* scheduler/pods/session/session_overlay.h: the changes of a session so far, beside the frozen
 * cluster. One slot per object; a slot counts only while its epoch is the session's, so opening a
 * session costs nothing per object. Every write goes through the undo log, word by word, so that a
 * rollback restores the overlay exactly. For pods/session/session.c and pods/session/statement.c
 * only. Thread: sched. */
#ifndef SCHEDULER_PODS_SESSION_SESSION_OVERLAY_H
#define SCHEDULER_PODS_SESSION_SESSION_OVERLAY_H

#include "collections/vec.h"
#include "scheduler/pods/model/model.h"

struct arena;

struct overlay_task {
	uint32_t epoch, node;
	uint32_t awaits;       /* node that is held for it; MODEL_NONE */
	uint32_t charge_queue; /* where the charge is booked; only moves write it, not undone */
	uint8_t status, charge;
	uint8_t revoked; /* lost its charge in this session: not charged again before the next */
	uint8_t attempt; /* enum attempt; not part of the undo log, like the two below */
	uint8_t counted; /* enum domain_state that domains_update has counted last, */
	uint32_t counted_node; /* on this node */
	uint32_t attempt_node;
	const char *attempt_message;
};

struct overlay_node {
	uint32_t epoch, version; /* version only ever grows: caches compare it */
	uint32_t nadded, cap;
	const struct task **added; /* session arena */
	struct res used, pipelined, releasing;
};

struct overlay_podgroup {
	uint32_t epoch;
	uint32_t by_status[TASK_STATUS_COUNT_];
	uint32_t best_effort_pending;
	uint8_t phase;
	bool touched;        /* in the list of those; not undone */
	bool tried;          /* its tasks were tried on nodes; not undone, like the rest below */
	const char *refusal; /* why quota was not given, or its gang does not count; NULL */
	const char *refusal_code; /* static text */
};

struct overlay_queue {
	uint32_t epoch;
	struct res charged, releasing;
};

struct overlay_claim {
	uint32_t epoch;
	uint32_t node;   /* for which an unbound one is bound; MODEL_NONE: none yet */
	uint32_t placed; /* pods with a node that use it */
};

struct overlay_volume {
	uint32_t epoch;
	uint32_t claim; /* id of the one for which it is reserved; MODEL_NONE */
};

enum undo_kind { UNDO_64, UNDO_32, UNDO_8, UNDO_NODE, UNDO_ALLOCATE, UNDO_DEALLOCATE };

struct undo {
	uint8_t kind;
	uint32_t node;
	union {
		int64_t *w64;
		uint32_t *w32;
		uint8_t *w8;
		const struct task *task;
	} at;
	int64_t old;
};

struct overlay {
	uint32_t epoch;
	struct overlay_task *tasks;
	struct overlay_node *nodes;
	struct overlay_podgroup *podgroups;
	struct overlay_queue *queues;
	struct overlay_claim *claims;
	struct overlay_volume *volumes;
	size_t ntasks, nnodes, npodgroups, nqueues, nclaims, nvolumes; /* slots */
	struct VEC(struct undo) log;
	struct VEC(uint32_t) touched; /* nodes in the order their use changed, with repeats */
	struct VEC(uint32_t) touched_podgroups; /* ids, each once: a statement has changed them or
						   their tasks, and may have been undone since */
	uint64_t grown; /* times room appeared on a node: what did not fit may fit now */
	struct VEC(
		uint32_t) evicted; /* nodes where this session evicts: pods terminate there, too */
	const struct cluster *cluster;
	struct arena *arena;
};

void session_overlay_finish(struct overlay *o);
/* Begins a session on c; the arena holds lists until the next one. */
void session_overlay_open(struct overlay *o, const struct cluster *c, struct arena *a);

/* The slot with its present values, copied from the cluster at the first use. */
struct overlay_task *session_overlay_task(struct overlay *o, const struct task *t);
struct overlay_node *session_overlay_node(struct overlay *o, const struct node *n);
struct overlay_podgroup *session_overlay_podgroup(struct overlay *o, const struct podgroup *g);
struct overlay_queue *session_overlay_queue(struct overlay *o, const struct queue *q);
struct overlay_claim *session_overlay_claim(struct overlay *o, const struct claim *cl);
struct overlay_volume *session_overlay_volume(struct overlay *o, const struct volume *v);

/* Logged writes. */
void session_overlay_set64(struct overlay *o, int64_t *at, int64_t value);
void session_overlay_set32(struct overlay *o, uint32_t *at, uint32_t value);
void session_overlay_set8(struct overlay *o, uint8_t *at, uint8_t value);
/* a += sign * b in the dimensions of mask, saturating, not below 0. */
void session_overlay_add(struct overlay *o, struct res *a, const struct res *b, uint32_t mask,
			 int sign);
/* sign * t's charge to the queue with this id and to all above it. */
void session_overlay_charge(struct overlay *o, uint32_t queue, const struct task *t, int sign);
/* The PodGroup, a task of it, or a charge of one, changed. */
void session_overlay_touch_podgroup(struct overlay *o, const struct podgroup *g);
/* The use of the node has changed; grows: there is more room on it. */
void session_overlay_touch(struct overlay *o, const struct node *n, bool grows);

#endif
