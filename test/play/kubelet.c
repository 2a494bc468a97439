#include "play/kubelet.h"

#include <stdlib.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/list.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "play/mirror.h"

#define NOT_READY "node.kubernetes.io/not-ready"
#define RUNS_FOR "demo.headgate.io/runs-for"
#define TIMEOUT_NS (5 * CLOCK_NS_PER_S)
#define RETRY_NS (100 * CLOCK_NS_PER_MS)

struct kubelet {
	struct mirror *mirror;
	int64_t start_delay_ns;
	struct list_node jobs;
};

enum job_kind { JOB_START, JOB_FINISH, JOB_FAIL, JOB_FINALISE, JOB_UNTAINT };

/* A write that is due later. It is repeated until it succeeds or fails for good. */
struct kubelet_job {
	struct list_node node;
	struct kubelet *kubelet;
	enum job_kind kind;
	char *key, *uid;
	char *taints; /* JOB_UNTAINT: those that stay, JSON; else NULL */
};

static void job_free(struct kubelet_job *j)
{
	list_remove(&j->node);
	free(j->key);
	free(j->uid);
	free(j->taints);
	free(j);
}

static void run_job(void *ctx);

static void on_done(void *ctx, const struct http_result *result)
{
	struct kubelet_job *j = ctx;

	if (result->error == ERR_CANCELLED) {
		job_free(j);
		return;
	}
	if (result->status == 0 || result->status == 429 || result->status >= 500) {
		transport_call(mirror_transport(j->kubelet->mirror), RETRY_NS, run_job, j);
		return;
	}
	job_free(j);
}

/* kubectl counts them in the column READY. */
static void add_containers(struct strbuf *body, const struct jdoc *pod, bool run)
{
	const struct jdoc *c = jdoc_first(jdoc_path(pod, "spec.containers"));

	for (const char *comma = ""; c != NULL; c = jdoc_next(c), comma = ",") {
		strbuf_printf(body,
			      "%s{\"name\":\"%s\",\"image\":\"%s\",\"imageID\":\"\",\"ready\":%s,"
			      "\"restartCount\":0}",
			      comma, jdoc_str_or(jdoc_get(c, "name"), ""),
			      jdoc_str_or(jdoc_get(c, "image"), ""), run ? "true" : "false");
	}
}

static void fill_status(struct strbuf *body, const struct kubelet_job *j, const char *phase)
{
	const struct clock *clock = mirror_clock(j->kubelet->mirror);
	bool run = str_streq(phase, "Running");
	char when[CLOCK_RFC3339_MAX];

	clock_format_time(clock_wall(clock), when);
	strbuf_printf(body,
		      "{\"metadata\":{\"uid\":\"%s\"},\"status\":{\"phase\":\"%s\",\"startTime\":"
		      "\"%s\",\"conditions\":"
		      "[{\"type\":\"Ready\",\"status\":\"%s\",\"lastTransitionTime\":\"%s\"}],"
		      "\"containerStatuses\":[",
		      j->uid, phase, when, run ? "True" : "False", when);
	add_containers(body, mirror_get(j->kubelet->mirror, MIRROR_PODS, j->key), run);
	strbuf_add_c(body, "]}}");
}

static void run_job(void *ctx)
{
	struct kubelet_job *j = ctx;
	struct str name = str_of(j->key), space = str_next(&name, '/');
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT, body = STRBUF_INIT;
	CLEANUP(xmalloc_freep) char *namespace_ = xmalloc_dup_n(space.p, space.len);
	struct http_call call = { .timeout_ns = TIMEOUT_NS, .on_done = on_done, .ctx = j };

	if (atomic_load(&mirror_transport(j->kubelet->mirror)->stopping)) {
		job_free(j);
		return;
	}
	if (j->kind == JOB_UNTAINT) {
		rest_path(&path, "", "v1", NULL, "nodes", j->key, NULL);
		strbuf_printf(&body, "{\"metadata\":{\"uid\":\"%s\"},\"spec\":{\"taints\":%s}}",
			      j->uid, j->taints);
		call.method = HTTP_PATCH;
		call.content_type = "application/merge-patch+json";
	} else if (j->kind == JOB_FINALISE) {
		rest_path(&path, "", "v1", namespace_, "pods", name.p, NULL);
		strbuf_printf(&body,
			      "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"%s\"}}",
			      j->uid);
		call.method = HTTP_DELETE;
		call.content_type = "application/json";
	} else {
		rest_path(&path, "", "v1", namespace_, "pods", name.p, "status");
		fill_status(&body, j,
			    j->kind == JOB_START  ? "Running"
			    : j->kind == JOB_FAIL ? "Failed"
						  : "Succeeded");
		call.method = HTTP_PATCH;
		call.content_type = "application/strategic-merge-patch+json";
	}
	call.url = path.p;
	call.body = strbuf_str(&body);
	transport_submit(mirror_transport(j->kubelet->mirror), &call);
}

static struct kubelet_job *later(struct kubelet *k, enum job_kind kind, struct str key,
				 const struct jdoc *pod, int64_t delay_ns)
{
	struct kubelet_job *j = xmalloc_zero(1, sizeof(*j));

	j->kubelet = k;
	j->kind = kind;
	j->key = xmalloc_dup_n(key.p, key.len);
	j->uid = xmalloc_dup(jdoc_str_or(jdoc_path(pod, "metadata.uid"), ""));
	list_append(&k->jobs, &j->node);
	transport_call(mirror_transport(k->mirror), delay_ns, run_job, j);
	return j;
}

static bool turned(const struct jdoc *old, const struct jdoc *now, const char *path)
{
	return jdoc_path(now, path) != NULL && (old == NULL || jdoc_path(old, path) == NULL);
}

static bool became(const struct jdoc *old, const struct jdoc *now, const char *phase)
{
	return jdoc_is_str(jdoc_path(now, "status.phase"), phase) &&
	       (old == NULL || !jdoc_is_str(jdoc_path(old, "status.phase"), phase));
}

static bool has_ended(const struct jdoc *pod)
{
	const char *phase = pod == NULL ? NULL : jdoc_path_str(pod, "status.phase");

	return str_streq(phase, "Failed") || str_streq(phase, "Succeeded");
}

/* A real API server taints new nodes at admission until the node lifecycle controller sees that
 * they are ready: this takes the controller's place. */
static void on_node(struct kubelet *k, struct str key, const struct jdoc *node)
{
	const struct jdoc *taints = jdoc_path(node, "spec.taints");
	CLEANUP(jdoc_destroyp) struct jdoc *kept = jdoc_new_array();
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	bool has = false;

	for (const struct jdoc *t = jdoc_first(taints); t != NULL; t = jdoc_next(t)) {
		if (jdoc_is_str(jdoc_get(t, "key"), NOT_READY)) {
			has = true;
		} else {
			jdoc_append_take(kept, jdoc_copy(t));
		}
	}
	if (has) {
		jdoc_format(kept, &text);
		later(k, JOB_UNTAINT, key, node, 0)->taints = strbuf_steal(&text, NULL);
	}
}

/* A pod that is deleted, but kept by finalizers, shows how it ended. Of several changes only the
 * last may have been seen, and a start that was in flight may arrive after the end. */
static void on_deleting(struct kubelet *k, struct str key, const struct jdoc *old,
			const struct jdoc *now)
{
	bool deleted = turned(old, now, "metadata.deletionTimestamp");
	bool held = jdoc_count(jdoc_path(now, "metadata.finalizers")) > 0;

	if (has_ended(now)) {
		if (deleted || !has_ended(old)) {
			later(k, JOB_FINALISE, key, now, 0);
		}
	} else if (deleted || became(old, now, "Running")) {
		later(k, held ? JOB_FAIL : JOB_FINALISE, key, now, k->start_delay_ns);
	}
}

static void on_pod(void *ctx, enum mirror_resource r, struct str key, const struct jdoc *old,
		   const struct jdoc *now)
{
	struct kubelet *k = ctx;
	const char *runs_for;
	int64_t ns;

	if (r == MIRROR_NODES && now != NULL && old == NULL) {
		on_node(k, key, now);
	}
	if (r != MIRROR_PODS || now == NULL || jdoc_path_str(now, "spec.nodeName") == NULL) {
		return;
	}
	if (jdoc_path(now, "metadata.deletionTimestamp") != NULL) {
		on_deleting(k, key, old, now);
		return;
	}
	if (turned(old, now, "spec.nodeName") &&
	    jdoc_is_str(jdoc_path(now, "status.phase"), "Pending")) {
		later(k, JOB_START, key, now, k->start_delay_ns);
	}
	runs_for = jdoc_str(jdoc_get(jdoc_path(now, "metadata.annotations"), RUNS_FOR));
	if (became(old, now, "Running") && runs_for != NULL &&
	    clock_parse_duration(str_of(runs_for), &ns) == 0) {
		later(k, JOB_FINISH, key, now, ns);
	}
}

struct kubelet *kubelet_create(struct mirror *m, int64_t start_delay_ns)
{
	struct kubelet *k = xmalloc_zero(1, sizeof(*k));

	k->mirror = m;
	k->start_delay_ns = start_delay_ns;
	list_init(&k->jobs);
	mirror_listen(m, on_pod, k);
	return k;
}

void kubelet_destroy(struct kubelet *k)
{
	if (k == NULL) {
		return;
	}
	LIST_FOR_EACH (n, &k->jobs) {
		job_free(LIST_ENTRY(n, struct kubelet_job, node));
	}
	free(k);
}
