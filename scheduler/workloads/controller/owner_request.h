/* scheduler/workloads/controller/owner_request.h: a planned write (owners/owner_write.h) as work
 * for a pool: sent until it is acknowledged, found pointless (404, another object of this name, or
 * a conflict: the changed object is planned for anyway) or replaced by a later write. A refusal is
 * an event on the owner, or on the Workload that has none. Thread: made by the sched thread, then
 * owned by the pool. */
#ifndef SCHEDULER_WORKLOADS_CONTROLLER_OWNER_REQUEST_H
#define SCHEDULER_WORKLOADS_CONTROLLER_OWNER_REQUEST_H

#include <stdbool.h>

#include "base/str.h"
#include "kube/pool.h"

struct owner_request;
struct owner_write;
struct recorder;

/* Copies all texts; the caller owns the request until it is added to the pool. */
struct owner_request *owner_request_new(const char *namespace_, const struct owner_write *w);
/* Gives it the owner with this UID as JSON, as it was planned for: the request does not read its
 * template then. No effect on one that needs none of that owner. */
void owner_request_fill(struct owner_request *w, const char *uid, struct str owner);

/* Context of the pool. */
struct owner_request_target {
	struct recorder *recorder; /* NULL: no events */
	bool (*may_send)(void *ctx);
	void *ctx;
};
extern const struct pool_ops owner_request_ops; /* ctx: struct owner_request_target */
bool owner_request_may_send(void *ctx);

#endif
