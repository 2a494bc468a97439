#include "scheduler/ctl/manifest/strict_input.h"

#include <stdlib.h>

#include "api/volcano/gate.h"
#include "api/volcano/keys.h"
#include "base/attrs.h"
#include "base/err.h"
#include "base/str.h"
#include "base/xmalloc.h"
#include "collections/strmap.h"
#include "collections/vec.h"
#include "enc/json/jdoc.h"
#include "scheduler/ctl/manifest/builtin_admission.h"
#include "scheduler/ctl/manifest/controller_pods.h"
#include "scheduler/ctl/manifest/manifest_admit.h"
#include "scheduler/ctl/manifest/manifest_check.h"
#include "scheduler/ctl/manifest/other_objects.h"
#include "scheduler/ctl/manifest/owner_workloads.h"
#include "scheduler/ctl/sim/sim_input.h"
#include "scheduler/workloads/conf/kueue_conf.h"

struct strict_input {
	struct strict_input_options opt;
	struct sim_input *in;
	struct manifest_check *check;
	struct controller_pods *controllers;
	struct VEC(char *) warnings;
	struct sim_report_other *others;
	struct VEC(struct sim_report_other) without; /* reasons are owned */
	struct sim_report_input report;
};

static void on_problem(void *ctx, const char *text)
{
	struct strict_input *s = ctx;

	s->opt.problem(s->opt.ctx, text);
}

static void on_controller(void *ctx, const struct jdoc *object, const char *where)
{
	struct strict_input *s = ctx;

	controller_pods_keep(s->controllers, object, where);
}

struct strict_input *strict_input_create(const struct strict_input_options *opt,
					 struct sim_input *in)
{
	struct strict_input *s = xmalloc_zero(1, sizeof(*s));
	const struct manifest_check_options check = {
		.ignored = opt->ignored,
		.problem = on_problem,
		.warn = strict_input_warn,
		.controller = on_controller,
		.ctx = s,
	};

	s->opt = *opt;
	s->in = in;
	s->controllers = controller_pods_create();
	s->check = manifest_check_create(&check);
	sim_input_set_check(in, manifest_check_object, s->check, strict_input_warn, s);
	return s;
}

void strict_input_destroyp(struct strict_input **ps)
{
	struct strict_input *s = *ps;

	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->warnings.n; i++) {
		free(s->warnings.v[i]);
	}
	vec_finish(&s->warnings);
	for (size_t i = 0; i < s->without.n; i++) {
		free((char *)(uintptr_t)s->without.v[i].reason);
	}
	vec_finish(&s->without);
	manifest_check_destroyp(&s->check);
	controller_pods_destroyp(&s->controllers);
	free(s->others);
	free(s);
	*ps = NULL;
}

void strict_input_warn(void *ctx, const char *text)
{
	struct strict_input *s = ctx;

	vec_push(&s->warnings, xmalloc_dup(text));
	s->opt.warn(s->opt.ctx, text);
}

static void count_objects(struct strict_input *s)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);

	for (size_t i = 0; i < n; i++) {
		s->report.counts[objects[i]->kind]++;
	}
}

static void on_without(void *ctx, enum sched_resource kind, const char *key, const char *reason)
{
	struct strict_input *s = ctx;
	struct sim_report_other one = { kind, key, xmalloc_dup(reason) };

	vec_push(&s->without, one);
}

/* The API accepts a circle of parents; queues in it are not active. */
static void warn_of_circle(struct strict_input *s, const struct sim_object *cohort, size_t cohorts)
{
	const struct sim_object *at = cohort;

	/* As many steps as there are Cohorts: a circle that this one is not part of is left,
	 * too. */
	for (size_t i = 0; i < cohorts && at != NULL; i++) {
		const char *parent = jdoc_path_str(at->json, "spec.parentName");
		CLEANUP(xmalloc_freep) char *text = NULL;

		if (str_streq(parent, cohort->key)) {
			text = xmalloc_printf("%s: Cohort %s: spec.parentName: the parents form a "
					      "circle: no ClusterQueue in it is active",
					      cohort->where, cohort->key);
			strict_input_warn(s, text);
			return;
		}
		at = parent == NULL ? NULL : sim_input_find(s->in, SCHED_COHORTS, parent);
	}
}

static void warn_of_circles(struct strict_input *s)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);

	for (size_t i = 0; i < n; i++) {
		if (objects[i]->kind == SCHED_COHORTS) {
			warn_of_circle(s, objects[i], s->report.counts[SCHED_COHORTS]);
		}
	}
}

/* The Workloads of Jobs and pods that change are not made anew. */
static void refuse_changed_owners(struct strict_input *s)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];
		CLEANUP(xmalloc_freep) char *text = NULL;

		if (o->old != NULL && (o->kind == SCHED_JOBS || o->kind == SCHED_PODS)) {
			text = xmalloc_printf("%s: %s %s: changes of a %s are not simulated",
					      o->where, sim_input_kind_name(o->kind), o->key,
					      sim_input_kind_name(o->kind));
			manifest_check_problem(s->check, text);
		}
	}
}

/* "f.yaml: document 2: Pod team/p: why" */
static void warn_about(struct strict_input *s, const struct sim_object *o, const char *why)
{
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("%s: %s %s: %s", o->where, sim_input_kind_name(o->kind), o->key,
				    why);

	strict_input_warn(s, text);
}

/* Values other than "true" have no effect, which looks like a pod that needs no quota. */
static void warn_of_opt_ins(struct strict_input *s)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);
	const struct gate_row *row;

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];
		bool pod = o->kind == SCHED_PODS;
		const struct jdoc *map =
			jdoc_path(o->json, pod ? "metadata.annotations" : "metadata.labels");

		for (size_t k = 0; (pod || o->kind == SCHED_NAMESPACES) && !o->before &&
				   (row = gate_at(k)) != NULL;
		     k++) {
			const char *value = jdoc_str(jdoc_get(map, row->annotation));
			CLEANUP(xmalloc_freep) char *text = NULL;

			if (value == NULL || str_streq(value, "true") ||
			    str_streq(value, "false")) {
				continue;
			}
			text = xmalloc_printf("%s %s: \"%s\" does not opt in, only \"true\" does",
					      pod ? "annotation" : "label", row->annotation, value);
			warn_about(s, o, text);
		}
	}
}

/* A pod that is scheduled here although its label asks for a queue of Kueue. */
static void warn_of_queue_labels(struct strict_input *s, const struct kueue_conf_owners *owners)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);

	for (size_t i = 0; i < n; i++) {
		const struct sim_object *o = objects[i];
		const char *why = o->kind == SCHED_PODS && !o->before
					  ? other_objects_label_in_vain(o->json, owners)
					  : NULL;

		if (why != NULL && str_streq(jdoc_path_str(o->json, "spec.schedulerName"),
					     KEYS_DEFAULT_SCHEDULER)) {
			warn_about(s, o, why);
		}
	}
}

/* Nothing else reports those that are added later. */
static void warn_of_others(struct strict_input *s)
{
	for (size_t i = 0; i < s->report.nothers; i++) {
		const struct sim_report_other *other = &s->others[i];
		const struct sim_object *o = sim_input_find(s->in, other->kind, other->key);

		if (!o->before) {
			warn_about(s, o, other->reason);
		}
	}
}

/* The API server does it before it asks webhooks. */
static void default_schedulers(struct sim_input *in)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);

	for (size_t i = 0; i < n; i++) {
		struct jdoc *spec = objects[i]->kind == SCHED_PODS && !objects[i]->before
					    ? jdoc_get_mut(objects[i]->json, "spec")
					    : NULL;

		if (spec != NULL && jdoc_get(spec, "schedulerName") == NULL) {
			jdoc_set_str(spec, "schedulerName", OTHER_OBJECTS_KUBE_SCHEDULER);
		}
	}
}

/* Whether the labels of namespaces decide about a Workload. */
static bool selects_namespaces(struct sim_input *in)
{
	size_t n;
	struct sim_object *const *objects = sim_input_objects(in, &n);

	for (size_t i = 0; i < n; i++) {
		if (objects[i]->kind == SCHED_CLUSTER_QUEUES &&
		    jdoc_first(jdoc_path(objects[i]->json, "spec.namespaceSelector")) != NULL) {
			return true;
		}
	}
	return false;
}

struct missing_namespaces {
	struct strict_input *s;
	bool warn;
};

static bool add_namespace(struct str name, void *value UNUSED, void *ctx)
{
	const struct missing_namespaces *m = ctx;
	CLEANUP(xmalloc_freep)
	char *text = xmalloc_printf("Namespace " STR_FMT
				    " is not in the manifests: it counts as one without labels",
				    STR_ARG(name));
	struct jdoc *namespace_ = jdoc_new_object();
	struct jdoc *meta = jdoc_set_take(namespace_, "metadata", jdoc_new_object());
	struct jdoc *labels = jdoc_set_take(meta, "labels", jdoc_new_object());

	jdoc_set_take(meta, "name", jdoc_new_str_n(name));
	/* The API server gives it to each namespace. */
	jdoc_set_take(labels, "kubernetes.io/metadata.name", jdoc_new_str_n(name));
	(void)sim_input_take(m->s->in, SCHED_NAMESPACES, namespace_, "not in the manifests", NULL);
	if (m->warn) {
		strict_input_warn(m->s, text);
	}
	return true;
}

/* Manifests of queues and Jobs seldom have their namespace beside them, and nothing is admitted in
 * a namespace that does not exist. */
static void add_missing_namespaces(struct strict_input *s)
{
	struct missing_namespaces m = { s, selects_namespaces(s->in) };
	CLEANUP(strmap_destroyp) struct strmap *missing = strmap_create(NULL);
	size_t n;
	struct sim_object *const *objects = sim_input_objects(s->in, &n);

	for (size_t i = 0; i < n; i++) {
		const char *name = jdoc_path_str(objects[i]->json, "metadata.namespace");

		if (name != NULL && sim_input_find(s->in, SCHED_NAMESPACES, name) == NULL) {
			strmap_set(missing, str_of(name), s);
		}
	}
	strmap_each(missing, add_namespace, &m);
}

/* Why each stage stands where it does:
 * 1. Objects were checked one by one as they were added.
 * 2. With a base, what changes is known only when the objects that are there already are beside
 *    it: they are added, and changes of Jobs and pods are refused.
 * 3. Controllers make their pods, which then pass admission like others; the labels of namespaces
 *    decide whether they play a part. After that it is known which kinds were left out.
 *    Warnings that the API would not give are given in any case: they may explain the problems.
 * 4. Admission comes only without problems: its handlers read what the checks guarantee, and
 *    would only repeat the problem in other words. Priority and RuntimeClass come before the
 *    webhooks, as in the API server.
 * 5. Namespaces that are missing are added when objects are counted and checked: they are no
 *    part of the manifests. Admission does not need them.
 * 6. Workloads are made after admission, which suspends Jobs and marks the pods that queue.
 * 7. Objects that no engine decides about are found last: the marks of admission decide that,
 *    too. */
int strict_input_finish(struct strict_input *s, const struct jdoc *config, int64_t now,
			struct err *err)
{
	CLEANUP(kueue_conf_destroyp) struct kueue_conf *conf = NULL;
	int r;

	/* Its warnings come when the Workload engine reads it. */
	if (kueue_conf_read(config, NULL, NULL, &conf, err) < 0) {
		return err_wrap(err, "%s", s->opt.config_path);
	}
	if (s->opt.base != NULL) {
		sim_input_set_base(s->in, s->opt.base);
		refuse_changed_owners(s);
	}
	count_objects(s);
	controller_pods_make(s->controllers, s->in, s->check, &conf->owners, strict_input_warn, s);
	manifest_check_warn_ignored(s->check);
	warn_of_circles(s);
	warn_of_opt_ins(s);
	warn_of_queue_labels(s, &conf->owners);
	if (manifest_check_problems(s->check) == 0) {
		builtin_admission(s->in, s->check);
		default_schedulers(s->in);
		manifest_admit(s->in, s->check, &conf->owners, s->opt.gate_schedulers,
			       strict_input_warn, s);
	}
	if (manifest_check_problems(s->check) > 0) {
		return 1;
	}
	add_missing_namespaces(s);
	r = owner_workloads_make(s->in,
				 &(struct owner_workloads_options){ .owners = &conf->owners,
								    .now = now,
								    .warn = strict_input_warn,
								    .without = on_without,
								    .ctx = s },
				 err);
	if (r < 0) {
		return r;
	}
	s->others = other_objects_list(s->in, &conf->owners, s->opt.gate_schedulers,
				       &s->report.nothers);
	s->report.others = s->others;
	if (s->opt.base != NULL) {
		warn_of_others(s);
	}
	return 0;
}

const struct sim_report_input *strict_input_report(struct strict_input *s)
{
	s->report.without = s->without.v;
	s->report.nwithout = s->without.n;
	s->report.warnings = (const char *const *)s->warnings.v;
	s->report.nwarnings = s->warnings.n;
	return &s->report;
}
