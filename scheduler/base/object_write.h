/* scheduler/base/object_write.h: writes of ready-made bodies (Queues): sent until it is
 * acknowledged, found pointless (404, another UID, or 409 on a create) or refused. Thread:
 * created by the sched thread, then owned by the pool. */
#ifndef SCHEDULER_BASE_OBJECT_WRITE_H
#define SCHEDULER_BASE_OBJECT_WRITE_H

#include "kube/pool.h"
#include "scheduler/base/message.h"

struct object_write;

struct object_write_spec {
	enum sched_request request;
	enum sched_resource resource;
	enum http_method method;
	struct str key;            /* reported back: "namespace/name" or "name" */
	struct str about;          /* reported back as well; absent: none */
	const char *path;          /* URL path */
	const char *content_type;  /* static */
	struct str body;           /* copied */
	bool keeps_foreign_fields; /* a server-side apply without force, of an object that names its
			UID: fields that another field manager has set differently are left as they
			are (SCHED_STALE) */
	bool names_version;   /* a conflict (409) of a patch or a deletion says that the object has
				 changed since (SCHED_STALE): it is not sent again */
	bool once;            /* not sent again when it may have had its effect, or the server has
				 failed (SCHED_UNANSWERED): its sender decides anew */
	bool reads_existing;  /* a create that finds an object of the name reads it: SCHED_STALE,
				 with the object, or without one that cannot be decoded. The path is
				 that of the collection */
	const char *name;     /* of the object, for reads_existing */
	bool retries_refused; /* a refused write is reported and sent again, at growing intervals:
			 no watched object shows when it would be accepted */
};

/* Copies the spec; the caller owns the item until it is added to the pool. Sched thread. */
struct object_write *object_write_new(const struct object_write_spec *spec);

/* Context of the pool. */
struct object_write_target {
	void (*post)(void *ctx, struct sched_msg *msg); /* receives SCHED_MSG_REQUEST_DONE */
	bool (*may_send)(void *ctx);                    /* NULL: always */
	void *ctx;
};
/* A pool for such writes with the options in base; fills target, which must outlive it. */
struct pool *object_write_pool(const struct pool_options *base, const char *name, unsigned slots,
			       void (*post)(void *ctx, struct sched_msg *msg),
			       struct object_write_target *target);

#endif
