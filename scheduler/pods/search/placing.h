/* scheduler/pods/search/placing.h: which pods may be put on a node, and whether their quota allows
 * it. Shared by the actions that place pods. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_SEARCH_PLACING_H
#define SCHEDULER_PODS_SEARCH_PLACING_H

#include "scheduler/pods/session/session.h"

/* Whether t is a pod to place: it has no gate, and holds quota if it opted in. Best-effort pods are
 * placed by the backfill action. */
bool placing_is_candidate(const struct session *s, const struct task *t);
/* The lowest queue, from q upwards, that will have no room for the charge of t even when the pods
 * that terminate now are gone; NULL: all will have. For pods that opted in. */
const struct queue *placing_quota_comes(const struct session *s, const struct queue *q,
					const struct task *t);
/* The quota vote for a pod that holds no charge. */
bool placing_quota_admits(struct session *s, const struct queue *q, const struct task *t,
			  struct reason *why);

#endif
