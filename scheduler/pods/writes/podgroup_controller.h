/* scheduler/pods/writes/podgroup_controller.h: makes PodGroups for pods of our scheduler
 * that name none, as Volcano's PodGroup controller does: PodGroup "podgroup-<UID of the controlling
 * owner, else of the pod>", then the annotation scheduling.k8s.io/group-name on the pod. All
 * replicas of one owner share it. minMember comes from the annotation group-min-member of the pod
 * or its owner, else 1. Owner: the sched thread calls; the pool works. Steps of one pod: read the
 * owner (only when the PodGroup is not there yet), create the PodGroup, annotate the pod; a plain
 * pod without an owner is adopted by the cache when its PodGroup is seen, and its Binding brings
 * the annotation. A refused PodGroup is tried again every few seconds. */
#ifndef SCHEDULER_PODS_WRITES_PODGROUP_CONTROLLER_H
#define SCHEDULER_PODS_WRITES_PODGROUP_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "kube/pool.h"

struct cluster;
struct podgroup_controller;
struct recorder;
struct task;

/* The parts of a pod that the controller reads; slices and texts are borrowed for the call. NULL:
 * absent. */
struct podgroup_controller_pod {
	const char *queue;      /* annotation scheduling.volcano.sh/queue-name */
	const char *min_member; /* annotation scheduling.volcano.sh/group-min-member */
	const char *priority_class;
	const char *owner_api_version, *owner_kind, *owner_name,
		*owner_uid; /* the controlling owner */
};

/* base: transport, clock, limiter, workers (0: manual), seed, may_send and its ctx. recorder:
 * borrowed, for events on pods about the refusal of their PodGroup (a closed queue); NULL: no
 * events. */
struct podgroup_controller *podgroup_controller_create(const struct pool_options *base,
						       const char *default_queue,
						       struct recorder *recorder);
void podgroup_controller_destroy(struct podgroup_controller *p);
/* A pod of ours without group annotation was seen. Repeats while one is under way are harmless. */
void podgroup_controller_pod(struct podgroup_controller *p, const struct cluster *c,
			     const struct task *t, const struct podgroup_controller_pod *pod);
/* Creates again the PodGroups of pods without owner that are still without one: deleted before it
 * was seen (nothing in the pod changes then), or between two lists. Call it every second or so. */
void podgroup_controller_ask_again(struct podgroup_controller *p, const struct cluster *c);
/* An adopted pod is not bound at once: its annotation is written now. */
void podgroup_controller_annotate(struct podgroup_controller *p, const struct task *t,
				  const char *group);
struct pool *podgroup_controller_pool(struct podgroup_controller *p);

#endif
