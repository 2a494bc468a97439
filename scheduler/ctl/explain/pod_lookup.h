/* scheduler/ctl/explain/pod_lookup.h: one pod as the API server has it. The model of the pods wing
 * leaves out what concerns other schedulers, and the queue that a pod without PodGroup names. One
 * thread. */
#ifndef SCHEDULER_CTL_EXPLAIN_POD_LOOKUP_H
#define SCHEDULER_CTL_EXPLAIN_POD_LOOKUP_H

#include <stdbool.h>

#include "scheduler/ctl/cli/cluster_args.h"

struct jdoc;
struct strbuf;

/* key: "namespace/name". -ERR_NOT_FOUND has the nearest name of the namespace in its text. */
int pod_lookup_read(const struct cluster_args *a, const char *key, struct jdoc **ret,
		    struct err *err);
/* spec.schedulerName; never NULL. */
const char *pod_lookup_scheduler(const struct jdoc *pod);
/* The pod waits, and the schedulers of these names are not the one that it names. */
bool pod_lookup_is_foreign(const struct jdoc *pod, const char *const *names);
/* It names one of these schedulers, and opted in, is gated or has been. */
bool pod_lookup_is_gate_only(const struct jdoc *pod, const char *const *names);
/* The pod queues by itself or in a group, and its Workload says why it waits. */
bool pod_lookup_has_workload(const struct jdoc *pod, const char *const *names);
/* The group of pods with which it queues; NULL: it queues by itself. */
const char *pod_lookup_group(const struct jdoc *pod);
/* The queue that its PodGroup will name, when one is made for it. */
const char *pod_lookup_queue(const struct jdoc *pod);
/* Appends what holds for the gate of a pod of another scheduler. */
void pod_lookup_describe_gate(const struct jdoc *pod, struct strbuf *out);

#endif
