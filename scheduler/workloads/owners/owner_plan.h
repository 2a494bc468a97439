/* scheduler/workloads/owners/owner_plan.h: the list of writes that an owner (a Job, pods) and its
 * Workload need, and those that are the same for every kind of owner. Pure; texts live in the
 * plan's arena or are borrowed from the objects. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_OWNER_PLAN_H
#define SCHEDULER_WORKLOADS_OWNERS_OWNER_PLAN_H

#include "collections/vec.h"
#include "scheduler/workloads/owners/owner_spec.h"
#include "scheduler/workloads/owners/owner_write.h"
#include "scheduler/workloads/owners/placement.h"

struct api_meta;
struct api_workload;
struct arena;
struct strbuf;

struct owner_plan_env { /* the input of plans for all kinds of owners */
	struct owner_spec_classes classes;
	struct placement_flavors flavors;
	/* Of labels and annotations that Workloads get of owners; NULL: none. */
	const struct field_strs *label_keys, *annotation_keys;
	bool without_queue_name; /* owners without queue-name are managed as well */
	bool pods_ready;         /* PodsReady is written */
	int64_t now;             /* wall ns */
	/* An admitted Workload is still admitted by all that is known; NULL: it is. */
	bool (*may_start)(void *ctx, const struct api_workload *w);
	void *ctx;
};

struct owner_plan {
	struct arena *arena; /* borrowed */
	bool pods;           /* the owner is pods, not a Job */
	const char *namespace_;
	struct owner_write_object about; /* the object of events about the Workload */
	struct VEC(struct owner_write) writes;
};

/* The owner references of the Workload. */
struct owner_plan_refs {
	const char *api_version, *kind;
	bool controller; /* there is one, and it controls */
	const struct owner_write_object *v;
	size_t n;
};

/* It names a queue, or need not: its Workload is for us to make. */
bool owner_plan_is_managed(const struct owner_plan_env *env, const struct api_meta *owner);

/* Frees the list, not the arena. */
void owner_plan_finish(struct owner_plan *p);

/* w NULL: a write about p->about; the caller may change that in what is returned. */
struct owner_write *owner_plan_add(struct owner_plan *p, enum owner_write_kind kind,
				   const struct api_workload *w, const struct strbuf *body);
void owner_plan_set_event(struct owner_write *w, const char *event, const char *message);
/* An event about p->about alone. */
struct owner_write *owner_plan_note(struct owner_plan *p, bool warning, const char *event,
				    const char *message);
/* owner_spec_read failed: says which class there is not: the WorkloadPriorityClass of the owner, or
 * the PriorityClass of its pods. */
void owner_plan_note_class(struct owner_plan *p, const struct api_meta *owner,
			   const char *priority_class);
/* The messages of the checks that a Workload waits for; NULL: it waits for none. */
const char *owner_plan_checks(const struct owner_plan *p, const struct api_workload *w);

/* Its status, of which body is the apply configuration; finished: it says that it is. */
void owner_plan_status(struct owner_plan *p, const struct api_workload *w,
		       const struct strbuf *body, bool finished);
/* The Workload; group: its name is that of the group and says so by annotation. */
void owner_plan_create(struct owner_plan *p, const struct owner_spec *s,
		       const struct owner_plan_refs *refs, bool group);
/* The pod sets and all that follows the owner. */
void owner_plan_update(struct owner_plan *p, const struct owner_spec *s,
		       const struct api_workload *w);
/* Queue, priority and gate follow the owner. Of a Workload that holds quota only the gate and the
 * WorkloadPriorityClass may still change. */
void owner_plan_sync(struct owner_plan *p, const struct owner_spec *s,
		     const struct api_workload *w);
void owner_plan_adopt(struct owner_plan *p, const struct owner_plan_refs *refs,
		      const struct api_workload *w);
/* Without our finalizer, if it has it. */
void owner_plan_drop_finalizer(struct owner_plan *p, const struct api_workload *w);
/* Removes the finalizer first: then the deletion waits for no controller. */
void owner_plan_delete(struct owner_plan *p, const struct api_workload *w);

/* --- for authors of patches --------------------------------------------------------------------*/

/* A patch is of the object as it was seen: sets UID and resourceVersion. */
void owner_plan_same(const struct api_meta *m, struct api_meta *ret);
/* The finalizers without one of them. */
struct field_strs owner_plan_finalizers(const struct api_meta *m, const char *without,
					struct arena *arena);
/* It bears this one. */
bool owner_plan_has_finalizer(const struct api_meta *m, const char *finalizer);

/* --- the status of a Workload ------------------------------------------------------------------*/

/* It holds quota, and its checks are ready. */
bool owner_plan_is_admitted(const struct api_workload *w);
/* By env: what was seen to be admitted is not about to change. */
bool owner_plan_may_start(const struct owner_plan_env *env, const struct api_workload *w);
/* Its controlling owner has the UID of this one. */
bool owner_plan_is_owned_by(const struct api_workload *w, const struct api_meta *owner);

#endif
