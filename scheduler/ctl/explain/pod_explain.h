/* scheduler/ctl/explain/pod_explain.h: explains one pod: its gate, its PodGroup, the amounts of its
 * queue and of all queues above, and the nodes. One thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_POD_EXPLAIN_H
#define SCHEDULER_CTL_EXPLAIN_POD_EXPLAIN_H

#include "collections/vec.h"
#include "scheduler/ctl/explain/live_cluster.h"
#include "scheduler/pods/model/model.h"

struct arena;
struct jdoc;

/* One resource of one queue, from the pod's queue up to the root. */
struct pod_explain_line {
	const char *queue, *resource;
	unsigned dim;
	int64_t limit, allocated, reserved, need;
	bool is_short;
};

struct pod_explanation {
	struct arena *arena;
	const char *namespace_, *name;
	const char *scheduler;           /* the other scheduler that the pod names; NULL: ours */
	const struct task *task;         /* NULL: of another scheduler */
	const struct podgroup *podgroup; /* NULL: none yet */
	const struct queue *queue;       /* named by its PodGroup; NULL: none */
	const char *queue_name;          /* the same where it does not exist, or where there is no
					    PodGroup yet; NULL: none is known */
	const struct queue *charged;     /* NULL: none */
	const char *reason;              /* of the verdict, for machines: "WaitingForQuota" */
	const char *verdict;             /* one sentence */
	const char *gate_reason;         /* "Gated"; NULL: a pod of another scheduler */
	const char *gate;                /* some words */
	const char *nodes;
	struct VEC(struct pod_explain_line) lines;
	int32_t members, have, missing; /* of the gang */
	struct res needs;               /* of `pods` pods */
	unsigned pods;
};

/* pod: t as the API server has it; NULL: not known. s must outlive *ret. */
void pod_explain_task(const struct live_cluster *s, const struct task *t, const struct jdoc *pod,
		      struct pod_explanation *ret);
/* A pod of another scheduler than those with these names, and than those that pods are gated for
 * (gated); both lists end in NULL. The pod and the lists must outlive *ret. */
void pod_explain_foreign(const struct jdoc *pod, const char *const *names, const char *const *gated,
			 struct pod_explanation *ret);
void pod_explain_finish(struct pod_explanation *x); /* for CLEANUP; zeroed is fine */

#endif
