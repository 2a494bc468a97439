#include "play/workload_scene.h"

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "lib/wait.h"
#include "play/scene.h"

#define JOBS "/apis/batch/v1/namespaces/default/jobs"
#define WORKLOADS "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"

const char *const workload_scene_args[] = { "--controllers=*,workload", NULL };

void workload_scene_start(struct scene *s, const char *manifests)
{
	workload_scene_start_with(s, workload_scene_args, manifests);
}

void workload_scene_start_with(struct scene *s, const char *const *scheduler_args,
			       const char *manifests)
{
	struct scene_options opt = {
		.stack = { .no_webhook = true, .scheduler_args = scheduler_args, .quota = true }
	};

	scene_start(s, &opt);
	scene_apply(s, manifests);
}

const struct jdoc *workload_scene_condition(const struct jdoc *object, const char *type)
{
	const struct jdoc *list = jdoc_path(object, "status.conditions");

	for (const struct jdoc *c = jdoc_first(list); c != NULL; c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return c;
		}
	}
	return NULL;
}

void workload_scene_wait(struct scene *s, const char *path, const char *type, const char *status,
			 const char *reason)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *object = NULL;
		const struct jdoc *c;

		scene_call(s, "GET", path, NULL, &object);
		c = workload_scene_condition(object, type);
		if (c != NULL && jdoc_is_str(jdoc_get(c, "status"), status) &&
		    jdoc_is_str(jdoc_get(c, "reason"), reason)) {
			return;
		}
		strbuf_reset(&text);
		jdoc_format(jdoc_path(object, "status"), &text);
	} while (wait_until(deadline));
	scene_fail(s, "%s: no %s=%s/%s, but %s", path, type, status, reason, text.p);
}

/* --- the end of a test -------------------------------------------------------------------------*/

static bool has_named(const struct jdoc *list, const char *name)
{
	for (const struct jdoc *o = jdoc_first(jdoc_get(list, "items")); o != NULL;
	     o = jdoc_next(o)) {
		if (jdoc_is_str(jdoc_path(o, "metadata.name"), name)) {
			return true;
		}
	}
	return false;
}

/* A Workload of one of the Jobs is not Finished. */
static bool has_unfinished(const struct jdoc *workloads, const struct jdoc *jobs)
{
	for (const struct jdoc *w = jdoc_first(jdoc_get(workloads, "items")); w != NULL;
	     w = jdoc_next(w)) {
		const struct jdoc *owner = jdoc_at(jdoc_path(w, "metadata.ownerReferences"), 0);
		const struct jdoc *finished = workload_scene_condition(w, "Finished");

		if (jdoc_is_str(jdoc_get(owner, "kind"), "Job") &&
		    has_named(jobs, jdoc_path_str(owner, "name")) &&
		    jdoc_path(w, "metadata.deletionTimestamp") == NULL &&
		    !jdoc_is_str(jdoc_get(finished, "status"), "True")) {
			return true;
		}
	}
	return false;
}

/* A finished Job gets no new Workload when its own is deleted: the scheduler may see the two
 * deletions in any order. */
static void end_jobs(struct scene *s)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);
	CLEANUP(jdoc_destroyp) struct jdoc *jobs = NULL;
	bool waits = true;

	scene_call(s, "GET", JOBS, NULL, &jobs);
	for (const struct jdoc *j = jdoc_first(jdoc_get(jobs, "items")); j != NULL;
	     j = jdoc_next(j)) {
		CLEANUP(xmalloc_freep)
		char *path = xmalloc_printf(JOBS "/%s/status", jdoc_path_str(j, "metadata.name"));

		scene_call(s, "PATCH", path,
			   "{\"status\":{\"active\":0,\"ready\":0,\"conditions\":[{\"type\":"
			   "\"Complete\",\"status\":\"True\",\"lastTransitionTime\":"
			   "\"2026-01-01T00:00:00Z\"}]}}",
			   NULL);
	}
	while (waits) {
		CLEANUP(jdoc_destroyp) struct jdoc *workloads = NULL;

		scene_call(s, "GET", WORKLOADS, NULL, &workloads);
		waits = has_unfinished(workloads, jobs);
		if (waits && !wait_until(deadline)) {
			scene_fail(s, "Jobs have ended, and their Workloads not");
		}
	}
	scene_call(s, "DELETE", JOBS, NULL, NULL);
}

static void remove_workloads(struct scene *s)
{
	int64_t deadline = wait_deadline(WORKLOAD_SCENE_WAIT_NS);
	size_t left;

	do {
		CLEANUP(jdoc_destroyp) struct jdoc *list = NULL;

		scene_call(s, "DELETE", WORKLOADS, NULL, NULL);
		scene_call(s, "GET", WORKLOADS, NULL, &list);
		left = jdoc_count(jdoc_get(list, "items"));
		if (left > 0 && !wait_until(deadline)) {
			scene_fail(s, "%zu Workloads do not go", left);
		}
	} while (left > 0);
}

void workload_scene_clear(struct scene *s)
{
	struct err err = ERR_INIT;

	scene_faults(s, NULL);
	if (!stack_is_running(s->stack, STACK_SCHEDULER) &&
	    stack_start_program(s->stack, STACK_SCHEDULER, &err) < 0) {
		scene_fail(s, "%s", err.text);
	}
	end_jobs(s);
	remove_workloads(s);
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_reserving_active_workloads{cluster_queue=\"team\",replica_role="
			  "\"leader\"} 0");
	scene_wait_metric(s, STACK_SCHEDULER,
			  "kueue_pending_workloads{cluster_queue=\"team\",status=\"active\","
			  "replica_role=\"leader\"} 0");
}

int workload_scene_after_each(void **state)
{
	workload_scene_clear(*state);
	return 0;
}
