/* scheduler/pods/session/gang.h: how many members of a gang (a PodGroup with minMember and
 * minTaskMember) have reached a stage: enough to be ungated, to be placed or published, or, for the
 * plugin gang, to be valid, pipelined or ready. As in Volcano, minimums per role are ignored when
 * they add up to more than minMember. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SESSION_GANG_H
#define SCHEDULER_PODS_SESSION_GANG_H

#include "scheduler/pods/session/session.h"

enum gang_stage {
	GANG_VALID,     /* exists, and is not terminating */
	GANG_RESERVED,  /* has its quota: is charged, is on a node, or needs no charge */
	GANG_PLACEABLE, /* RESERVED, and its gate is off */
	GANG_PIPELINED, /* has a node, or waits on one for resources that are being released */
	GANG_READY,     /* has a node, or needs no decision to get one */
};

struct gang_role {
	uint32_t role;
	int32_t missing; /* below 0: it has more than its minimum */
};

/* Members that a gang lacks. */
struct gang_need {
	int32_t missing;         /* members of any role; 0 or less: none */
	struct gang_role *roles; /* sorted by role */
	size_t nroles;
	int32_t missing_in_roles; /* sum of what is missing in each of them, if anything is */
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

/* Whether the gang loses nothing when t, which has a node, goes: it has more members than it needs,
 * or is incomplete with t as well. O(1), with minimums per role O(tasks). */
bool gang_can_spare(const struct session *s, const struct task *t);

/* Whether quota may be reserved for t now: it opted in, has requests, is not charged, has no gate
 * but ours, and no failed write or pause is in the way. */
bool gang_is_candidate(const struct session *s, const struct task *t);

#endif
