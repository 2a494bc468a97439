/* scheduler/workloads/engine/reconciler.h: drives what happens to Workloads outside scheduling
 * cycles: the controller of Jobs, and workloads/status/workload_reconcile.h for every Workload that
 * something happened to or whose time has come. Statuses go through the quota cache; what is
 * written to the object itself (spec.active, finalizer, deletion) has a pool of its own. Owner: the
 * sched thread. */
#ifndef SCHEDULER_WORKLOADS_ENGINE_RECONCILER_H
#define SCHEDULER_WORKLOADS_ENGINE_RECONCILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/base/message.h"

struct conditions_events;
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
	struct recorder *recorder;       /* borrowed; NULL: nobody is told */
	struct metric_families *metrics; /* borrowed; NULL: nothing is measured */
	/* Events that go with a change of the Workload's status. */
	void (*tell)(void *ctx, const struct workload *w, const struct conditions_events *events);
	/* The Workload is to be read once more: reconciler_workload. */
	void (*read)(void *ctx, struct str key);
	void *ctx;
};

struct reconciler *reconciler_create(const struct reconciler_options *opt);
void reconciler_destroy(struct reconciler *l); /* NULL is fine */
/* After the cache has taken the Workload, which is m's object. NULL: deleted. */
void reconciler_workload(struct reconciler *l, struct str key, struct sched_msg *m);
/* Something was decided about the Workload: it is looked after in the next step. */
void reconciler_touch(struct reconciler *l, struct str key);
/* Its status was refused: it is looked after again at that time (wall ns), or when it is read. */
void reconciler_put_off(struct reconciler *l, struct str key, int64_t at);
/* The controller of owners, which gets all other kinds of objects from the caller. */
struct owner_controller *reconciler_owners(struct reconciler *l);
/* Looks after those that something happened to. Returns when the next one is due (wall ns),
 * INT64_MAX: not before something changes. */
int64_t reconciler_step(struct reconciler *l, int64_t now);
size_t reconciler_pools(struct reconciler *l, struct pool **out, size_t max);

#endif
