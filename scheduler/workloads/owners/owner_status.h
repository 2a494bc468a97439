/* scheduler/workloads/owners/owner_status.h: what the progress of an owner (a Job, pods) says in
 * the status of its Workload: Finished, PodsReady, WaitingForReplacementPods, reclaimablePods
 * (Kueue: the generic job framework). Pure. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_OWNER_STATUS_H
#define SCHEDULER_WORKLOADS_OWNERS_OWNER_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct api_workload;
struct strbuf;

struct owner_status_pods { /* of one pod set */
	const char *podset;
	int32_t reclaimable; /* pods whose quota is needed no more; at most as many are told as the
			      * pod set has */
};

struct owner_status {
	bool pods_ready;                                /* PodsReady is told */
	bool ready;                                     /* all pods are ready or have succeeded */
	const char *finished_reason, *finished_message; /* Finished=True; NULL: it is not */
	bool replaces;                                  /* WaitingForReplacementPods is told */
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
