#include "play/job_controller.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "play/mirror.h"

#define TIMEOUT_NS (5 * CLOCK_NS_PER_S)
#define RESYNC_NS (200 * CLOCK_NS_PER_MS)

struct job_controller {
	struct mirror *mirror;
	atomic_bool holds_pods;
};

/* The mirror shows the effect of a write; one that is refused is repeated at the next pass. */
static void on_done(void *ctx UNUSED, const struct http_result *result UNUSED)
{
}

static void send(const struct job_controller *c, enum http_method method, const char *path,
		 const char *content_type, const struct jdoc *body)
{
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct http_call call = { .method = method,
				  .url = path,
				  .content_type = content_type,
				  .timeout_ns = TIMEOUT_NS,
				  .on_done = on_done };

	if (body != NULL) {
		jdoc_format(body, &text);
		call.body = strbuf_str(&text);
	}
	transport_submit(mirror_transport(c->mirror), &call);
}

/* --- pods of a Job ---------------------------------------------------------------------------- */

struct job {
	const struct job_controller *c;
	const struct jdoc *doc;
	const char *namespace_, *name, *uid;
	unsigned active, ready, terminating, succeeded, failed;
};

static bool is_phase(const struct jdoc *pod, const char *phase)
{
	return jdoc_is_str(jdoc_path(pod, "status.phase"), phase);
}

static bool is_finished(const struct jdoc *pod)
{
	return is_phase(pod, "Succeeded") || is_phase(pod, "Failed");
}

static bool owns(const struct job *j, const struct jdoc *pod)
{
	const struct jdoc *owner = jdoc_at(jdoc_path(pod, "metadata.ownerReferences"), 0);

	return jdoc_is_str(jdoc_get(owner, "uid"), j->uid);
}

static bool count_pod(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	struct job *j = ctx;
	bool deleted = jdoc_path(pod, "metadata.deletionTimestamp") != NULL;

	if (owns(j, pod)) {
		j->succeeded += is_phase(pod, "Succeeded");
		j->failed += is_phase(pod, "Failed");
		j->terminating += !is_finished(pod) && deleted;
		j->active += !is_finished(pod) && !deleted;
		j->ready += is_phase(pod, "Running") && !deleted;
	}
	return true;
}

static void delete_object(const struct job *j, const char *group, const char *version,
			  const char *plural, const struct jdoc *object)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	rest_path(&path, group, version, j->namespace_, plural,
		  jdoc_path_str(object, "metadata.name"), NULL);
	send(j->c, HTTP_DELETE, path.p, NULL, NULL);
}

/* Of a suspended Job. */
static bool stop_pod(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	const struct job *j = ctx;

	if (owns(j, pod) && !is_finished(pod) &&
	    jdoc_path(pod, "metadata.deletionTimestamp") == NULL) {
		delete_object(j, "", "v1", "pods", pod);
	}
	return true;
}

/* Objects that a deleted Job owns go with it, as by the garbage collector of Kubernetes. */
static bool collect_pod(void *ctx, struct str key UNUSED, const struct jdoc *pod)
{
	if (owns(ctx, pod)) {
		delete_object(ctx, "", "v1", "pods", pod);
	}
	return true;
}

static bool collect_workload(void *ctx, struct str key UNUSED, const struct jdoc *workload)
{
	if (owns(ctx, workload)) {
		delete_object(ctx, "kueue.x-k8s.io", "v1beta2", "workloads", workload);
	}
	return true;
}

static void create_pod(const struct job *j, const char *name)
{
	CLEANUP(jdoc_destroyp) struct jdoc *pod = jdoc_copy(jdoc_path(j->doc, "spec.template"));
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct jdoc *meta = jdoc_ensure_object(pod, "metadata"), *owner = jdoc_new_object();

	jdoc_set_str(pod, "apiVersion", "v1");
	jdoc_set_str(pod, "kind", "Pod");
	jdoc_set_str(meta, "name", name);
	jdoc_set_str(owner, "apiVersion", "batch/v1");
	jdoc_set_str(owner, "kind", "Job");
	jdoc_set_str(owner, "name", j->name);
	jdoc_set_str(owner, "uid", j->uid);
	jdoc_set_bool(owner, "controller", true);
	jdoc_append_take(jdoc_ensure_array(meta, "ownerReferences"), owner);
	rest_path(&path, "", "v1", j->namespace_, "pods", NULL, NULL);
	send(j->c, HTTP_POST, path.p, "application/json", pod);
}

/* Creates the pods that are missing; what is created twice is refused the second time. */
static void create_pods(const struct job *j)
{
	int64_t completions = jdoc_int(jdoc_path(j->doc, "spec.completions"), 1);
	int64_t room = jdoc_int(jdoc_path(j->doc, "spec.parallelism"), 1) - j->active;

	for (int64_t i = 0; i < completions && room > 0; i++) {
		CLEANUP(xmalloc_freep)
		char *name = xmalloc_printf("%s-%lld", j->name, (long long)i);
		CLEANUP(xmalloc_freep) char *key = xmalloc_printf("%s/%s", j->namespace_, name);

		if (mirror_get(j->c->mirror, MIRROR_PODS, key) == NULL) {
			create_pod(j, name);
			room--;
		}
	}
}

/* --- its status ------------------------------------------------------------------------------- */

static bool has_condition(const struct jdoc *job, const char *type)
{
	for (const struct jdoc *c = jdoc_first(jdoc_path(job, "status.conditions")); c != NULL;
	     c = jdoc_next(c)) {
		if (jdoc_is_str(jdoc_get(c, "type"), type)) {
			return jdoc_is_str(jdoc_get(c, "status"), "True");
		}
	}
	return false;
}

static void add_condition(struct jdoc *status, const char *type, const char *now)
{
	struct jdoc *c =
		jdoc_append_take(jdoc_ensure_array(status, "conditions"), jdoc_new_object());

	jdoc_set_str(c, "type", type);
	jdoc_set_str(c, "status", "True");
	jdoc_set_str(c, "lastProbeTime", now);
	jdoc_set_str(c, "lastTransitionTime", now);
}

static bool differs(const struct job *j, const char *member, unsigned n)
{
	return jdoc_int(jdoc_get(jdoc_get(j->doc, "status"), member), 0) != (int64_t)n;
}

static void write_status(const struct job *j, bool suspended, bool complete)
{
	CLEANUP(jdoc_destroyp) struct jdoc *patch = jdoc_new_object();
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct jdoc *status = jdoc_ensure_object(patch, "status");
	char now[CLOCK_RFC3339_MAX];

	if (!complete && suspended == has_condition(j->doc, "Suspended") &&
	    suspended == (jdoc_path(j->doc, "status.startTime") == NULL) &&
	    !differs(j, "active", j->active) && !differs(j, "ready", j->ready) &&
	    !differs(j, "terminating", j->terminating) && !differs(j, "succeeded", j->succeeded) &&
	    !differs(j, "failed", j->failed)) {
		return;
	}
	/* A write that is behind must not undo a later one. */
	jdoc_set_str(jdoc_ensure_object(patch, "metadata"), "resourceVersion",
		     jdoc_path_str(j->doc, "metadata.resourceVersion"));
	clock_format_time(clock_wall(mirror_clock(j->c->mirror)), now);
	jdoc_set_int(status, "active", j->active);
	jdoc_set_int(status, "ready", j->ready);
	jdoc_set_int(status, "terminating", j->terminating);
	jdoc_set_int(status, "succeeded", j->succeeded);
	jdoc_set_int(status, "failed", j->failed);
	jdoc_ensure_array(status, "conditions");
	if (suspended) {
		add_condition(status, "Suspended", now);
		jdoc_set_take(status, "startTime", jdoc_new_null());
	} else if (jdoc_path(j->doc, "status.startTime") == NULL) {
		jdoc_set_str(status, "startTime", now);
	}
	if (complete) {
		add_condition(status, "Complete", now);
		jdoc_set_str(status, "completionTime", now);
	}
	rest_path(&path, "batch", "v1", j->namespace_, "jobs", j->name, "status");
	send(j->c, HTTP_PATCH, path.p, "application/merge-patch+json", patch);
}

static struct job job_of(const struct job_controller *c, const struct jdoc *doc)
{
	return (struct job){ .c = c,
			     .doc = doc,
			     .namespace_ = jdoc_path_str(doc, "metadata.namespace"),
			     .name = jdoc_path_str(doc, "metadata.name"),
			     .uid = jdoc_str_or(jdoc_path(doc, "metadata.uid"), "") };
}

/* Of another controller by spec.managedBy: it is only removed with what it owns. */
static bool is_managed_elsewhere(const struct jdoc *job)
{
	const char *by = jdoc_path_str(job, "spec.managedBy");

	return by != NULL && !str_streq(by, "kubernetes.io/job-controller");
}

static bool sync_job(void *ctx, struct str key UNUSED, const struct jdoc *doc)
{
	struct job j = job_of(ctx, doc);
	bool suspended = jdoc_bool(jdoc_path(doc, "spec.suspend"), false), complete;

	if (is_managed_elsewhere(doc) || jdoc_path(doc, "metadata.deletionTimestamp") != NULL ||
	    has_condition(doc, "Complete")) {
		return true;
	}
	mirror_each(j.c->mirror, MIRROR_PODS, count_pod, &j);
	complete = j.succeeded >= (unsigned)jdoc_int(jdoc_path(doc, "spec.completions"), 1);
	if (suspended && !atomic_load(&j.c->holds_pods)) {
		mirror_each(j.c->mirror, MIRROR_PODS, stop_pod, &j);
	} else if (!suspended && !complete) {
		create_pods(&j);
	}
	write_status(&j, suspended, complete);
	return true;
}

static void on_change(void *ctx, enum mirror_resource r, struct str key UNUSED,
		      const struct jdoc *old, const struct jdoc *now)
{
	struct job_controller *c = ctx;

	if ((r != MIRROR_JOBS && r != MIRROR_PODS) ||
	    atomic_load(&mirror_transport(c->mirror)->stopping)) {
		return;
	}
	if (r == MIRROR_JOBS && old != NULL && now == NULL) {
		struct job j = job_of(c, old);

		mirror_each(c->mirror, MIRROR_PODS, collect_pod, &j);
		mirror_each(c->mirror, MIRROR_WORKLOADS, collect_workload, &j);
	} else {
		mirror_each(c->mirror, MIRROR_JOBS, sync_job, c);
	}
}

/* For writes that were refused. */
static void resync(void *ctx)
{
	struct job_controller *c = ctx;

	on_change(c, MIRROR_JOBS, STR_LIT(""), NULL, NULL);
	if (!atomic_load(&mirror_transport(c->mirror)->stopping)) {
		transport_call(mirror_transport(c->mirror), RESYNC_NS, resync, c);
	}
}

struct job_controller *job_controller_create(struct mirror *m)
{
	struct job_controller *c = xmalloc_zero(1, sizeof(*c));

	c->mirror = m;
	mirror_listen(m, on_change, c);
	transport_call(mirror_transport(m), RESYNC_NS, resync, c);
	return c;
}

void job_controller_hold_pods(struct job_controller *c, bool hold)
{
	atomic_store(&c->holds_pods, hold);
}

void job_controller_destroy(struct job_controller *c)
{
	free(c);
}
