/* scheduler/workloads/owners/placement.h: additions to the pods of an admitted pod set: node
 * selector and tolerations of the assigned flavors, podSetUpdates of Ready checks, labels (Kueue:
 * pod set info). Pure; texts are borrowed from Workload and flavors. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_PLACEMENT_H
#define SCHEDULER_WORKLOADS_OWNERS_PLACEMENT_H

#include "collections/vec.h"
#include "enc/field.h"

struct api_meta;
struct api_pod_spec;
struct api_resource_flavor;
struct api_toleration;
struct api_workload;
struct arena;
struct err;

struct placement_flavors {
	void *ctx;
	const struct api_resource_flavor *(*find)(void *ctx, const char *name); /* NULL: unknown */
};

/* Pairs to add to a map, in the order of finding. */
struct placement_pairs VEC(struct field_pair);
/* Borrowed from pod, flavors and checks. */
struct placement_tolerations VEC(const struct api_toleration *);

struct placement { /* additions; tolerations: all, those of the pod first */
	struct placement_pairs labels, annotations, selector;
	struct placement_tolerations tolerations;
};

struct placement_of {
	const struct api_meta *meta; /* of a pod, or of a pod template */
	const struct api_pod_spec *spec;
	const struct api_workload *w; /* holds an admission */
	const char *podset;
};

/* Appends to *ret, which the caller finishes in any case. -ERR_NOT_FOUND: a flavor is not known
 * (yet). -ERR_INVALID: the pods can never get it, because two want different values of one key, or
 * there is no assignment. */
int placement_make(const struct placement_of *of, const struct placement_flavors *flavors,
		   struct placement *ret, struct err *err);
void placement_finish(struct placement *p);

/* Sets the members of metadata and spec of a merge patch: labels, annotations, node selector, and
 * tolerations if there are more than the pod has. Borrows from p. */
void placement_fill(const struct placement *p, const struct api_pod_spec *has, struct arena *arena,
		    struct api_meta *meta, struct api_pod_spec *spec);

#endif
