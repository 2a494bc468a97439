/* scheduler/workloads/owners/pod_start.h: patches of a pod that queues: let go, ended, forgotten
 * (Kueue: pod integration). Pure; bodies are appended to `body`. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_POD_START_H
#define SCHEDULER_WORKLOADS_OWNERS_POD_START_H

#include <stdint.h>

struct api_pod;
struct api_workload;
struct err;
struct placement_flavors;
struct strbuf;

/* A merge patch: what the admission of the pod set gives it, and our gate goes; others stay. Errors
 * as placement_make. */
int pod_start_patch(const struct api_pod *pod, const struct api_workload *w, const char *podset,
		    const struct placement_flavors *flavors, struct strbuf *body, struct err *err);
/* An apply configuration of its status: the condition that says why it is about to be deleted
 * (Kueue: TerminationTarget). */
void pod_start_end(const struct api_pod *pod, const char *reason, const char *message, int64_t now,
		   struct strbuf *body);
/* The same condition says that it is not: as any write does, it makes a patch fail that was made
 * for the pod as it was. */
void pod_start_stay(const struct api_pod *pod, int64_t now, struct strbuf *body);
/* A merge patch: our finalizer goes. */
void pod_start_drop_finalizer(const struct api_pod *pod, struct strbuf *body);

#endif
