/* scheduler/pods/session/gang.h: the number of members of a gang (PodGroup with minMember,
 * minTaskMember) that have reached a stage: may it be ungated, may it be placed or published, and,
 * for the gang plugin, is it valid, pipelined, ready. Like in Volcano, minimums per role are
 * ignored when they add up to more than minMember. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_GANG_H
#define SCHEDULER_PODS_SESSION_GANG_H

#include "scheduler/pods/session/session.h"

enum gang_stage {
	GANG_VALID,     /* exists, and is not terminating */
	GANG_RESERVED,  /* has its quota: charged, on a node, or in no need of a charge */
	GANG_PLACEABLE, /* and its gate is off */
	GANG_PIPELINED, /* has a node, or will have one that is being released */
	GANG_READY,     /* has a node, or needs no decision to get one */
};

struct gang_role {
	uint32_t role;
	int32_t missing; /* may be negative: more than asked for */
};

/* Members that a gang lacks. */
struct gang_need {
	int32_t missing; /* members, at least; not positive: none */
	struct gang_role *roles;
	size_t nroles;
};

/* Whether t counts as a member that has reached the stage. */
bool gang_has_reached(const struct session *s, const struct task *t, enum gang_stage stage);
/* The number of such members, by their statuses alone: for GANG_VALID, GANG_PIPELINED and
 * GANG_READY. O(1). */
int32_t gang_count(const struct session *s, const struct podgroup *g, enum gang_stage stage);
/* Whether every role has its minimum of tasks that have reached the stage. O(tasks) at most: the
 * walk ends with the last minimum, so that a big PodGroup that has long been ready costs little. */
bool gang_roles_are_met(const struct session *s, const struct podgroup *g, enum gang_stage stage);
/* roles lie in the session's arena. O(tasks). */
void gang_need(const struct session *s, const struct podgroup *g, enum gang_stage stage,
	       struct gang_need *ret);
bool gang_is_met(const struct gang_need *need);
/* Whether one more member of this role helps: its role lacks members, or more members are missing
 * than the roles lack. */
bool gang_needs_role(const struct gang_need *need, uint32_t role);
/* Counts one more member of this role. */
void gang_add_member(struct gang_need *need, uint32_t role);

/* Whether the PodGroup of t, which has a node, is as complete without it as with it: it has more
 * members than it needs, or lacks some anyway. O(1), with minimums per role O(tasks). */
bool gang_can_spare(const struct session *s, const struct task *t);

/* Whether quota may be reserved for t: it opted in, has requests, no charge and no gate but ours,
 * is not set aside and may be tried again. */
bool gang_is_candidate(const struct session *s, const struct task *t);

#endif
