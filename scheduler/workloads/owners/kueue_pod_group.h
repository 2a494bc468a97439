/* scheduler/workloads/owners/kueue_pod_group.h: pods that queue, singly or as a group, by their
 * labels and annotations (Kueue: pod integration). Pure. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_KUEUE_POD_GROUP_H
#define SCHEDULER_WORKLOADS_OWNERS_KUEUE_POD_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/vec.h"

struct api_pod;
struct api_workload;

/* Borrowed pods. */
struct pod_group_list VEC(const struct api_pod *);

/* The webhook took it in: it has the label and its role. */
bool kueue_pod_group_is_managed(const struct api_pod *p);
/* The group; NULL: it queues alone. */
const char *kueue_pod_group_name(const struct api_pod *p);
int32_t kueue_pod_group_total(const struct api_pod *p); /* 0: not said, or no number above 0 */
const char *kueue_pod_group_role(const struct api_pod *p);
bool kueue_pod_group_is_fast(const struct api_pod *p);    /* admitted with the first pod */
bool kueue_pod_group_is_serving(const struct api_pod *p); /* never ends */
/* Can run, runs or has succeeded: it counts as one of its group. */
bool kueue_pod_group_counts(const struct api_pod *p);
bool kueue_pod_group_is_held(const struct api_pod *p); /* our gate is on it, or it has ended */
bool kueue_pod_group_is_ready(const struct api_pod *p);
/* One that failed is not replaced. */
bool kueue_pod_group_is_unretriable(const struct api_pod *p);

/* Pods of a group by what becomes of them. */
struct kueue_pod_group_split {
	struct pod_group_list kept;
	struct pod_group_list excess;   /* more than were asked for: they are deleted */
	struct pod_group_list replaced; /* ended, and other pods stand in for them */
	int32_t absent;                 /* pods that have to be made yet */
};

/* By the roles that the Workload names; pods of other roles are not in any list. Lists are appended
 * to. */
void kueue_pod_group_split(const struct api_pod *const *pods, size_t n,
			   const struct api_workload *w, int64_t now,
			   struct kueue_pod_group_split *ret);
/* Without a Workload: the pods that count, oldest first, up to the number of the group. */
void kueue_pod_group_split_new(const struct api_pod *const *pods, size_t n, int32_t total,
			       struct kueue_pod_group_split *ret);
void kueue_pod_group_split_finish(struct kueue_pod_group_split *s);

#endif
