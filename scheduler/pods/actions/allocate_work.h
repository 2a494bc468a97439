/* scheduler/pods/actions/allocate_work.h: state of the allocate action for one PodGroup. In the
 * session's arena. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_ACTIONS_ALLOCATE_WORK_H
#define SCHEDULER_PODS_ACTIONS_ALLOCATE_WORK_H

#include "scheduler/pods/search/order.h"
#include "scheduler/pods/session/gang.h"

#define ALLOCATE_OVERUSED "the queue has all that it deserves now"

struct allocate_list {
	const struct task **v;
	size_t n, next; /* v[next .. n - 1] are still to be looked at */
};

struct allocate_work {
	struct order_podgroup order; /* first member */
	const struct queue *queue;
	const struct podgroup *podgroup;
	struct allocate_list reserve; /* candidates for quota */
	struct allocate_list place;   /* may be put on a node; has room for all of reserve */
	struct gang_need need;        /* members that lack a reservation */
	bool opted_in;                /* some member asked for the gate */
	bool overused; /* nodes only for members that hold quota: the queue deserves no more */
};

/* The pod classes that one queue refused in this run. */
struct allocate_refusal {
	uint64_t *classes;      /* bit set of pod classes without room, or NULL */
	const struct queue *by; /* the queue or ancestor without room, the latest */
	uint32_t dims;          /* in these dimensions */
	const char *text;
};

/* Common to all PodGroups of one run. */
struct allocate_run {
	struct session *session;
	bool reserves;                    /* quota may be given, and gates taken off for it */
	bool enqueue_configured;          /* then only PodGroups that are not Pending are placed */
	struct allocate_refusal *refused; /* by queue id */
};

#endif
