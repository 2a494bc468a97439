/* test/play/workload_scene.h: a scene with the kinds of the Workload engine served and the engine
 * on; without the webhook. Owner: the test. */
#ifndef TEST_PLAY_WORKLOAD_SCENE_H
#define TEST_PLAY_WORKLOAD_SCENE_H

#include "base/clock.h"

struct jdoc;
struct scene;

#define WORKLOAD_SCENE_WAIT_NS (120 * CLOCK_NS_PER_S)

/* Arguments of the scheduler, for restarts. */
extern const char *const workload_scene_args[];

/* Starts it and applies the manifests. */
void workload_scene_start(struct scene *s, const char *manifests);
/* With other arguments of the scheduler (NULL ends them), which must live on. */
void workload_scene_start_with(struct scene *s, const char *const *scheduler_args,
			       const char *manifests);

/* NULL: the object has no such condition. */
const struct jdoc *workload_scene_condition(const struct jdoc *object, const char *type);
/* Waits until the condition of the object at this path has this status and reason: one that stays
 * until the test does something, or it may be missed. */
void workload_scene_wait(struct scene *s, const char *path, const char *type, const char *status,
			 const char *reason);

/* Between tests that share a scene, however the last one ended: there are no faults, the scheduler
 * runs, the Jobs and Workloads of namespace "default" are gone, and the ClusterQueue "team" is
 * empty. */
void workload_scene_clear(struct scene *s);
/* The same for cmocka, with the scene as state. */
int workload_scene_after_each(void **state);

#endif
