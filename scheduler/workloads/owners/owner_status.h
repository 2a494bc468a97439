/* scheduler/workloads/owners/owner_status.h: the status of a Workload that follows from the
 * progress of its owner (a Job, pods): Finished, PodsReady, WaitingForReplacementPods,
 * reclaimablePods (Kueue: the generic job framework). Pure. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_OWNER_STATUS_H
#define SCHEDULER_WORKLOADS_OWNERS_OWNER_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_workload;
struct strbuf;

struct owner_status_pods { /* of one pod set */
	const char *podset;
	int32_t reclaimable; /* pods that no longer need their quota; written as at most the count
			      * of the pod set */
};

struct owner_status {
	bool pods_ready;                                /* PodsReady is written */
	bool ready;                                     /* all pods are ready or have succeeded */
	const char *finished_reason, *finished_message; /* Finished=True; NULL: it is not */
	bool replaces;                                  /* WaitingForReplacementPods is written */
	bool misses_pods;                               /* some have to be replaced */
	const struct owner_status_pods *pods;
	size_t npods;
	int64_t now; /* wall ns */
};

/* Appends the apply configuration of the status, of all that this controller keeps there. False:
 * the Workload says it already, nothing was appended. */
bool owner_status_apply(const struct owner_status *s, const struct api_workload *w,
			struct strbuf *body);

#endif
