/* scheduler/app/quota_life.h: drives what happens to Workloads outside scheduling cycles: the
 * controller of Jobs, and quota/workload_life.h for every Workload that something happened to or
 * whose time has come. Statuses go through the quota cache; what is written to the object itself
 * (spec.active, finalizer, deletion) has a pool of its own. Owner: the sched thread. */
#ifndef SCHEDULER_APP_QUOTA_LIFE_H
#define SCHEDULER_APP_QUOTA_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/message.h"

struct api_pod;
struct api_workload;
struct conditions_events;
struct owners;
struct pool;
struct pool_options;
struct quota_cache;
struct quota_conf;
struct quota_families;
struct quota_life;
struct recorder;
struct workload;

struct quota_life_options {
	struct quota_cache *cache;     /* borrowed */
	const struct quota_conf *conf; /* borrowed */
	const struct pool_options *base;
	struct recorder *recorder;      /* borrowed; NULL: nobody is told */
	struct quota_families *metrics; /* borrowed; NULL: nothing is measured */
	/* Events that go with a change of the Workload's status. */
	void (*tell)(void *ctx, const struct workload *w, const struct conditions_events *events);
	/* The Workload is to be read once more: quota_life_workload. */
	void (*read)(void *ctx, struct str key);
	void *ctx;
};

struct quota_life *quota_life_create(const struct quota_life_options *opt);
void quota_life_destroy(struct quota_life *l); /* NULL is fine */
/* An object of any other kind as it was decoded; NULL: deleted. */
void quota_life_object(struct quota_life *l, enum sched_resource r, struct str key,
		       const void *object);
/* id: of its struct workload in the world. NULL: deleted. */
void quota_life_workload(struct quota_life *l, uint32_t id, struct str key,
			 const struct api_workload *w);
/* Something was decided about the Workload: it is looked after in the next step. */
void quota_life_touch(struct quota_life *l, struct str key);
/* Its status was refused: it is looked after again at that time (wall ns), or when it is read. */
void quota_life_put_off(struct quota_life *l, struct str key, int64_t at);
/* Whether a Workload holds quota for the pod (controllers/owners.h). */
bool quota_life_holds(struct quota_life *l, const struct api_pod *pod);
const struct owners *quota_life_owners(const struct quota_life *l);
/* Once, after quota_life_synced: pods of which that was said wrongly before. */
void quota_life_recheck(struct quota_life *l, void (*fn)(void *ctx, struct str key), void *ctx);
/* All kinds have been listed. */
void quota_life_synced(struct quota_life *l);
/* Looks after those that something happened to. Returns when the next one is due (wall ns),
 * INT64_MAX: not before something changes. */
int64_t quota_life_step(struct quota_life *l, int64_t now);
size_t quota_life_pools(struct quota_life *l, struct pool **out, size_t max);

#endif
