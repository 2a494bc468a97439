#include "scheduler/ctl/ctl.h"

#include <stdio.h>
#include <string.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/cli/cluster_args.h"
#include "scheduler/ctl/explain/live_cluster.h"
#include "scheduler/ctl/explain/offer_lookup.h"
#include "scheduler/ctl/explain/pod_explain.h"
#include "scheduler/ctl/explain/pod_explain_text.h"
#include "scheduler/ctl/explain/pod_lookup.h"
#include "scheduler/ctl/explain/recorded_status.h"
#include "scheduler/ctl/explain/workload_explain_json.h"
#include "scheduler/ctl/explain/workload_explain_text.h"
#include "scheduler/ctl/list/kueue_kinds.h"
#include "scheduler/ctl/list/missing_workload.h"
#include "scheduler/ctl/list/workload_owner.h"
#include "scheduler/pods/model/cluster.h"

static int find_pod(const struct live_cluster *s, const char *key, const struct task **ret,
		    struct err *err)
{
	const struct cluster *c = live_cluster_cluster(s);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	struct nearest near;

	*ret = cluster_task_find(c, str_of(key));
	if (*ret != NULL) {
		return 0;
	}
	nearest_init(&near, str_of(key));
	for (size_t i = 0; i < c->tasks.n; i++) {
		char other[NEAREST_NAME_MAX];

		if (c->tasks.v[i] != NULL &&
		    cluster_task_key(c->tasks.v[i], other, sizeof(other)) < sizeof(other)) {
			nearest_offer(&near, str_of(other));
		}
	}
	strbuf_printf(&text, "pod %s not found", key);
	nearest_add_hint(&near, &text);
	return err_set(err, ERR_NOT_FOUND, "%s", text.p);
}

static void print_pod(const struct cluster_args *f, const struct pod_explanation *x)
{
	if (f->output == VERB_JSON) {
		pod_explain_text_print_json(x, stdout);
	} else {
		pod_explain_text_print(x, stdout);
	}
}

/* pod: NULL with a dump. */
static int explain_task(const struct cluster_args *f, const char *key, const struct jdoc *pod,
			struct err *err)
{
	CLEANUP(live_cluster_destroyp) struct live_cluster *s = NULL;
	CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
	const struct task *t = NULL;
	int r = live_cluster_load(f, &s, err);

	/* A user of one namespace: what the scheduler has written into the objects is shown
	 * instead. */
	if (r == -ERR_FORBIDDEN) {
		return recorded_status_pod(f, err);
	}
	if (r == 0) {
		r = find_pod(s, key, &t, err);
	}
	if (r == 0) {
		pod_explain_task(s, t, pod, &x);
		print_pod(f, &x);
	}
	return r;
}

/* The key of the Workload named, or of the Workload of the job, pod or group of pods named; NULL:
 * that one has none. The Workload of a group has the group's name. */
static const char *find_workload(const struct cluster_args *f, const struct live_workloads *s,
				 const char *key, const char *group)
{
	const char *name = strchr(key, '/') + 1;
	struct str space = { key, (size_t)(name - 1 - key) };
	const struct kinds_row *kind = kueue_kinds_find(f->rest[0]);
	size_t n;
	struct sim_object *const *v = sim_input_objects(s->in, &n);

	if (kind != NULL && str_streq(kind->kind, "Workload")) {
		return key;
	}
	for (size_t i = 0; i < n; i++) {
		if (v[i]->kind != SCHED_WORKLOADS ||
		    !str_eq_c(space, jdoc_path_str(v[i]->json, "metadata.namespace"))) {
			continue;
		}
		if (group == NULL ? workload_owner_is(v[i]->json, f->rest[0], name)
				  : jdoc_is_str(jdoc_path(v[i]->json, "metadata.name"), group)) {
			return v[i]->key;
		}
	}
	return NULL;
}

/* For a user who may read the namespace alone: what the scheduler has written. */
static int explain_recorded(const struct cluster_args *f, const char *group, const char *key,
			    struct err *err)
{
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(xmalloc_freep)
	char *space = xmalloc_dup_n(key, (size_t)(strchr(key, '/') - key));
	const struct err why = *err;
	const char *workload = NULL;
	int r = live_workloads_load_namespace(f, space, &why, RECORDED_STATUS_LACKS, &source, err);

	if (r == 0) {
		workload = find_workload(f, &source, key, group);
		r = workload == NULL || sim_input_find(source.in, SCHED_WORKLOADS, workload) == NULL
			    ? err_set(err, ERR_NOT_FOUND, "%s %s: no Workload found", f->rest[0],
				      key)
			    : 0;
	}
	if (r == 0) {
		recorded_status_workload(f, &source, workload);
	}
	return r;
}

/* group: of a pod in a group; else NULL. */
static int explain_workload(const struct cluster_args *f, const char *group, struct err *err)
{
	CLEANUP(live_workloads_finish) struct live_workloads source = { 0 };
	CLEANUP(workload_explain_finish) struct workload_explanation x = { 0 };
	CLEANUP(xmalloc_freep) char *key = cluster_args_key(f, f->rest[1]);
	CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
	const char *workload = NULL;
	int r = live_workloads_load(f, &source, err);

	if (r == -ERR_FORBIDDEN) {
		return explain_recorded(f, group, key, err);
	}
	if (r == 0) {
		workload = find_workload(f, &source, key, group);
		r = workload == NULL ? missing_workload_explain(f, &source, f->rest[0], key, err)
				     : workload_explain_workload(&source, workload, &x, err);
	}
	if (r < 0) {
		return r;
	}
	offer_lookup(f, &source, workload, &x.offer);
	if (f->output == VERB_JSON) {
		workload_explain_json_write(&x, &text);
		printf("%s\n", text.p);
	} else {
		workload_explain_text_print(&x, stdout);
	}
	return 0;
}

/* 1. The pod as the API server has it says which engine it waits for; a dump has only pods of
 *    Queues.
 * 2. It queues as a Workload, by itself or in a group: that Workload is explained.
 * 3. It is scheduled or gated here, or has a node: the pods wing explains it.
 * 4. Another scheduler places it, and all that can be said is in the pod. */
static int explain_pod(const struct cluster_args *f, struct err *err)
{
	CLEANUP(xmalloc_freep) char *key = cluster_args_key(f, f->rest[1]);
	CLEANUP(pod_explain_finish) struct pod_explanation x = { .arena = NULL };
	CLEANUP(jdoc_destroyp) struct jdoc *pod = NULL;
	const char *const *names = f->scheduler_names.v;
	int r = f->dump != NULL ? 0 : pod_lookup_read(f, key, &pod, err);

	if (r < 0 || pod == NULL) {
		return r < 0 ? r : explain_task(f, key, NULL, err);
	}
	if (pod_lookup_has_workload(pod, names)) {
		return explain_workload(f, pod_lookup_group(pod), err);
	}
	if (!pod_lookup_is_foreign(pod, names) ||
	    pod_lookup_is_gate_only(pod, f->gate_schedulers.v)) {
		return explain_task(f, key, pod, err);
	}
	pod_explain_foreign(pod, names, f->gate_schedulers.v, &x);
	print_pod(f, &x);
	return 0;
}

static bool is_pod(const char *kind)
{
	return str_streq(kind, "pod") || str_streq(kind, "pods") || str_streq(kind, "po");
}

/* A Workload, or the kind of its owner: a Job, or KIND.GROUP. */
static bool is_workload(const char *kind)
{
	const struct kinds_row *row = kueue_kinds_find(kind);

	if (row != NULL) {
		return str_streq(row->kind, "Workload");
	}
	row = kinds_by_alias(str_of(kind));
	return row != NULL ? str_streq(row->kind, "Job") : strchr(kind, '.') != NULL;
}

static int run_verb(int argc, char **argv)
{
	struct cluster_args f;
	struct err err = ERR_INIT;
	int code;

	if (!cluster_args_parse(&ctl_explain_verb, argc, argv, &f, &code)) {
		return code;
	}
	if (f.nrest == 2 && is_pod(f.rest[0]) && f.files.n == 0) {
		return explain_pod(&f, &err) < 0 ? verb_fail(&err) : VERB_OK;
	}
	if (f.nrest == 2 && is_workload(f.rest[0]) && f.dump == NULL) {
		return explain_workload(&f, NULL, &err) < 0 ? cluster_args_fail(&f, &err) : VERB_OK;
	}
	if (f.nrest == 2 && is_pod(f.rest[0])) {
		fprintf(stderr,
			"headgatectl: explain pod reads a cluster, or a dump (--dump), and no "
			"manifests (-f): `headgatectl simulate FILE` says why their pods "
			"wait\n");
		return VERB_USAGE;
	}
	fprintf(stderr, "headgatectl: expected: explain pod NAMESPACE/NAME [--dump FILE], or "
			"explain workload|job NAMESPACE/NAME [-f FILE]\n");
	return VERB_USAGE;
}

static const struct flags_row *const tables[] = {
	cluster_args_reach,
	cluster_args_dump,
	cluster_args_files,
	cluster_args_config,
	cluster_args_namespace,
	cluster_args_workers,
	cluster_args_output,
	flags_help,
	NULL,
};

const struct verb ctl_explain_verb = {
	VERB("explain"),
	.help = "explain why a pod or a Workload waits, with the amounts",
	.flags.args = "pod NAMESPACE/NAME\nworkload NAMESPACE/NAME\njob NAMESPACE/NAME",
	.flags.doc =
		"Explain why a pod or a Workload waits; nothing is changed. For a pod: its gate, "
		"the amounts of its queue and of all queues above, and why nodes do not fit. For "
		"a Workload: its position, the amounts along its cohorts, the Workloads that it "
		"would preempt, and the rule that protects each other one; if it holds quota, the "
		"Workloads that could preempt it; if it is offered to worker clusters, the answer "
		"of each. A Job, or KIND.GROUP of another job, selects its Workload; so does a pod "
		"that queues by itself or in a group.",
	.flags.notes = "--dump, --scheduler-conf, --scheduler-name and --gate-schedulers are for "
		       "pods; -f, --config and --now for Workloads.",
	.flags.tables = tables,
	.run = run_verb,
};
