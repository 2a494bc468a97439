/* test/play/scene.h: the cluster of an integration test: the stack as processes, a mirror that
 * keeps the history, simulated kubelets, and (when node groups are given) a simulated autoscaler;
 * short ways to make objects and to wait for states of pods. Everything fails the running cmocka
 * test with a message; the logs of the programs are then kept. Each wait has a deadline. Owner: the
 * test's thread. */
#ifndef TEST_PLAY_SCENE_H
#define TEST_PLAY_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/str.h"
#include "play/autoscaler.h"
#include "play/history.h"
#include "play/mirror.h"
#include "play/stack.h"

struct jdoc;
struct kubelet;
struct strbuf;

#define SCENE_OTHER_GATE "example.com/other-gate"

struct scene {
	struct stack *stack;
	struct transport *transport;
	struct mirror *mirror;
	struct kubelet *kubelet;
	struct autoscaler *autoscaler;
	unsigned fences;
	bool failed;
	bool has_foreign; /* the test itself plays a second scheduler with our name */
};

struct scene_options {
	struct stack_options stack;
	const struct autoscaler_group *groups; /* must outlive the scene */
	unsigned ngroups;
	const char *nodes; /* manifest of more nodes than node-1 of 4 CPU; may be NULL */
};

/* Names without '/' are in namespace "default". Members that are NULL are left out. */
struct scene_pod {
	const char *name, *namespace_;
	const char *queue, *group; /* annotations */
	const char *cpu, *memory;  /* both NULL: best effort */
	const char *pool;          /* nodeSelector {pool: ...}; no node has "none" */
	const char *runs_for;      /* succeeds after this duration; NULL: runs on */
	const char *scheduler;     /* NULL: volcano */
	const char *annotations;   /* more of them, as members of a JSON object */
	const char *gates;         /* schedulingGates, as JSON */
	bool not_opted_in;
};

enum scene_state {
	SCENE_GATED,     /* any gate, no node */
	SCENE_UNGATED,   /* no gate */
	SCENE_PUBLISHED, /* autoscalers act on it */
	SCENE_WITHDRAWN, /* ungated, PodScheduled=False for another reason than Unschedulable */
	SCENE_RUNNING,
	SCENE_SUCCEEDED,
	SCENE_GONE,
	SCENE_STATE_COUNT_
};

/* After the scheduler's own queues have appeared. */
void scene_start(struct scene *s, const struct scene_options *opt);
/* Judges the history with the oracle: no breach, no gated pod with a node. No scheduler
 * takes its own or its peer's work for that of a foreign scheduler. */
void scene_judge(struct scene *s);
/* Ends the programs by SIGTERM, each with exit code 0. s may have failed to start. */
void scene_stop(struct scene *s);
/* Between tests that share a scene: judges, takes faults away and removes all pods and PodGroups of
 * namespace "default". */
void scene_clear(struct scene *s);
/* The same for cmocka, with the scene as state: after the last test, and after each. */
static inline int scene_end(void **state)
{
	scene_stop(*state);
	return 0;
}
static inline int scene_after_each(void **state)
{
	scene_clear(*state);
	return 0;
}
/* Fails the test; keeps the logs. */
NORETURN void scene_fail(struct scene *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Ends the scheduler by SIGTERM (exit code 0) when it runs, and starts it; see
 * stack_set_scheduler. */
void scene_restart_scheduler(struct scene *s, const char *conf, const char *const *args);

/* Creates the objects of a manifest, YAML in several documents. */
void scene_apply(struct scene *s, const char *yaml);
void scene_add_pod(struct scene *s, const struct scene_pod *p);
/* As scene_add_pod, with the answer: 0 or -ERR_X and its text. */
int scene_try_pod(struct scene *s, const struct scene_pod *p, struct err *err);
/* parent NULL: below root; cpu, memory NULL: no capability. */
void scene_add_queue(struct scene *s, const char *name, const char *parent, const char *cpu,
		     const char *memory);
void scene_add_group(struct scene *s, const char *name, const char *queue, unsigned min_member);
/* Any request that must succeed; body NULL: none. PATCH is a merge patch. ret may be NULL. */
void scene_call(struct scene *s, const char *method, const char *path, const char *body,
		struct jdoc **ret);
void scene_patch_pod(struct scene *s, const char *name, const char *merge);
/* The same with the answer: 0 or -ERR_X and its text. */
int scene_try_patch_pod(struct scene *s, const char *name, const char *merge, struct err *err);
void scene_patch_queue(struct scene *s, const char *name, const char *merge);
void scene_delete_pod(struct scene *s, const char *name);

void scene_wait(struct scene *s, const char *pod, enum scene_state state);
void scene_wait_within(struct scene *s, const char *pod, enum scene_state state,
		       int64_t timeout_ns);
/* The pod is in this state in the mirror, at this moment. */
bool scene_is(struct scene *s, const char *pod, enum scene_state state);
/* Waits for a condition of the test, which is evaluated on the mirror's thread. */
void scene_wait_for(struct scene *s, const char *what, mirror_cond_fn cond, void *ctx);
/* The scheduler has seen everything that was done before this call and has decided: two best-effort
 * pods came one after the other and run. */
void scene_settle(struct scene *s);
/* Whether a pod of this name was ever seen in the state. */
bool scene_saw(struct scene *s, const char *pod, enum scene_state state);
/* Waits for an event with this reason about an object of this name. */
void scene_wait_event(struct scene *s, const char *reason, const char *name);
/* GET from the program's health and metrics port: the status code (0: no answer), body in out. */
int scene_http(struct scene *s, enum stack_program p, const char *path, struct strbuf *out);
/* Waits until the metrics of a program hold this line. */
void scene_wait_metric(struct scene *s, enum stack_program p, const char *line);
/* Waits until the sample is above value. */
void scene_wait_metric_above(struct scene *s, enum stack_program p, const char *sample,
			     double value);
/* Value of a sample by the text before it; 0 when it is not there. */
double scene_metric(struct scene *s, enum stack_program p, const char *sample);

/* The script of faults of the API server (test/apiserver/faults.h). NULL: none. On another API
 * server than ours it skips the running test, as scene_compact does. */
void scene_faults(struct scene *s, const char *script);
unsigned scene_faults_struck(struct scene *s, const char *kind);
void scene_compact(struct scene *s);

#endif
