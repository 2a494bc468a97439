/* scheduler/workloads/owners/pod_podset.h: the contents of the Workload of pods: of one pod the pod
 * set "main", of a group one pod set for each role (Kueue: pod integration). Pure; texts that are
 * made live in the arena given, others are borrowed from the pods. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_POD_PODSET_H
#define SCHEDULER_WORKLOADS_OWNERS_POD_PODSET_H

#include <stdbool.h>
#include <stddef.h>

struct api_pod;
struct arena;
struct field_strs;
struct owner_spec;

struct pod_podset_of { /* all of one group, or one pod without group */
	const struct api_pod *const *pods;
	size_t n; /* at least 1 */
};

/* Why the pods make no group; NULL: they do. */
const char *pod_podset_mismatch(const struct pod_podset_of *of, struct arena *arena);
/* Labels and annotations of the Workload. Why they are not those of all pods; NULL: they are. */
const char *pod_podset_labels(const struct pod_podset_of *of, const struct field_strs *keys,
			      struct arena *arena, struct owner_spec *s);
const char *pod_podset_notes(const struct pod_podset_of *of, const struct field_strs *keys,
			     struct arena *arena, struct owner_spec *s);
/* Name and pod sets of the Workload; the rest of *s is left alone. Of a group that is admitted at
 * once a single pod set for all that are to come. False: more roles than a Workload can have. */
bool pod_podset_fill(const struct pod_podset_of *of, struct arena *arena, struct owner_spec *s);

#endif
