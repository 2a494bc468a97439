/* scheduler/pods/writes/eviction.h: evicts a pod with a UID precondition, so that a pod re-created
 * under the same name is safe. By the Eviction API, a PodDisruptionBudget may refuse it, which is
 * final; the API server writes the condition DisruptionTarget then. Else the pod is deleted, and a
 * victim gets that condition before, in a request of its own: policies of Jobs for failed pods go
 * by it. */
#ifndef SCHEDULER_PODS_WRITES_EVICTION_H
#define SCHEDULER_PODS_WRITES_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

struct pod_write;
struct task;

struct eviction_options {
	bool by_api; /* not of a pod without a node */
	const char
		*victim_text; /* message of the condition; NULL: it is no victim of another pod */
	int64_t now;          /* wall ns */
};

/* sched thread */
struct pod_write *eviction_new(const struct task *t, const struct eviction_options *opt);

#endif
