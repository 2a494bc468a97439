/* test/play/fleet_scene.h: a fleet as processes on loopback: a manager cluster with the
 * orchestrator, and worker clusters ("w0", "w1", ...), each with a scheduler of its own and a
 * ClusterQueue of 4 CPU. The part of the manager of MultiKueue is played here: it makes the
 * replicas of a Workload, lets the first one that is admitted win, and removes the others. Owner:
 * one thread. */
#ifndef TEST_PLAY_FLEET_SCENE_H
#define TEST_PLAY_FLEET_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#define FLEET_SCENE_WORKERS 3
#define FLEET_SCENE_LOADS 16

struct err;
struct jdoc;
struct stack;

struct fleet_scene_load {
	char name[32];
	int winner; /* the number of the worker that runs it; -1: none yet */
};

struct fleet_scene {
	struct stack *manager, *workers[FLEET_SCENE_WORKERS];
	struct fleet_scene_load loads[FLEET_SCENE_LOADS];
	size_t n;
};

/* args: more arguments of the orchestrator, NULL-terminated; may be NULL. manages: it is the
 * manager of MultiKueue in its place, for Workloads that are not made by the functions below. */
int fleet_scene_start(struct fleet_scene *s, bool manages, const char *const *args,
		      struct err *err);
void fleet_scene_stop(struct fleet_scene *s, bool keep_logs);
/* A Workload of this size on the worker alone; it is admitted while there is room. */
int fleet_scene_fill(struct fleet_scene *s, unsigned worker, const char *name, int cpu,
		     int priority, struct err *err);
/* A Workload of 4 CPU at the manager, offered to all workers, with the preemption gate or without.
 */
int fleet_scene_submit(struct fleet_scene *s, const char *name, int priority, bool gated,
		       struct err *err);
/* One look of the manager of MultiKueue at all its Workloads. */
int fleet_scene_manage(struct fleet_scene *s, struct err *err);
/* The number of the worker that runs it; -1: none does. */
int fleet_scene_winner(const struct fleet_scene *s, const char *name);
/* How often a Workload of this worker was preempted. */
int fleet_scene_count_victims(struct fleet_scene *s, unsigned worker, size_t *ret, struct err *err);
/* Everywhere; its worker has room again. */
int fleet_scene_delete(struct fleet_scene *s, const char *name, struct err *err);
/* A Workload of a worker, or of the manager (worker -1); NULL: there is none. The caller destroys
 * it. */
int fleet_scene_get(struct fleet_scene *s, int worker, const char *name, struct jdoc **ret,
		    struct err *err);
bool fleet_scene_is_true(const struct jdoc *workload, const char *type); /* a condition */

#endif
