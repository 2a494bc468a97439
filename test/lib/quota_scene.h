/* test/lib/quota_scene.h: a scene with the kinds of the Workload engine served and the engine on;
 * without the webhook. Owner: the test. */
#ifndef TEST_LIB_QUOTA_SCENE_H
#define TEST_LIB_QUOTA_SCENE_H

struct scene;

/* Arguments of the scheduler, for restarts. */
extern const char *const quota_scene_args[];

/* Starts it and applies the manifests. */
void quota_scene_start(struct scene *s, const char *manifests);

#endif
