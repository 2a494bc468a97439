/* scheduler/workloads/owners/owner_write.h: one planned write about a Workload or its owner (a Job,
 * or pods). Plain data, made by the sched thread; controller/owner_request.h sends it. */
#ifndef SCHEDULER_WORKLOADS_OWNERS_OWNER_WRITE_H
#define SCHEDULER_WORKLOADS_OWNERS_OWNER_WRITE_H

#include <stdbool.h>
#include <stddef.h>

/* Field manager of what is applied. */
#define OWNER_WRITE_MANAGER "headgate-job"

struct jdoc;
struct strbuf;

enum owner_write_kind {
	OWNER_CREATE,             /* the Workload; pod templates are read from the owner */
	OWNER_UPDATE,             /* merge patch of the Workload; pod templates are read from the
				     owner */
	OWNER_SYNC,               /* merge patch of the Workload */
	OWNER_STATUS,             /* apply configuration of the Workload's status */
	OWNER_DROP_FINALIZER,     /* merge patch of the Workload: without finalizer */
	OWNER_DELETE,             /* the Workload; the body is DeleteOptions */
	OWNER_JOB_START,          /* merge patch of the Job */
	OWNER_JOB_SUSPEND,        /* merge patch of the Job */
	OWNER_JOB_RESET,          /* merge patch of the Job's status */
	OWNER_JOB_RESTORE,        /* merge patch of the Job */
	OWNER_JOB_DELETE,         /* the Job; the body is DeleteOptions */
	OWNER_POD_START,          /* merge patch of a pod: its gate goes */
	OWNER_POD_END,            /* apply configuration of a pod's status: why it is stopped */
	OWNER_POD_DELETE,         /* a pod; the body is DeleteOptions */
	OWNER_POD_DROP_FINALIZER, /* merge patch of a pod: without finalizer */
	OWNER_NOTE, /* the event alone; in a pool it replaces a write that is not wanted
		       any more */
	OWNER_WRITE_COUNT_
};

struct owner_write_object { /* a Job or a pod */
	const char *name, *uid;
};
struct owner_write_gap { /* the pod template of an object goes before the tail */
	struct owner_write_object from;
	const char *tail;
};

struct owner_write {
	enum owner_write_kind kind;
	bool pods;            /* the owner is pods, not a Job */
	const char *workload; /* its name; NULL: `about` is written */
	/* Object of the event: the owner; without a name the Workload with this UID. */
	struct owner_write_object about;
	const char *body;
	const struct owner_write_gap *gaps; /* CREATE, UPDATE */
	size_t ngaps;
	/* An event on `about` once it is written; NULL: none. */
	const char *event, *message;
	bool warning; /* NOTE */
};

/* Appends what fills a gap: the pod template of a Job, of a pod its spec alone (Kueue: pod
 * integration). False: it has none. */
bool owner_write_add_template(bool pods, const struct jdoc *owner, struct strbuf *body);

#endif
