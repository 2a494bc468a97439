#include "sim/controllers/sim_jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "sim/world/sim_pod.h"
#include "sim/world/sim_view.h"
#include "sim/world/sim_workload.h"

#define JOBS "/apis/batch/v1/namespaces/%s/jobs"
#define PODS "/api/v1/namespaces/%s/pods"
#define MERGE "application/merge-patch+json"
#define NOW_MAX CLOCK_RFC3339_MAX

struct sim_jobs {
	struct sim_world *world;
	struct VEC(char *) todo;    /* UIDs of Jobs to be reconciled */
	struct VEC(char *) counted; /* the Job's UID for each pod deleted after it had succeeded */
	unsigned next_pod;
};

static const char *namespace_of(const struct jdoc *job)
{
	return jdoc_path_str(job, "metadata.namespace");
}

struct count {
	unsigned live, ready, terminating, succeeded, failed;
};

static void want(struct sim_jobs *j, const char *uid)
{
	for (size_t i = 0; i < j->todo.n; i++) {
		if (str_streq(j->todo.v[i], uid)) {
			return;
		}
	}
	vec_push(&j->todo, xmalloc_dup(uid));
}

static bool has_succeeded(const struct jdoc *pod)
{
	/* A pod that was stopped, but succeeded meanwhile, is not counted. */
	return jdoc_is_str(jdoc_path(pod, "status.phase"), "Succeeded") &&
	       !sim_workload_is_deleting(pod);
}

static void on_change(void *ctx, const struct sim_change *change)
{
	struct sim_jobs *j = ctx;
	const struct jdoc *object = change->now == NULL ? change->old : change->now;

	if (change->resource == SIM_JOBS && change->now != NULL) {
		want(j, sim_workload_uid(object));
	} else if (change->resource == SIM_PODS && sim_workload_owner(object)[0] != '\0') {
		want(j, sim_workload_owner(object));
		/* The finalizer of Kubernetes' controller sees to it that none is missed. */
		if (has_succeeded(change->old) && !has_succeeded(change->now) &&
		    sim_workload_job(j->world, object) != NULL) {
			vec_push(&j->counted, xmalloc_dup(sim_workload_owner(object)));
		}
	}
}

struct sim_jobs *sim_jobs_create(struct sim_world *w)
{
	struct sim_jobs *j = xmalloc_zero(1, sizeof(*j));

	j->world = w;
	sim_view_listen(w->view, on_change, j);
	return j;
}

void sim_jobs_destroy(struct sim_jobs *j)
{
	for (size_t i = 0; i < j->todo.n; i++) {
		free(j->todo.v[i]);
	}
	vec_finish(&j->todo);
	for (size_t i = 0; i < j->counted.n; i++) {
		free(j->counted.v[i]);
	}
	vec_finish(&j->counted);
	free(j);
}

static bool is_live(const struct jdoc *pod)
{
	return !sim_pod_is_finished(pod) && !sim_workload_is_deleting(pod);
}

static bool is_of(const struct jdoc *pod, const struct jdoc *job)
{
	return sim_workload_are_neighbours(pod, job) &&
	       str_streq(sim_workload_owner(pod), sim_workload_uid(job));
}

static struct count count_pods(const struct sim_world *w, const struct jdoc *job)
{
	struct count c = { 0 };

	for (size_t i = 0; i < sim_view_count(w->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(w->view, SIM_PODS, i);
		const char *phase = jdoc_str_or(jdoc_path(pod, "status.phase"), "");

		if (!is_of(pod, job)) {
			continue;
		}
		c.live += is_live(pod);
		c.ready += is_live(pod) && str_streq(phase, "Running");
		c.terminating += !sim_pod_is_finished(pod) && sim_workload_is_deleting(pod);
		c.succeeded += has_succeeded(pod);
		c.failed += str_streq(phase, "Failed");
	}
	return c;
}

static struct count count(const struct sim_jobs *j, const struct jdoc *job)
{
	struct count c = count_pods(j->world, job);

	for (size_t i = 0; i < j->counted.n; i++) {
		c.succeeded += str_streq(j->counted.v[i], sim_workload_uid(job));
	}
	return c;
}

unsigned sim_jobs_live(const struct sim_world *w, const struct jdoc *job)
{
	return count_pods(w, job).live;
}

/* --- writes ------------------------------------------------------------------------------------*/

static void act(struct sim_jobs *j, enum http_method method, const char *url, const char *body)
{
	const struct sim_call call = { .actor = SIM_CLUSTER,
				       .method = method,
				       .url = url,
				       .content_type = method == HTTP_PATCH  ? MERGE
						       : method == HTTP_POST ? "application/json"
									     : NULL,
				       .body = body };

	(void)sim_world_act(j->world, &call);
}

static void create_pod(struct sim_jobs *j, const struct jdoc *job)
{
	const struct jdoc *template_ = jdoc_path(job, "spec.template");
	CLEANUP(jdoc_destroyp) struct jdoc *pod = jdoc_copy(template_), *owner = NULL;
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;
	struct jdoc *meta = jdoc_ensure_object(pod, "metadata");
	struct jdoc *spec = jdoc_ensure_object(pod, "spec");
	CLEANUP(xmalloc_freep)
	char *name = xmalloc_printf("%s-%u", jdoc_path_str(job, "metadata.name"), j->next_pod++);
	CLEANUP(xmalloc_freep) char *url = xmalloc_printf(PODS, namespace_of(job));

	owner = jdoc_new_object();
	jdoc_set_str(owner, "apiVersion", "batch/v1");
	jdoc_set_str(owner, "kind", "Job");
	jdoc_set_str(owner, "name", jdoc_path_str(job, "metadata.name"));
	jdoc_set_str(owner, "uid", sim_workload_uid(job));
	jdoc_set_bool(owner, "controller", true);
	jdoc_append_take(jdoc_ensure_array(meta, "ownerReferences"), take_ptr(&owner));
	jdoc_set_str(meta, "name", name);
	jdoc_set_str(pod, "apiVersion", "v1");
	jdoc_set_str(pod, "kind", "Pod");
	if (jdoc_get(spec, "schedulerName") == NULL) {
		jdoc_set_str(spec, "nodeName", "elsewhere");
	}
	jdoc_format(pod, &body);
	act(j, HTTP_POST, url, body.p);
}

/* At most n of the Job's live pods. */
static void delete_pods(struct sim_jobs *j, const struct jdoc *job, unsigned n)
{
	while (n-- > 0) {
		const struct jdoc *pod = NULL;
		CLEANUP(xmalloc_freep) char *url = NULL;

		for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
			const struct jdoc *p = sim_view_at(j->world->view, SIM_PODS, i);

			if (is_live(p) && is_of(p, job)) {
				pod = p;
			}
		}
		if (pod == NULL) {
			return;
		}
		url = xmalloc_printf(PODS "/%s", namespace_of(job),
				     jdoc_path_str(pod, "metadata.name"));
		act(j, HTTP_DELETE, url, NULL);
	}
}

static void add_condition(struct strbuf *out, const char *type, const char *reason, const char *now)
{
	strbuf_printf(out,
		      "%s{\"type\":\"%s\",\"status\":\"True\",\"reason\":\"%s\",\"message\":\"%s\","
		      "\"lastProbeTime\":\"%s\",\"lastTransitionTime\":\"%s\"}",
		      out->len == 0 ? "" : ",", type, reason, reason, now, now);
}

static bool says(const struct jdoc *job, const char *key, unsigned n)
{
	return jdoc_int(jdoc_get(jdoc_get(job, "status"), key), 0) == (int64_t)n;
}

/* Writes the status if it differs. */
static void write_status(struct sim_jobs *j, const struct jdoc *job, const struct count *c,
			 const char *end)
{
	CLEANUP(xmalloc_freep)
	char *url = xmalloc_printf(JOBS "/%s/status", namespace_of(job),
				   jdoc_path_str(job, "metadata.name"));
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT, list = STRBUF_INIT;
	bool suspended = sim_workload_job_is_suspended(job);
	bool starts = !suspended && jdoc_path_str(job, "status.startTime") == NULL;
	char now[NOW_MAX];

	if (end == NULL && !starts && suspended == sim_workload_is(job, "Suspended") &&
	    says(job, "active", c->live) && says(job, "ready", c->ready) &&
	    says(job, "terminating", c->terminating) && says(job, "succeeded", c->succeeded) &&
	    says(job, "failed", c->failed)) {
		return;
	}
	clock_format_time(clock_wall(&j->world->clock.base), now);
	if (suspended) {
		add_condition(&list, "Suspended", "JobSuspended", now);
	}
	if (end != NULL) {
		add_condition(&list, end, "Simulated", now);
	}
	strbuf_printf(&body,
		      "{\"status\":{\"active\":%u,\"ready\":%u,\"terminating\":%u,\"succeeded\":%u,"
		      "\"failed\":%u,\"conditions\":[%s]",
		      c->live, c->ready, c->terminating, c->succeeded, c->failed, list.p);
	if (starts) {
		strbuf_printf(&body, ",\"startTime\":\"%s\"", now);
	}
	if (end != NULL && str_streq(end, "Complete")) {
		strbuf_printf(&body, ",\"completionTime\":\"%s\"", now);
	}
	strbuf_add_c(&body, "}}");
	act(j, HTTP_PATCH, url, body.p);
}

static void fail_pod(struct sim_jobs *j, const struct jdoc *job)
{
	for (size_t i = 0; i < sim_view_count(j->world->view, SIM_PODS); i++) {
		const struct jdoc *pod = sim_view_at(j->world->view, SIM_PODS, i);

		if (is_live(pod) && is_of(pod, job) &&
		    jdoc_is_str(jdoc_path(pod, "status.phase"), "Running")) {
			CLEANUP(xmalloc_freep)
			char *url = xmalloc_printf(PODS "/%s/status", namespace_of(job),
						   jdoc_path_str(pod, "metadata.name"));

			act(j, HTTP_PATCH, url, "{\"status\":{\"phase\":\"Failed\"}}");
			return;
		}
	}
}

/* --- one Job -----------------------------------------------------------------------------------*/

/* Creates or deletes pods up to the number that the Job asks for. The status is written in the same
 * step: other clients see pods of a Job only there. */
static void scale(struct sim_jobs *j, const struct jdoc *job, struct count *c)
{
	int64_t completions = jdoc_int(jdoc_path(job, "spec.completions"), 1) - c->succeeded;
	int64_t most = jdoc_int(jdoc_path(job, "spec.parallelism"), 1);
	int64_t need = sim_workload_job_is_suspended(job) || completions < 0 ? 0
		       : completions < most                                  ? completions
									     : most;

	for (; c->live < need; c->live++) {
		create_pod(j, job);
	}
	if (c->live > need) {
		delete_pods(j, job, c->live - (unsigned)need);
		*c = count(j, job);
	}
}

static void sync_job(struct sim_jobs *j, const struct jdoc *live)
{
	/* Writes change the view. */
	CLEANUP(jdoc_destroyp) struct jdoc *job = jdoc_copy(live);
	struct count c = count(j, job);
	bool fails = jdoc_get(jdoc_path(job, "metadata.annotations"), SIM_JOBS_FAILS) != NULL;
	const char *end = NULL;

	if (sim_workload_is_deleting(job) || sim_workload_job_is_finished(job)) {
		return;
	}
	if (fails && c.ready > 0 && c.failed == 0) {
		fail_pod(j, job);
		return; /* the Job's next change reconciles it again */
	}
	if (c.failed > 0) {
		delete_pods(j, job, c.live);
		c = count(j, job);
		end = c.terminating == 0 ? "Failed" : NULL;
	} else {
		scale(j, job, &c);
		if (c.succeeded >= jdoc_int(jdoc_path(job, "spec.completions"), 1) &&
		    c.terminating + c.live == 0) {
			end = "Complete";
		}
	}
	write_status(j, job, &c, end);
}

static void step(void *owner, void *arg UNUSED)
{
	struct sim_jobs *j = owner;
	size_t at = sim_world_below(j->world, j->todo.n);
	CLEANUP(xmalloc_freep) char *uid = j->todo.v[at];

	j->todo.v[at] = j->todo.v[j->todo.n - 1];
	j->todo.n--;
	for (size_t i = 0; i < sim_view_count(j->world->view, SIM_JOBS); i++) {
		const struct jdoc *job = sim_view_at(j->world->view, SIM_JOBS, i);

		if (str_streq(sim_workload_uid(job), uid)) {
			sync_job(j, job);
			return;
		}
	}
}

void sim_jobs_offer(struct sim_jobs *j, struct sim_choices *out)
{
	if (j->todo.n > 0) {
		sim_world_choice(out, &(struct sim_choice){ step, j, NULL, 3 });
	}
}
