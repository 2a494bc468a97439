/* scheduler/multikueue/records/fleet_locals.h: the local objects of the jobs that MultiKueue
 * carries (manager/carried.h), by the job that they are part of, and the Workloads that each job
 * owns. Owner: the fleet thread. */
#ifndef SCHEDULER_MULTIKUEUE_RECORDS_FLEET_LOCALS_H
#define SCHEDULER_MULTIKUEUE_RECORDS_FLEET_LOCALS_H

#include "api/kueue/custom_kinds.h"
#include "collections/vec.h"
#include "scheduler/multikueue/records/fleet_managed.h"

struct carried_kind;
struct fleet_locals;
struct fleet_workload;

struct fleet_local {
	struct sched_msg *object;
	struct fleet_write write; /* of its status */
	struct fleet_digest digest;
	char *job; /* key of its job */
};

struct fleet_job {
	struct VEC(struct fleet_local *) objects; /* in the order of their keys */
	struct VEC(struct fleet_workload *) of;
};

/* kinds: those that are carried, bits of enum carried; customs: those of the configuration besides,
 * borrowed. look_at: an object of this Workload's job
 * has changed, come or gone. */
struct fleet_locals *fleet_locals_create(unsigned kinds, struct custom_kinds customs,
					 void (*look_at)(void *ctx, struct fleet_workload *w),
					 void *ctx);
void fleet_locals_destroy(struct fleet_locals *l); /* NULL is fine */
/* UPSERT, DELETE and BAD_OBJECT of an object of a kind that is carried; one that cannot be read is
 * as it was. */
void fleet_locals_handle(struct fleet_locals *l, struct sched_msg *m);
/* The local Workload was read: its job is that of its owner. True: it is another one than before.
 */
bool fleet_locals_follow(struct fleet_locals *l, struct fleet_workload *w);
/* The local Workload is gone. */
void fleet_locals_leave(struct fleet_locals *l, struct fleet_workload *w);
/* The job of the Workload; NULL: none is known. Valid until the next call of the others. */
const struct fleet_job *fleet_locals_of(const struct fleet_locals *l,
					const struct fleet_workload *w);
/* The Workloads that have the object with this key; NULL: none. */
const struct fleet_job *fleet_locals_with(const struct fleet_locals *l, enum sched_resource r,
					  struct str key);
/* The object that a write was about; NULL: it is gone. */
struct fleet_local *fleet_locals_find(const struct fleet_locals *l, enum sched_resource r,
				      struct str key);
/* The kind of the local Workload's owner; NULL: it is not carried. */
const struct carried_kind *fleet_locals_kind(const struct fleet_locals *l,
					     const struct fleet_workload *w);

#endif
