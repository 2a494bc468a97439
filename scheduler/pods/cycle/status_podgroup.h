/* scheduler/pods/cycle/status_podgroup.h: the verdict of a cycle on one PodGroup, and what its
 * status says of it. For pods/cycle/status.c. Thread: sched. Pure. */
#ifndef SCHEDULER_PODS_CYCLE_STATUS_PODGROUP_H
#define SCHEDULER_PODS_CYCLE_STATUS_PODGROUP_H

#include "scheduler/pods/session/session.h"

struct verdict {
	const char *condition; /* reason of the PodGroup condition Unschedulable */
	const char *code;      /* static text: the kind of obstacle; NULL: none that we know of */
	const char *message;   /* for people; NULL with code NULL */
	bool queue_refuses;    /* unknown, closed or broken queue */
	bool kept_out;         /* refused by enqueue, and pods wait that did not opt in */
	bool unsupported;      /* no pod of it is started: it has a field that is not supported */
	bool valid;            /* has the tasks that it needs, and may use its queue */
	bool ready;
};

/* q may be one that does not exist. */
void status_podgroup_assess(struct session *s, const struct queue *q, const struct podgroup *g,
			    struct verdict *ret);
/* Decides phase and conditions where they differ from the last report. */
void status_podgroup_report(struct session *s, const struct podgroup *g, const struct verdict *v);

#endif
