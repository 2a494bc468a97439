#include "scheduler/ctl/explain/live_workloads.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/kinds.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "enc/json/jdoc.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "net/http.h"
#include "scheduler/ctl/manifest/ignored_kinds.h"
#include "scheduler/ctl/manifest/strict_input.h"
#include "scheduler/ctl/sim/sim_files.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

struct listing {
	struct sim_input *in;
	const char *namespace_; /* NULL: all */
	enum sched_resource kind;
};

static void warn(void *ctx UNUSED, const char *text)
{
	verb_print_line("warning: ", text);
}

static void problem(void *ctx UNUSED, const char *text)
{
	verb_print_line("", text);
}

static void on_item(void *ctx, struct str object, const struct cut_meta *meta)
{
	struct listing *l = ctx;
	struct jdoc *item = NULL;
	struct err err = ERR_INIT;
	int r = jdoc_parse(object, &item, &err);

	if (r < 0) {
		(void)err_wrap(&err, "%s " STR_FMT "/" STR_FMT " is left out",
			       sim_input_kind_name(l->kind), STR_ARG(meta->namespace_),
			       STR_ARG(meta->name));
	} else {
		r = sim_input_take(l->in, l->kind, item, "cluster", &err);
	}
	/* One object that cannot be read must not hide all others. */
	if (r < 0) {
		warn(NULL, err.text);
	}
}

static int list_kind(struct transport *t, struct listing *l, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	int r;

	sched_kinds_path(l->kind, sched_kinds_names(l->kind)->namespaced ? l->namespace_ : NULL,
			 NULL, NULL, &path);
	r = rest_list_cut(t, path.p, CALL_NS, on_item, l, err);
	/* The cluster does not serve the kind, so there is no object of it. */
	if (r == -ERR_NOT_FOUND && !sched_kinds_get(l->kind)->needed) {
		return 0;
	}
	return r == -ERR_NOT_FOUND ? err_wrap(err,
					      "the cluster does not serve %ss: are the "
					      "CustomResourceDefinitions installed?",
					      sim_input_kind_name(l->kind))
				   : r;
}

/* One list after the other, in the order of references: the cluster may change in between, so
 * that an object that was just created may refer to one that an earlier list does not have. */
static int read_cluster(const struct cluster_args *a, unsigned kinds, struct listing *l,
			struct err *err)
{
	struct transport *t = NULL;
	int r = cluster_args_connect(a, &t, err);

	while (r == 0 && sched_kinds_next(SCHED_WING_WORKLOADS, &l->kind)) {
		if ((kinds & 1u << l->kind) != 0) {
			r = list_kind(t, l, err);
		}
	}
	transport_destroy(t);
	return r;
}

/* As simulate: manifests are looked at as of their latest time, a cluster as of now. */
static int64_t now_of(const struct cluster_args *a, const struct sim_input *in)
{
	return a->has_now       ? a->now
	       : a->files.n > 0 ? sim_input_youngest(in)
				: clock_wall(clock_real());
}

static int read_config(const struct cluster_args *a, struct jdoc **ret, struct err *err)
{
	return a->config == NULL ? 0 : sim_files_read_document(a->config, ret, err);
}

static int read_strictly(const struct cluster_args *a, struct sim_input *in, struct err *err)
{
	CLEANUP(ignored_kinds_destroyp)
	struct ignored_kinds *ignored = ignored_kinds_create(a->ignored.v, a->ignored.n);
	const struct strict_input_options opt = {
		.ignored = ignored,
		.config_path = a->config,
		.problem = problem,
		.warn = warn,
	};
	CLEANUP(strict_input_destroyp) struct strict_input *s = strict_input_create(&opt, in);
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	int r = read_config(a, &config, err);

	if (r == 0) {
		r = sim_files_read(a->files.v, a->files.n, in, err);
	}
	if (r == 0) {
		r = strict_input_finish(s, config, now_of(a, in), err);
	}
	if (r == 0 && ignored_kinds_report(ignored, problem, NULL) > 0) {
		return err_set(err, ERR_INVALID, "--ignore has no effect");
	}
	/* The problems themselves were printed as they were found. */
	return r > 0 ? err_set(err, ERR_INVALID,
			       "a cluster would refuse these manifests (--as-is takes them as they "
			       "are)")
		     : r;
}

static int read_manifests(const struct cluster_args *a, struct sim_input *in, struct err *err)
{
	struct err why = ERR_INIT;
	int r = a->as_is ? sim_files_read(a->files.v, a->files.n, in, &why)
			 : read_strictly(a, in, &why);

	return r < 0 ? err_set(err, ERR_INVALID, "%s", why.text) : 0;
}

int live_workloads_read(const struct cluster_args *a, unsigned kinds, const char *namespace_,
			struct live_workloads *ret, struct err *err)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(warn, NULL);
	struct listing l = { in, namespace_, SCHED_RESOURCE_COUNT_ };
	int r = a->files.n > 0 ? read_manifests(a, in, err) : read_cluster(a, kinds, &l, err);

	if (r == 0) {
		ret->now = now_of(a, in);
		ret->in = take_ptr(&in);
	}
	return r;
}

static void add_selector(struct strbuf *path, const char *name, const char *selector)
{
	if (selector != NULL) {
		strbuf_printf(path, "%c%s=", strchr(path->p, '?') == NULL ? '?' : '&', name);
		http_query_escape(str_of(selector), path);
	}
}

static int list_pods(const struct cluster_args *a, const char *labels, const char *fields,
		     struct sim_input *in, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;
	struct listing l = { .in = in, .kind = SCHED_PODS };
	struct transport *t = NULL;
	int r = cluster_args_connect(a, &t, err);

	sched_kinds_path(SCHED_PODS, a->all_namespaces ? NULL : a->namespace_, NULL, NULL, &path);
	add_selector(&path, "labelSelector", labels);
	add_selector(&path, "fieldSelector", fields);
	if (r == 0) {
		r = rest_list_cut(t, path.p, CALL_NS, on_item, &l, err);
	}
	transport_destroy(t);
	return r;
}

int live_workloads_pods(const struct cluster_args *a, const char *labels, const char *fields,
			struct live_workloads *ret, struct err *err)
{
	CLEANUP(sim_input_destroyp) struct sim_input *in = sim_input_create(warn, NULL);
	int r = a->files.n > 0 ? read_manifests(a, in, err) : list_pods(a, labels, fields, in, err);

	if (r == 0) {
		ret->now = now_of(a, in);
		ret->in = take_ptr(&in);
	}
	return r;
}

static int load(const struct cluster_args *a, unsigned kinds, const char *namespace_,
		struct live_workloads *ret, struct err *err)
{
	/* In a cluster one object that cannot be read must not keep the others from being
	 * explained. In manifests it is a mistake to be mended. */
	struct workload_simulation_options opt = { .warn = warn,
						   .lenient = a->files.n == 0 || a->as_is };
	CLEANUP(jdoc_destroyp) struct jdoc *config = NULL;
	int r = read_config(a, &config, err);

	if (r == 0) {
		r = live_workloads_read(a, kinds, namespace_, ret, err);
	}
	if (r == 0) {
		opt.config = config;
		opt.config_path = a->config;
		opt.now = ret->now;
		r = workload_simulation_create(ret->in, &opt, &ret->world, err);
	}
	return r;
}

int live_workloads_load(const struct cluster_args *a, struct live_workloads *ret, struct err *err)
{
	return load(a, UINT_MAX, NULL, ret, err);
}

int live_workloads_load_namespace(const struct cluster_args *a, const char *namespace_,
				  const struct err *why, const char *lacks,
				  struct live_workloads *ret, struct err *err)
{
	fprintf(stderr,
		"headgatectl: warning: %s\nheadgatectl: warning: only namespace %s is read: %s\n",
		why->text, namespace_, lacks);
	/* These two say something without the objects of the cluster: no quota is known then,
	 * but the order of Workloads is. */
	return load(a, 1u << SCHED_WORKLOADS | 1u << SCHED_LOCAL_QUEUES, namespace_, ret, err);
}

void live_workloads_finish(struct live_workloads *s)
{
	workload_simulation_destroyp(&s->world);
	sim_input_destroyp(&s->in);
}
