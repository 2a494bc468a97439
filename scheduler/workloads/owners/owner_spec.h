/* scheduler/workloads/owners/owner_spec.h: the contents of the Workload for an owner (a Job, a pod,
 * a group of pods), and whether a Workload has them (Kueue: the generic job framework). Pure; texts
 * that are made live in the arena given, others are borrowed from the owner. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_OWNER_SPEC_H
#define SCHEDULER_WORKLOADS_OWNERS_OWNER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enc/field.h"
#include "scheduler/workloads/owners/owner_write.h"

#define OWNER_SPEC_MAIN "main"    /* the pod set of an owner that has one kind of pods */
#define OWNER_SPEC_NAME_MAX 253   /* bytes of a Workload's name */
#define OWNER_SPEC_PODSETS_MAX 18 /* of a Workload */

struct api_meta;
struct api_pod_spec;
struct api_priority_ref;
struct api_workload;
struct api_workload_spec;
struct arena;

/* Values of priority classes; a name NULL asks for the default of its kind. False: there is none.
 */
struct owner_spec_classes {
	void *ctx;
	/* WorkloadPriorityClass */
	bool (*queue_class)(void *ctx, const char *name, int32_t *ret);
	/* PriorityClass; *ret_name is the name of the class found */
	bool (*pod_class)(void *ctx, const char *name, const char **ret_name, int32_t *ret);
};

struct owner_spec_podset {
	const char *name;
	int32_t count;
	int32_t min_count;              /* 0: no partial admission */
	struct owner_write_object from; /* the pod template is this object's */
};

struct owner_spec {
	const char *name; /* of the Workload */
	const char *queue;
	const char *class_group, *class_kind, *class_name; /* NULL: no priorityClassRef */
	int32_t priority;
	int32_t max_execution;          /* seconds; 0: no limit */
	const char *gated_by;           /* admission-gated-by; NULL: not gated */
	struct field_map labels, notes; /* labels and annotations that the Workload bears, too */
	const struct field_map *annotations; /* of the owner; NULL: none */
	struct owner_spec_podset *podsets;
	size_t npodsets;
};

/* Reads labels and annotations: queue, class, limit, gate. priority_class: that of the pods, or
 * NULL. False: a priority class is not known yet, *ret is not good. */
bool owner_spec_read(const struct api_meta *m, const char *priority_class,
		     const struct owner_spec_classes *classes, struct owner_spec *ret);
/* The Workload gets those labels of m that have a key in this list (NULL: none). One that it has
 * with another value stays and its key is returned; NULL: there is none. */
const char *owner_spec_copy_labels(const struct api_meta *m, const struct field_strs *keys,
				   struct arena *arena, struct owner_spec *s);
/* The same of annotations. */
const char *owner_spec_copy_notes(const struct api_meta *m, const struct field_strs *keys,
				  struct arena *arena, struct owner_spec *s);
/* The name of the Workload of one object: as Kueue's, so that Workloads of either are found by the
 * other. prefix: "job-". */
const char *owner_spec_name(const char *prefix, const char *kind, const char *group,
			    const struct api_meta *m, struct arena *arena);
/* The Workload that the owner brings itself; NULL: it gets one. */
const char *owner_spec_prebuilt(const struct api_meta *m);
/* Whether queue, priority and gate of w are those of s. */
bool owner_spec_is_synced(const struct owner_spec *s, const struct api_workload *w);
/* Whether pods of either need the same: containers, init containers, tolerations. */
bool owner_spec_same_pods(const struct api_pod_spec *a, const struct api_pod_spec *b,
			  bool with_tolerations);
/* A number above 0; anything else is 0. */
int32_t owner_spec_positive(const char *text);

/* Sets the members of spec besides podSets; ret was initialised, ref is room for the class. */
void owner_spec_fill(const struct owner_spec *s, struct api_priority_ref *ref,
		     struct api_workload_spec *ret);

#endif
