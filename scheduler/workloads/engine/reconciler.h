/* scheduler/workloads/engine/reconciler.h: reconciles Workloads outside scheduling cycles: runs
 * the controller of their owners, and workloads/status/workload_reconcile.h for every Workload that
 * changed or has reached a time limit. Statuses go through the Workload cache; writes to the object
 * itself (spec.active, finalizer, deletion) have a pool of their own. Owner: the
 * sched thread. */
#ifndef SCHEDULER_WORKLOADS_ENGINE_RECONCILER_H
#define SCHEDULER_WORKLOADS_ENGINE_RECONCILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/base/message.h"

struct workload_status_events;
struct owner_controller;
struct pool;
struct pool_options;
struct workload_cache;
struct kueue_conf;
struct metric_families;
struct reconciler;
struct recorder;
struct workload;

struct reconciler_options {
	struct workload_cache *cache;  /* borrowed */
	const struct kueue_conf *conf; /* borrowed */
	const struct pool_options *base;
	struct recorder *recorder;       /* borrowed; NULL: no events */
	struct metric_families *metrics; /* borrowed; NULL: nothing is measured */
	/* Events that go with a change of the Workload's status. */
	void (*on_events)(void *ctx, const struct workload *w,
			  const struct workload_status_events *events);
	/* Asks for the Workload to be read once more, which ends in reconciler_workload. */
	void (*read)(void *ctx, struct str key);
	void *ctx;
};

struct reconciler *reconciler_create(const struct reconciler_options *opt);
void reconciler_destroy(struct reconciler *r); /* NULL is fine */
/* After the cache has taken the Workload, which is m's object. NULL: deleted. */
void reconciler_workload(struct reconciler *r, struct str key, struct sched_msg *m);
/* Something was decided about the Workload: it is reconciled in the next step. */
void reconciler_touch(struct reconciler *r, struct str key);
/* Its status was refused: it is reconciled again at that time (wall ns), or when it is read. */
void reconciler_put_off(struct reconciler *r, struct str key, int64_t at);
/* The controller of owners, which gets all other kinds of objects from the caller. */
struct owner_controller *reconciler_owners(struct reconciler *r);
/* Reconciles the Workloads that changed or are due. Returns when the next one is due (wall ns),
 * INT64_MAX: not before something changes. */
int64_t reconciler_step(struct reconciler *r, int64_t now);
size_t reconciler_pools(struct reconciler *r, struct pool **out, size_t max);

#endif
