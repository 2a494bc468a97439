#include "scheduler/ctl/multikueue/fleet_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "api/kueue/multikueue.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/xmalloc.h"
#include "collections/vec.h"
#include "enc/decode.h"
#include "kube/rest.h"
#include "kube/transport.h"
#include "scheduler/base/sched_kinds.h"
#include "scheduler/ctl/multikueue/fleet_check_text.h"
#include "scheduler/ctl/multikueue/multikueue_args.h"
#include "scheduler/ctl/multikueue/waiting_queues.h"
#include "scheduler/ctl/multikueue/worker_access.h"
#include "scheduler/ctl/multikueue/worker_kinds.h"
#include "scheduler/ctl/multikueue/worker_parallel.h"

#define CALL_NS (30 * CLOCK_NS_PER_S)

struct fleet {
	struct worker_check_options opt;
	struct VEC(char *) names;
	struct waiting_queues *waiting; /* NULL: could not be read */
	struct err why;                 /* then */
	struct worker_access *access;   /* for each name */
	struct waiting_queues_keys *queues;
	struct worker_check *checks;
};

static void fleet_finish(struct fleet *f)
{
	for (size_t i = 0; i < f->names.n; i++) {
		free(f->names.v[i]);
		if (f->access != NULL) {
			worker_access_finish(&f->access[i]);
			vec_finish(&f->queues[i]);
			worker_check_finish(&f->checks[i]);
		}
	}
	vec_finish(&f->names);
	waiting_queues_destroy(f->waiting);
	free(f->access);
	free(f->queues);
	free(f->checks);
}

static void add_name(struct fleet *f, struct str name)
{
	for (size_t i = 0; i < f->names.n; i++) {
		if (str_eq_c(name, f->names.v[i])) {
			return;
		}
	}
	vec_push(&f->names, xmalloc_dup_n(name.p, name.len));
}

static void on_cluster(void *ctx, struct str object UNUSED, const struct cut_meta *meta)
{
	add_name(ctx, meta->name);
}

/* A cluster that only a config names has no MultiKueueCluster, which is a finding. */
static void on_config(void *ctx, struct str object, const struct cut_meta *meta UNUSED)
{
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct api_multikueue_config c;

	(void)decode_partial(&multikueue_config_fields, object, &c, arena, NULL);
	for (size_t i = 0; i < c.spec.clusters.n; i++) {
		add_name(ctx, str_of(c.spec.clusters.v[i]));
	}
}

static int list(struct transport *manager, enum sched_resource kind, list_page_fn each,
		struct fleet *f, struct err *err)
{
	CLEANUP(strbuf_finish) struct strbuf path = STRBUF_INIT;

	sched_kinds_path(kind, NULL, NULL, NULL, &path);
	return rest_list_cut(manager, path.p, CALL_NS, each, f, err);
}

static int find_names(const struct multikueue_args *a, struct transport *manager, struct fleet *f,
		      struct err *err)
{
	int r;

	for (size_t i = 1; i < a->cluster.nrest; i++) {
		add_name(f, str_of(a->cluster.rest[i]));
	}
	if (f->names.n > 0) {
		return 0;
	}
	r = list(manager, SCHED_MULTIKUEUE_CLUSTERS, on_cluster, f, err);
	if (r == 0) {
		r = list(manager, SCHED_MULTIKUEUE_CONFIGS, on_config, f, err);
	}
	return r == 0 && f->names.n == 0
		       ? err_set(err, ERR_NOT_FOUND, "there is no MultiKueueCluster")
		       : r;
}

static void look_at(void *ctx, size_t i)
{
	struct fleet *f = ctx;
	struct worker_check *c = &f->checks[i];

	worker_check_run(&f->opt, &f->access[i], f->waiting == NULL ? NULL : &f->queues[i], c);
	if (f->waiting == NULL) {
		worker_check_add(c, WORKER_FINDING_UNKNOWN, "LocalQueues", f->why.text);
	}
}

/* 1. Everything of the manager is read first, so that the threads of the workers share nothing.
 * 2. Each worker is asked on its own thread.
 * 3. The findings are printed in the order of the names. */
static int check(const struct multikueue_args *a, struct transport *manager, struct fleet *f,
		 struct err *err)
{
	int r = find_names(a, manager, f, err);

	if (r < 0) {
		return r;
	}
	f->access = xmalloc_zero(f->names.n, sizeof(*f->access));
	f->queues = xmalloc_zero(f->names.n, sizeof(*f->queues));
	f->checks = xmalloc_zero(f->names.n, sizeof(*f->checks));
	(void)waiting_queues_read(manager, &f->waiting, &f->why);
	for (size_t i = 0; i < f->names.n; i++) {
		worker_access_read(manager, a->cluster.secrets_namespace, f->names.v[i],
				   &f->access[i]);
		if (f->waiting != NULL) {
			waiting_queues_of(f->waiting, f->names.v[i], &f->queues[i]);
		}
	}
	worker_parallel_run(f->names.n, look_at, f);
	return 0;
}

int fleet_check_run(const struct multikueue_args *a, bool *ret_good, struct err *err)
{
	CLEANUP(fleet_finish)
	struct fleet f = { .opt = { .origin = a->origin, .level = a->level }, .why = ERR_INIT };
	CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
	struct transport *manager = NULL;
	int r = worker_kinds_parse(&a->frameworks, arena, &f.opt.kinds, err);

	if (a->cluster.has_timeout) {
		f.opt.call_ns = a->cluster.timeout;
	}
	r = r < 0 ? r : cluster_args_connect(&a->cluster, &manager, err);
	if (r == 0) {
		r = check(a, manager, &f, err);
	}
	transport_destroy(manager);
	if (r < 0) {
		return r;
	}
	*ret_good = true;
	for (size_t i = 0; i < f.names.n; i++) {
		*ret_good &= worker_check_is_good(&f.checks[i]);
	}
	if (a->cluster.output == VERB_JSON) {
		fleet_check_text_print_json(f.checks, f.names.n, stdout);
	} else {
		fleet_check_text_print(f.checks, f.names.n, stdout);
	}
	return 0;
}
