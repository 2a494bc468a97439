/* scheduler/exec/object_write.h: a write of a ready-made body to any object (Queue status,
 * PodGroups and group annotations made by controllers): sent until it is acknowledged, found
 * pointless (404, or 409 on a create) or refused for good. Thread: created by the sched thread,
 * then owned by the pool. */
#ifndef SCHEDULER_EXEC_OBJECT_WRITE_H
#define SCHEDULER_EXEC_OBJECT_WRITE_H

#include "cache/message.h"
#include "kube/pool.h"

struct object_write;

struct object_write_spec {
	enum sched_request request;
	enum sched_resource resource;
	enum http_method method;
	struct str key;           /* reported back: "namespace/name" or "name" */
	const char *path;         /* URL path */
	const char *content_type; /* static */
	struct str body;          /* copied */
};

struct object_write *object_write_new(const struct object_write_spec *spec);
extern const struct pool_ops object_write_pool_ops; /* ctx: struct pod_write_target */

#endif
