/* Reports, in this order:
 * 1. Objects with the label of a queue, of kinds that nothing queues.
 * 2. Pods with the label that have not passed the webhook at creation.
 * 3. Running Jobs with the label and without a Workload. Workloads are listed after the Jobs, so
 *    that a Job that has just got its Workload is not reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/batch.h"
#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "api/kueue/kueue_workload.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/decode.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/ctl.h"
#include "scheduler/ctl/sim/sim_files.h"
#include "scheduler/workloads/conf/kueue_conf_owners.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)
#define LABELLED "?labelSelector=kueue.x-k8s.io%2Fqueue-name"

struct running { /* a Job */
	char *uid, *shown;
};

struct doctor {
	struct transport *transport;
	const char *within; /* a namespace; NULL: all */
	const struct kueue_conf_owners *conf;
	const struct kueue_conf_owners_kind *kind; /* being checked */
	struct VEC(struct running) jobs;
	struct strmap *owners; /* UIDs of the owners of Workloads */
	size_t found, failed;
};

static void report(struct doctor *d, const char *kind, const struct cut_meta *meta)
{
	printf("%s " STR_FMT "/" STR_FMT ": has the label " KUEUE_QUEUE_NAME
	       " but does not wait for quota\n",
	       kind, STR_ARG(meta->namespace_), STR_ARG(meta->name));
	d->found++;
}

/* Whether the controller of an external framework is responsible. */
static bool is_external(const struct doctor *d, const char *group, const char *kind)
{
	for (size_t i = 0; i < d->conf->nothers; i++) {
		if (str_streq(d->conf->others[i].group, group) &&
		    str_streq(d->conf->others[i].kind, kind)) {
			return true;
		}
	}
	return false;
}

static bool is_controlled(const struct api_owner *owner, const char *api_version, const char *kind)
{
	return owner != NULL && str_streq(owner->api_version, api_version) &&
	       str_streq(owner->kind, kind);
}

static bool has_external_owner(const struct doctor *d, const struct api_owner *owner)
{
	struct str version = str_of(owner == NULL ? NULL : owner->api_version);
	struct str group = str_next(&version, '/');
	CLEANUP(xmalloc_freep) char *copy = NULL;

	if (version.p == NULL) {
		return false; /* none, or of the core group */
	}
	copy = xmalloc_dup_n(group.p, group.len);
	return is_external(d, copy, owner->kind);
}

/* --- kinds that nothing queues -----------------------------------------------------------------
 */

/* With the label in the template, each pod is queued by itself. */
static bool pods_have_label(struct str object)
{
	CLEANUP(jdoc_destroyp) struct jdoc *tree = NULL;

	return jdoc_parse(object, &tree, NULL) == 0 &&
	       jdoc_get(jdoc_path(tree, "spec.template.metadata.labels"), KUEUE_QUEUE_NAME) != NULL;
}

static void on_object(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct doctor *d = ctx;
	CLEANUP(xmalloc_freep) char *kind = NULL;

	if (str_streq(d->kind->group, "apps") && pods_have_label(object)) {
		return;
	}
	kind = xmalloc_printf("%s.%s", d->kind->kind, d->kind->group);
	report(d, kind, meta);
}

static int get(struct doctor *d, const char *path, struct jdoc **ret, struct err *err)
{
	return rest_call(d->transport, HTTP_GET, path, NULL, (struct str){ NULL, 0 }, CALL_NS, ret,
			 err);
}

/* The plural of the kind in its group, as the API server serves it; NULL: it does not. */
static const char *find_plural(const struct jdoc *resources, const char *kind)
{
	const struct jdoc *r = jdoc_first(jdoc_get(resources, "resources"));

	for (; r != NULL; r = jdoc_next(r)) {
		const char *name = jdoc_str_or(jdoc_get(r, "name"), "/");

		if (jdoc_is_str(jdoc_get(r, "kind"), kind) && strchr(name, '/') == NULL) {
			return name;
		}
	}
	return NULL;
}

/* Group, version and plural are asked of the API server: it serves other versions than this
 * program knows, or none of the kind. */
static int check_kind(struct doctor *d, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *group = NULL, *resources = NULL;
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	const char *version, *plural;
	int r;

	strbuf_printf(&path, "/apis/%s", d->kind->group);
	r = get(d, path.p, &group, err);
	version = jdoc_path_str(group, "preferredVersion.version");
	if (r < 0 || version == NULL) {
		return r == -ERR_NOT_FOUND ? 0 : r;
	}
	strbuf_printf(&path, "/%s", version);
	r = get(d, path.p, &resources, err);
	plural = find_plural(resources, d->kind->kind);
	if (r < 0 || plural == NULL) {
		return r == -ERR_NOT_FOUND ? 0 : r;
	}
	strbuf_reset(&path);
	rest_path(&path, d->kind->group, version, d->within, plural, NULL, NULL);
	strbuf_add_c(&path, LABELLED);
	return rest_list_cut(d->transport, path.p, CALL_NS, on_object, d, err);
}

/* --- pods and Jobs -----------------------------------------------------------------------------
 */

/* Unreadable parts of an object count as absent: it is better reported than missed. Pods of a Job
 * run with the Job. */
static void on_pod(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct doctor *d = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct api_owner *owner;
	struct api_pod pod;

	(void)decode_partial(&pod_admission_fields, object, &pod, arena, NULL);
	owner = meta_controller(&pod.meta);
	if (!field_map_is(&pod.meta.labels, KUEUE_MANAGED, "true") && !pod_is_finished(&pod) &&
	    !is_controlled(owner, "batch/v1", "Job") && !has_external_owner(d, owner)) {
		report(d, "Pod", meta);
	}
}

/* A Job that is owned by another Job or by a pod may run with its owner. */
static void on_job(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct doctor *d = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	const struct api_owner *owner;
	struct running one;
	struct api_job job;

	(void)decode_partial(&batch_job_fields, object, &job, arena, NULL);
	owner = meta_controller(&job.meta);
	if (batch_is_suspended(&job) || batch_finished(&job) != NULL ||
	    job.meta.deleted != FIELD_NO_TIME || is_controlled(owner, "batch/v1", "Job") ||
	    is_controlled(owner, "v1", "Pod") || has_external_owner(d, owner)) {
		return;
	}
	one.uid = xmalloc_dup(job.meta.uid == NULL ? "" : job.meta.uid);
	one.shown =
		xmalloc_printf(STR_FMT "/" STR_FMT, STR_ARG(meta->namespace_), STR_ARG(meta->name));
	vec_push(&d->jobs, one);
}

static void on_workload(void *ctx, struct str object, const struct cut_meta *meta UNUSED)
{
	struct doctor *d = ctx;
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_workload w;

	(void)decode_partial(&kueue_workload_fields, object, &w, arena, NULL);
	for (size_t i = 0; i < w.meta.owners.n; i++) {
		if (w.meta.owners.v[i].uid != NULL) {
			strmap_set(d->owners, str_of(w.meta.owners.v[i].uid), d);
		}
	}
}

static int list(struct doctor *d, enum sched_resource r, const char *query,
		void (*on_item)(void *ctx, struct str object, const struct cut_meta *meta),
		struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(r, d->within, NULL, NULL, &path);
	strbuf_add_c(&path, query);
	return rest_list_cut(d->transport, path.p, CALL_NS, on_item, d, err);
}

static int check_pods(struct doctor *d, struct err *err)
{
	return list(d, SCHED_PODS, LABELLED, on_pod, err);
}

static int check_jobs(struct doctor *d, struct err *err)
{
	int r = list(d, SCHED_JOBS, LABELLED, on_job, err);

	if (r == 0) {
		r = list(d, SCHED_WORKLOADS, "", on_workload, err);
	}
	if (r < 0 && r != -ERR_NOT_FOUND) {
		return r;
	}
	for (size_t i = 0; i < d->jobs.n; i++) {
		if (!strmap_has(d->owners, str_of(d->jobs.v[i].uid))) {
			printf("Job.batch %s: has the label " KUEUE_QUEUE_NAME
			       " but runs without a Workload\n",
			       d->jobs.v[i].shown);
			d->found++;
		}
	}
	return 0;
}

/* --- the verb ----------------------------------------------------------------------------------
 */

/* A kind that may not be read does not keep the others from being checked. */
static void run_check(struct doctor *d, const char *what,
		      int (*check)(struct doctor *d, struct err *err))
{
	struct err why = ERR_INIT;

	if (check(d, &why) < 0) {
		fprintf(stderr, "headgatectl: %s: %s\n", what, why.text);
		d->failed++;
	}
}

static int examine(const struct cluster_args *a, struct doctor *d, struct err *err)
{
	int r = cluster_args_connect(a, &d->transport, err);

	if (r < 0) {
		return r;
	}
	for (size_t i = 0; kueue_conf_owners_unsupported(i) != NULL; i++) {
		CLEANUP(xmalloc_freep) char *what = NULL;

		d->kind = kueue_conf_owners_unsupported(i);
		what = xmalloc_printf("%s.%s", d->kind->kind, d->kind->group);
		if (!is_external(d, d->kind->group, d->kind->kind)) {
			run_check(d, what, check_kind);
		}
	}
	run_check(d, "Pod", check_pods);
	run_check(d, "Job.batch", check_jobs);
	transport_destroy(d->transport);
	return 0;
}

static void finish(struct doctor *d)
{
	for (size_t i = 0; i < d->jobs.n; i++) {
		free(d->jobs.v[i].uid);
		free(d->jobs.v[i].shown);
	}
	vec_finish(&d->jobs);
	strmap_destroy(d->owners);
}

static int read_config(const struct cluster_args *a, struct arena *arena,
		       struct kueue_conf_owners *ret, struct err *err)
{
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	int r = a->config == NULL ? 0 : sim_files_read_document(a->config, &config, err);

	if (r < 0) {
		return r;
	}
	r = kueue_conf_owners_read(config, arena, ret, err);
	return r < 0 ? err_wrap(err, "%s", a->config) : 0;
}

static int run_verb(int argc, char **argv)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct kueue_conf_owners conf;
	struct doctor d = { .conf = &conf };
	struct cluster_args a;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_doctor_verb, argc, argv, &a, &code)) {
		return code;
	}
	if (read_config(&a, arena, &conf, &err) < 0) {
		return verb_fail(&err);
	}
	d.owners = strmap_create(NULL);
	d.within = a.within;
	code = examine(&a, &d, &err);
	finish(&d);
	if (code < 0) {
		return verb_fail(&err);
	}
	if (d.found == 0 && d.failed == 0) {
		printf("no problems found\n");
	}
	return d.found == 0 && d.failed == 0 ? VERB_OK : VERB_FAILED;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach, cluster_args_within, cluster_args_config, flags_help, NULL,
};

const struct verb ctl_doctor_verb = {
	VERB("doctor"),
	.help = "find objects that name a queue but do not wait for it",
	.flags.doc = "Find objects that name a queue but do not wait for it: objects of kinds "
		     "that Kueue integrates and Headgate does not (unless their pods have the "
		     "label), pods that have not passed the webhook, and Jobs that run without a "
		     "Workload: they run without quota. Kinds that the API server does not serve, "
		     "and the kinds in "
		     "externalFrameworks, are skipped. The exit code is 1 if any are found.",
	.flags.tables = tables,
	.run = run_verb,
};
