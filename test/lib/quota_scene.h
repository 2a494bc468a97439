/* test/lib/quota_scene.h: a scene with the kinds of the Workload engine served and the engine on;
 * without the webhook. Owner: the test. */
#ifndef TEST_LIB_QUOTA_SCENE_H
#define TEST_LIB_QUOTA_SCENE_H

#include "base/clock.h"

struct jdoc;
struct scene;

#define QUOTA_SCENE_WAIT_NS (90 * CLOCK_NS_PER_S)

/* Arguments of the scheduler, for restarts. */
extern const char *const quota_scene_args[];

/* Starts it and applies the manifests. */
void quota_scene_start(struct scene *s, const char *manifests);
/* With other arguments of the scheduler (NULL ends them), which must live on. */
void quota_scene_start_with(struct scene *s, const char *const *scheduler_args,
			    const char *manifests);

/* NULL: the object has no such condition. */
const struct jdoc *quota_scene_condition(const struct jdoc *object, const char *type);
/* Waits until the condition of the object at this path has this status and reason. */
void quota_scene_wait(struct scene *s, const char *path, const char *type, const char *status,
		      const char *reason);

#endif
