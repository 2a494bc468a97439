/* scheduler/multikueue/manager/carried.h: the kinds of jobs that MultiKueue carries to worker
 * clusters, a row for each (Kueue: MultiKueueAdapter). A job is what owns a Workload: one object (a
 * Job), or several (the pods of a group). On the worker each object has the name that it has here.
 * All functions of a row are pure. */
#ifndef SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_H
#define SCHEDULER_MULTIKUEUE_MANAGER_CARRIED_H

#include <stdbool.h>
#include <stdint.h>

#include "scheduler/base/sched_kinds.h"

struct api_meta;
struct api_owner;
struct arena;
struct custom_kind;
struct jdoc;
struct replica_body_manager;
struct strbuf;

enum carried {
	CARRIED_JOBS,
	CARRIED_PODS,
	CARRIED_CUSTOM, /* kinds of the configuration: each has a row of its own (carried_custom.h)
			 */
	CARRIED_COUNT_
};

/* One object of a job on a cluster: the Job, or one of the pods. Borrowed. */
struct carried_object {
	const void
		*object; /* of the struct of the resource (sched_kinds_get); NULL: there is none */
	const struct api_meta *meta; /* of the object; NULL: there is none */
	uint64_t digest;             /* carried_kind.digest; 0 where the kind has none */
	bool too_large;              /* its text was not kept: it is neither sent nor copied */
	/* On a worker alone: */
	bool taken; /* an object that is not this manager's has the name */
	bool sent;  /* a create was sent, and neither was it answered nor the object seen since */
};

/* The write that the status of the local object needs. */
enum carried_due {
	CARRIED_DUE_NOTHING,
	CARRIED_DUE_STATUS,   /* the status of the remote object is to be copied */
	CARRIED_DUE_SUSPENDED /* of the remote status nothing may be copied yet; the local one has
				 to say that it is suspended */
};

/* Objects are of the struct of the resource; documents are their JSON. */
struct carried_kind {
	const char *api_version, *kind; /* of owner references */
	enum sched_resource resource;
	/* Once the local object has ended, the core finishes the Workload: by that object alone. */
	bool core_finishes;
	const struct custom_kind *custom; /* NULL: not of the configuration */
	/* Its objects do not say that they have ended: the Workload does. has_ended and is_ending
	 * are never true. */
	bool ends_unseen;
	const struct api_meta *(*meta)(const void *object);
	/* Why the local object can never be carried, in the arena; NULL: it can. */
	const char *(*refusal)(const void *local, struct arena *arena);
	bool (*has_ended)(const void *object);
	/* It has ended, or is sure to, by the last status that was copied: started again it would
	 * do its work twice. */
	bool (*is_ending)(const void *local);
	/* By its status pods of it run: the core waits with the release of quota. */
	bool (*is_active)(const void *local);
	/* The core has not let it start, by a write to the object that is still to come; NULL: it
	 * never writes to one. */
	bool (*is_held)(const void *local);
	/* Of the status as it is copied, the same for equal ones; NULL: the struct has all of it.
	 */
	uint64_t (*digest)(const struct jdoc *object);
	enum carried_due (*due)(const struct carried_object *local,
				const struct carried_object *remote);
	/* The merge patches of the local object's status, of this version of it: for what is due,
	 * at `now`, wall ns; and when nothing of it runs any more, as its cluster is lost, or the
	 * remote object gone (NULL: is_active is never true). */
	void (*sync)(const struct jdoc *local, const struct jdoc *remote, enum carried_due due,
		     int64_t now, struct strbuf *out);
	void (*reset)(const struct jdoc *local, struct strbuf *out);
	/* To create on the worker, as the user made it: without what the API server and an
	 * admission on this cluster have added, for which the Workload stands, and held until the
	 * worker has admitted it. It names the Workload as prebuilt. */
	void (*create)(const struct jdoc *local, const struct jdoc *workload,
		       const struct replica_body_manager *by, struct strbuf *out);
};

/* Of CUSTOM: the row without a kind. */
const struct carried_kind *carried_row(enum carried c);
/* The kind of this owner; NULL: it is not carried, or one of the configuration. */
const struct carried_kind *carried_of(const struct api_owner *o);
/* The Workload of a kind, NULL included, is that of a group of pods, which has its name. */
bool carried_is_group(const struct api_meta *workload, const struct carried_kind *kind);
/* False: objects of this resource are not carried. */
bool carried_find(enum sched_resource r, enum carried *ret);

#endif
